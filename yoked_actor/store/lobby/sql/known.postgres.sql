-- What is stored about the users of a JSON array of ids, one row for each, from one snapshot.
SELECT
    wanted.value,
    p.user_id, p.display_name, p.birth_date, p.gender, p.lat, p.lon, p.time_zone, p.interests,
    p.seeking, p.min_age, p.max_age, p.max_distance_km, p.strict, p.shown_lat, p.shown_lon,
    p.shown_at,
    s.user_id, s.state, s.waiting_since, s.credit, s.match_number, s.date_number,
    s.last_match_number, s.room,
    m.number, m.a, m.b, m.status, m.paired_at, m.closes_at, m.a_acknowledged, m.b_acknowledged,
    m.voting_at, m.a_vote, m.b_vote, m.outcome, m.cancelled_for, m.ended_at,
    (SELECT coalesce(json_object_agg(blocked, at), '{}') FROM blocks WHERE blocker = wanted.value),
    (SELECT coalesce(json_object_agg(b, met_at), '{}') FROM met WHERE a = wanted.value),
    (SELECT coalesce(json_object_agg(a, met_at), '{}') FROM met WHERE b = wanted.value),
    (SELECT coalesce(json_object_agg(b, until), '{}') FROM bars WHERE a = wanted.value),
    (SELECT coalesce(json_object_agg(a, until), '{}') FROM bars WHERE b = wanted.value)
FROM json_array_elements_text(CAST(? AS json)) WITH ORDINALITY AS wanted (value, place)
LEFT JOIN people AS p ON p.user_id = wanted.value
LEFT JOIN seats AS s ON s.user_id = wanted.value
LEFT JOIN matches AS m ON m.number = s.last_match_number
ORDER BY wanted.place;
