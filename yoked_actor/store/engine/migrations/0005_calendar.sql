-- The calendar (R40) asks whether anybody lives in a zone, and keeps one planned run for each that has somebody.

CREATE INDEX people_by_zone ON people (time_zone);

CREATE UNIQUE INDEX zone_runs_one_plan ON zone_runs (zone) WHERE status = 'planned';
