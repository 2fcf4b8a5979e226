-- End the leases of one owner.
UPDATE jobs SET lease_until = CASE WHEN lease_until > ?2 THEN ?2 ELSE lease_until END
WHERE status = 'in_progress' AND owner = ?1;
