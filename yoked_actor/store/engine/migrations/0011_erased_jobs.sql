-- A key names a user between angle brackets, which no user id and no zone has: `2026-01-01:<ana>:Europe/Berlin`.
-- Before, it was a part between colons, which an id may have as well. What follows the last colon is the zone.
UPDATE job_ledger SET key = substr(key, 1, 11) || '<'
    || substr(key, 12, length(rtrim(key, replace(key, ':', ''))) - 12) || '>:'
    || substr(key, length(rtrim(key, replace(key, ':', ''))) + 1)
WHERE type = 'offers.user';

UPDATE jobs SET dedup_key = substr(dedup_key, 1, 11) || '<'
    || substr(dedup_key, 12, length(rtrim(dedup_key, replace(dedup_key, ':', ''))) - 12) || '>:'
    || substr(dedup_key, length(rtrim(dedup_key, replace(dedup_key, ':', ''))) + 1)
WHERE type = 'offers.user' AND dedup_key IS NOT NULL;

-- Whether somebody was erased while the present attempt ran: its error may name them, and is not kept.
ALTER TABLE jobs ADD COLUMN overtaken INTEGER NOT NULL DEFAULT 0;

-- An erasure looks at the errors that came since it looked last.
CREATE INDEX job_attempts_ended ON job_attempts (ended_at);
