-- Each part names the rows of one partial index, so that jobs which ended well are never looked at;
-- dead letters that were dismissed are left out.
SELECT type, status, count(*) FROM jobs WHERE status IN ('pending', 'failed') GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'in_progress' GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'dead_letter' AND dismissed_at IS NULL
GROUP BY type, status
