-- A job has become a dead letter: counted until the alarm takes it up, whatever process it happened in.
INSERT INTO dead_letter_news (type, kind, count, job_id)
SELECT type, ?3, 1, id FROM jobs WHERE id = ?1 AND fence = ?2 AND status = 'dead_letter'
ON CONFLICT (type, kind) DO UPDATE SET count = count + 1;
