-- See 0021_offer_parts.sql of SQLite.
CREATE TABLE offer_parts (
    day text COLLATE "C" NOT NULL,
    zone text COLLATE "C" NOT NULL,
    first_user text COLLATE "C" NOT NULL,
    inputs text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (day, zone, first_user)
);

-- An erasure searches what was written since an instant. These rows are written in the order of time, for which
-- a BRIN index is small and costs a commit next to nothing.
CREATE INDEX matches_by_time ON matches USING brin (paired_at) WITH (pages_per_range = 32);
CREATE INDEX dates_by_time ON dates USING brin (started_at) WITH (pages_per_range = 32);
CREATE INDEX jobs_by_time ON jobs USING brin (created_at) WITH (pages_per_range = 32);

-- Two functions of SQLite that statements of both engines call.
CREATE FUNCTION instr(text, text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN strpos($1, $2);

CREATE FUNCTION json_valid(text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    PERFORM CAST($1 AS jsonb);
    RETURN true;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN false;
END
$$;
