-- Stay in touch after a date, and recently met (R25, R26).
--
-- A pair that has met names its last match, and a date the match that opened it, so that whom a user has met
-- is found without an index of all matches by user.

ALTER TABLE met ADD COLUMN match_number INTEGER;

UPDATE met SET match_number = found.number
FROM (
    SELECT a, b, max(number) AS number FROM matches WHERE voting_at IS NOT NULL GROUP BY a, b
) AS found
WHERE found.a = met.a AND found.b = met.b;

ALTER TABLE dates ADD COLUMN match_number INTEGER; -- NULL for a date that a call opened

UPDATE dates SET match_number = m.number
FROM matches AS m
WHERE m.outcome = 'both_yes' AND m.ended_at = dates.started_at AND m.a = dates.a AND m.b = dates.b;

CREATE INDEX dates_by_match ON dates (match_number) WHERE match_number IS NOT NULL;

ALTER TABLE connections ADD COLUMN source TEXT NOT NULL DEFAULT 'offers'; -- or 'date'

CREATE TABLE touch_answers (
    date_number INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    answer TEXT NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (date_number, user_id),
    CHECK (answer IN ('yes', 'no'))
) STRICT, WITHOUT ROWID;
