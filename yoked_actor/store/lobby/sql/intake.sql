-- A whole commit as ONE statement: rows come in as JSON arrays, and triggers write them to their tables.
--
-- Each call into SQLite releases the interpreter lock and has to acquire it again from a busy event loop.
-- One call for each commit, instead of one for each row or table, keeps the writer thread fast; and one
-- statement is a transaction by itself. The view is temporary: each connection makes its own.
--
-- `LIMIT -1` keeps SQLite from writing out the JSON of a row once for each of its columns, and a path is looked
-- up faster than a number. A seat is replaced as a whole: its table has no other index, so that is one write.

CREATE TEMP VIEW intake AS
SELECT
    NULL AS seats, NULL AS matches, NULL AS dates, NULL AS met, NULL AS bars, NULL AS blocks,
    NULL AS unmet, NULL AS unbarred, NULL AS unblocked,
    NULL AS quality, NULL AS room;

CREATE TEMP TRIGGER take_seats INSTEAD OF INSERT ON intake WHEN new.seats IS NOT NULL
BEGIN
    INSERT OR REPLACE INTO seats (
        user_id, state, waiting_since, credit, match_number, date_number, last_match_number,
        room
    )
    SELECT
        value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',
        value ->> '$[5]', value ->> '$[6]',
        new.room
    FROM (SELECT value FROM json_each(new.seats) LIMIT -1);
END;

CREATE TEMP TRIGGER take_matches INSTEAD OF INSERT ON intake WHEN new.matches IS NOT NULL
BEGIN
    INSERT INTO matches (
        number, a, b, status, paired_at, closes_at, a_acknowledged, b_acknowledged,
        voting_at, a_vote, b_vote, outcome, cancelled_for, ended_at, room
    )
    SELECT
        value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',
        value ->> '$[5]', value ->> '$[6]',
        value ->> '$[7]', value ->> '$[8]', value ->> '$[9]', value ->> '$[10]', value ->> '$[11]',
        value ->> '$[12]', value ->> '$[13]',
        new.room
    FROM (SELECT value FROM json_each(new.matches) LIMIT -1) WHERE true
    ON CONFLICT DO UPDATE SET
        a = excluded.a,
        b = excluded.b,
        status = excluded.status,
        paired_at = excluded.paired_at,
        closes_at = excluded.closes_at,
        a_acknowledged = excluded.a_acknowledged,
        b_acknowledged = excluded.b_acknowledged,
        voting_at = excluded.voting_at,
        a_vote = excluded.a_vote,
        b_vote = excluded.b_vote,
        outcome = excluded.outcome,
        cancelled_for = excluded.cancelled_for,
        ended_at = excluded.ended_at;
END;

CREATE TEMP TRIGGER take_dates INSTEAD OF INSERT ON intake WHEN new.dates IS NOT NULL
BEGIN
    INSERT INTO dates (number, a, b, started_at, ends_at, ended_at, ended_for, match_number, room)
    SELECT
        value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',
        value ->> '$[5]', value ->> '$[6]',
        value ->> '$[7]', new.room
    FROM (SELECT value FROM json_each(new.dates) LIMIT -1) WHERE true
    ON CONFLICT DO UPDATE SET
        a = excluded.a,
        b = excluded.b,
        started_at = excluded.started_at,
        ends_at = excluded.ends_at,
        ended_at = excluded.ended_at,
        ended_for = excluded.ended_for,
        match_number = excluded.match_number;
END;

CREATE TEMP TRIGGER take_met INSTEAD OF INSERT ON intake WHEN new.met IS NOT NULL
BEGIN
    INSERT INTO met (a, b, met_at, match_number)
    SELECT value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]'
    FROM (SELECT value FROM json_each(new.met) LIMIT -1) WHERE true
    ON CONFLICT DO UPDATE SET met_at = excluded.met_at, match_number = excluded.match_number;
END;

CREATE TEMP TRIGGER take_bars INSTEAD OF INSERT ON intake WHEN new.bars IS NOT NULL
BEGIN
    INSERT INTO bars (a, b, until)
    SELECT value ->> '$[0]', value ->> '$[1]', value ->> '$[2]'
    FROM (SELECT value FROM json_each(new.bars) LIMIT -1) WHERE true
    ON CONFLICT DO UPDATE SET until = excluded.until;
END;

CREATE TEMP TRIGGER take_blocks INSTEAD OF INSERT ON intake WHEN new.blocks IS NOT NULL
BEGIN
    INSERT INTO blocks (blocker, blocked, at)
    SELECT value ->> '$[0]', value ->> '$[1]', value ->> '$[2]'
    FROM (SELECT value FROM json_each(new.blocks) LIMIT -1) WHERE true
    ON CONFLICT DO UPDATE SET at = excluded.at;
END;

CREATE TEMP TRIGGER take_unmet INSTEAD OF INSERT ON intake WHEN new.unmet IS NOT NULL
BEGIN
    DELETE FROM met
    WHERE (a, b) IN (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(new.unmet));
END;

CREATE TEMP TRIGGER take_unbarred INSTEAD OF INSERT ON intake WHEN new.unbarred IS NOT NULL
BEGIN
    DELETE FROM bars
    WHERE (a, b) IN (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(new.unbarred));
END;

CREATE TEMP TRIGGER take_unblocked INSTEAD OF INSERT ON intake WHEN new.unblocked IS NOT NULL
BEGIN
    DELETE FROM blocks
    WHERE (blocker, blocked) IN (SELECT value ->> '$[0]', value ->> '$[1]' FROM json_each(new.unblocked));
END;

CREATE TEMP TRIGGER take_quality INSTEAD OF INSERT ON intake WHEN new.quality IS NOT NULL
BEGIN
    INSERT INTO quality (
        match_number, paired_at, policy, priority, preference_match, distance_score, distance_km,
        a_group, b_group, a_tier, b_tier, a_wait_s, b_wait_s, shown_km, room
    )
    SELECT
        value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',
        value ->> '$[5]', value ->> '$[6]',
        value ->> '$[7]', value ->> '$[8]', value ->> '$[9]', value ->> '$[10]', value ->> '$[11]',
        value ->> '$[12]', value ->> '$[13]',
        new.room
    FROM (SELECT value FROM json_each(new.quality) LIMIT -1);
END;
