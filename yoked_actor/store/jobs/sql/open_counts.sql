-- Each part reads one partial index, so that completed and cancelled jobs are never read. Dismissed dead
-- letters are left out.
SELECT type, status, count(*) FROM jobs WHERE status IN ('pending', 'failed') GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'in_progress' GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'dead_letter' AND dismissed_at IS NULL
GROUP BY type, status
