UPDATE nodes SET seen_at = clock_timestamp() WHERE id = :id AND boot = :boot;
