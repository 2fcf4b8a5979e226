-- Let leases go on, from a JSON array of (job, fence); those that were still held are returned.
UPDATE jobs SET lease_until = max(lease_until, ?3)
FROM json_each(?1) AS held
WHERE jobs.id = held.value ->> 0 AND jobs.fence = held.value ->> 1
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?2
RETURNING id, cancel_asked;
