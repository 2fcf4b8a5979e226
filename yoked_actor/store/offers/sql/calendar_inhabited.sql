SELECT EXISTS (SELECT 1 FROM people WHERE time_zone = ?);
