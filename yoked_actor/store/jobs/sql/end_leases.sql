-- End the leases of one owner.
UPDATE jobs SET lease_until = min(lease_until, ?2) WHERE status = 'in_progress' AND owner = ?1;
