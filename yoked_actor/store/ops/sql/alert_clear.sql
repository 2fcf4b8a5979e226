-- Clear an alert.
DELETE FROM alerts WHERE alert = ?;
