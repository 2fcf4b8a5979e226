-- End an attempt that did not succeed. A job that was asked to stop is cancelled in any case.
UPDATE jobs SET
    status = CASE WHEN cancel_asked = 1 THEN 'cancelled' ELSE ?4 END,
    scheduled_for = coalesce(CAST(?5 AS BIGINT), scheduled_for),
    attempts = attempts - ?6,
    last_error = coalesce(?7, last_error),
    completed_at = CASE
        WHEN cancel_asked = 1 OR ?4 IN ('dead_letter', 'cancelled') THEN CAST(?3 AS BIGINT)
    END,
    owner = NULL,
    lease_until = NULL
WHERE id = ?1 AND fence = ?2 AND status = 'in_progress'
    AND (CAST(?8 AS INTEGER) = 1 OR lease_until > ?9);
