-- What a run was frozen by besides its rules, how often an operator has frozen it again, and from which
-- inputs each set was made.
ALTER TABLE offer_runs ADD COLUMN rematch_after_days REAL; -- NULL: never
ALTER TABLE offer_runs ADD COLUMN refrozen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE offer_sets ADD COLUMN inputs TEXT; -- digest; NULL for sets stored before this migration
