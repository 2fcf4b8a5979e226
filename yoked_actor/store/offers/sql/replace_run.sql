-- Replace a frozen run. No person of the new pool was erased.
UPDATE offer_runs
SET
    frozen_at = ?5,
    rules = ?6,
    inputs = ?7,
    outputs = NULL,
    receivers = ?8,
    rematch_after_days = ?9,
    erased = 0,
    refrozen = refrozen + 1
WHERE day = ?1 AND zone = ?2 AND offered_at = ?3 AND expires_at = ?4;
