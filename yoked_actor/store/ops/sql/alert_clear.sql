-- An alert is over.
DELETE FROM alerts WHERE alert = ?;
