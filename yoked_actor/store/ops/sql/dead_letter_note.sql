-- Count a new dead letter until the alarm reads it, in any process.
INSERT INTO dead_letter_news (type, kind, count, job_id)
SELECT type, ?3, 1, id FROM jobs WHERE id = ?1 AND fence = ?2 AND status = 'dead_letter'
ON CONFLICT (type, kind) DO UPDATE SET count = dead_letter_news.count + 1;
