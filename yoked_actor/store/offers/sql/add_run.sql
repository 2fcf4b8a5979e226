-- The first run stands, unless an erasure dropped its pool.
INSERT INTO offer_runs (
    day, zone, offered_at, expires_at, frozen_at, rules, inputs, receivers, rematch_after_days
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, zone) DO UPDATE SET
    frozen_at = excluded.frozen_at,
    rules = excluded.rules,
    inputs = excluded.inputs,
    receivers = excluded.receivers,
    rematch_after_days = excluded.rematch_after_days
WHERE
    offer_runs.erased > 0
    AND NOT EXISTS (
        SELECT 1 FROM offer_pools AS p WHERE p.day = excluded.day AND p.zone = excluded.zone
    );
