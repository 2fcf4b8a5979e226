-- PostgreSQL. A server that was heard within the life of a lease keeps its name.
INSERT INTO nodes (id, url, boot, started_at, seen_at)
VALUES (:id, :url, :boot, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET
    url = excluded.url, boot = excluded.boot,
    started_at = excluded.started_at, seen_at = excluded.seen_at
WHERE nodes.boot = excluded.boot
   OR nodes.seen_at <= clock_timestamp() - make_interval(secs => :lease_s);
