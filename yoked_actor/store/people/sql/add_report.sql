INSERT INTO reports (reporter, reported, reason, match_id, at) VALUES (?, ?, ?, ?, ?);
