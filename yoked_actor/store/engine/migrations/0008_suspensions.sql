-- A suspension may end by itself: at `until`, or never when that is NULL. A row whose time is over counts
-- for nothing and is deleted by the daily upkeep.
ALTER TABLE suspended ADD COLUMN until INTEGER;
