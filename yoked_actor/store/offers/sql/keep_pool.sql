-- Store the pool of a run. A pool that is replaced gets a new number: an erasure in progress searches
-- pools with greater numbers.
INSERT INTO offer_pools (day, zone, content) VALUES (?, ?, ?)
ON CONFLICT (day, zone) DO UPDATE SET
    content = excluded.content, number = (SELECT max(number) + 1 FROM offer_pools);
