-- Each part names the rows of one partial index, so that jobs which ended well are never looked at.
SELECT type, status, count(*) FROM jobs WHERE status IN ('pending', 'failed') GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'in_progress' GROUP BY type, status
UNION ALL
SELECT type, status, count(*) FROM jobs WHERE status = 'dead_letter' GROUP BY type, status
