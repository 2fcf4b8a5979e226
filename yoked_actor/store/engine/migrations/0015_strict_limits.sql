-- The limits that a person never wants widened, a JSON array of "age" and "distance" in this order. None in
-- profiles from before this migration.
ALTER TABLE people ADD COLUMN strict TEXT NOT NULL DEFAULT '[]';
