-- End an attempt that did not succeed. A job that was asked to stop is cancelled in any case.
UPDATE jobs SET
    status = iif(cancel_asked, 'cancelled', ?4),
    scheduled_for = coalesce(?5, scheduled_for),
    attempts = attempts - ?6,
    last_error = coalesce(?7, last_error),
    completed_at = iif(cancel_asked OR ?4 IN ('dead_letter', 'cancelled'), ?3, NULL),
    owner = NULL,
    lease_until = NULL
WHERE id = ?1 AND fence = ?2 AND status = 'in_progress' AND (?8 OR lease_until > ?9);
