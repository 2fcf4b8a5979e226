-- The cause of an attempt that ended as a dead letter has the name of the status.
UPDATE job_attempts SET cause = 'dead_lettered' WHERE cause = 'buried';
