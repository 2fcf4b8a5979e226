"""Rules about the rows of the database: SQL of its own, nothing of the store is used."""

from __future__ import annotations

RULES = {
    "two open matches of one person": (
        "SELECT who, count(*) FROM (SELECT a AS who FROM matches WHERE ended_at IS NULL"
        " UNION ALL SELECT b FROM matches WHERE ended_at IS NULL) GROUP BY who HAVING count(*) > 1"
    ),
    "a seat without its match": (
        "SELECT user_id, match_number FROM seats WHERE match_number IS NOT NULL AND match_number"
        " NOT IN (SELECT number FROM matches WHERE ended_at IS NULL AND user_id IN (a, b))"
    ),
    "an open match without its seats": (
        "SELECT number, a, b FROM matches WHERE ended_at IS NULL AND (SELECT count(*) FROM seats"
        " WHERE match_number = number AND user_id IN (a, b)) <> 2"
    ),
    "a voted match of two who have not met": (
        "SELECT number, a, b FROM matches AS m WHERE outcome IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM met WHERE met.a = min(m.a, m.b) AND met.b = max(m.a, m.b))"
    ),
    "an outcome without voting": (
        "SELECT number FROM matches WHERE outcome IS NOT NULL AND voting_at IS NULL"
    ),
    "voting before both have acknowledged": (
        "SELECT number FROM matches WHERE voting_at IS NOT NULL"
        " AND NOT (a_acknowledged AND b_acknowledged)"
    ),
    "two met twice": (
        "SELECT a, b, count(*) FROM matches WHERE outcome IS NOT NULL GROUP BY a, b"
        " HAVING count(*) > 1"
    ),
    "both said yes, and no video date": (
        "SELECT number FROM matches AS m WHERE outcome = 'both_yes' AND NOT EXISTS (SELECT 1"
        " FROM dates AS d WHERE d.match_number = m.number AND m.a IN (d.a, d.b)"
        " AND m.b IN (d.a, d.b))"
    ),
    "credit out of range": "SELECT user_id, credit FROM seats WHERE credit NOT BETWEEN 0 AND 50",
    "a video date with an end and no reason": (
        "SELECT number FROM dates WHERE (ended_at IS NULL) <> (ended_for IS NULL)"
    ),
    "a video date longer than allowed": (
        "SELECT number FROM dates WHERE ended_at > ends_at + 60 * 1000000"
    ),
    "a match without its quality": (
        "SELECT number FROM matches WHERE number NOT IN (SELECT match_number FROM quality)"
    ),
    "a set that is no JSON, or has other facts than candidates": (
        "SELECT day, user_id FROM offer_sets WHERE NOT json_valid(candidates)"
        " OR NOT json_valid(facts) OR json_array_length(candidates) <> json_array_length(facts)"
    ),
    "an offer of oneself": "SELECT user_id FROM offers WHERE user_id = candidate",
    "the same person offered twice within 30 days": (
        "SELECT o.user_id, o.candidate, o.day, p.day FROM offers AS o JOIN offers AS p"
        " ON p.user_id = o.user_id AND p.candidate = o.candidate AND p.day > o.day"
        " AND julianday(p.day) - julianday(o.day) < 30 WHERE o.candidate NOT GLOB '~*'"
    ),
    "two sets within 12 hours": (
        "SELECT a.user_id, a.day, b.day FROM offer_sets AS a JOIN offer_sets AS b"
        " ON b.user_id = a.user_id AND b.day > a.day"
        " AND abs(b.offered_at - a.offered_at) < 12 * 3600 * 1000000"
    ),
    "somebody in more than 10 sets of a run": (
        "SELECT o.candidate, s.zone, o.day, count(*) FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id WHERE o.candidate NOT GLOB '~*'"
        " GROUP BY 1, 2, 3 HAVING count(*) > 10"
    ),
    "an offer of somebody whom the receiver had met": (
        "SELECT o.user_id, o.candidate, o.day FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id JOIN met AS m"
        " ON m.a = min(o.user_id, o.candidate) AND m.b = max(o.user_id, o.candidate)"
        " WHERE m.met_at < s.offered_at - 3600 * 1000000"
    ),
    "an offer against a block": (
        "SELECT o.user_id, o.candidate, o.day FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id JOIN blocks AS k"
        " ON (k.blocker, k.blocked) IN ((o.user_id, o.candidate), (o.candidate, o.user_id))"
        " WHERE k.at < s.offered_at - 3600 * 1000000"
    ),
    "two connections of one pair": (
        "SELECT a, b FROM connections GROUP BY a, b HAVING count(*) > 1"
    ),
    "a person in two open video dates": (
        "SELECT who, count(*) FROM (SELECT a AS who FROM dates WHERE ended_at IS NULL"
        " UNION ALL SELECT b FROM dates WHERE ended_at IS NULL) GROUP BY who HAVING count(*) > 1"
    ),
    "a seat and its match in two rooms": (
        "SELECT s.user_id, s.room, m.room FROM seats AS s JOIN matches AS m"
        " ON m.number = s.match_number WHERE s.room <> m.room"
    ),
    "a match and its video date in two rooms": (
        "SELECT m.number, m.room, d.room FROM matches AS m JOIN dates AS d"
        " ON d.match_number = m.number WHERE d.room <> m.room"
    ),
    "a connection after a date without two yeses": (
        "SELECT c.a, c.b FROM connections AS c WHERE source = 'date' AND c.a NOT GLOB '~*'"
        " AND c.b NOT GLOB '~*' AND NOT EXISTS (SELECT 1 FROM touch_answers AS x"
        " JOIN touch_answers AS y ON y.date_number = x.date_number WHERE x.user_id = c.a"
        " AND y.user_id = c.b AND x.answer = 'yes' AND y.answer = 'yes')"
    ),
    "a connection by offers without two accepts": (
        "SELECT c.a, c.b FROM connections AS c WHERE source = 'offers' AND c.a NOT GLOB '~*'"
        " AND c.b NOT GLOB '~*' AND (SELECT count(DISTINCT user_id) FROM offer_answers"
        " WHERE answer = 'accept' AND (user_id, candidate) IN ((c.a, c.b), (c.b, c.a))) < 2"
    ),
}
"""Rules that hold in every committed state, as queries for the rows that break them."""
