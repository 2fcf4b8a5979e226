-- A whole commit as ONE statement: rows come in as JSON arrays, and a function writes them to their tables. One
-- statement is a transaction by itself, and one round trip. The functions are temporary: each connection makes its
-- own, with its row of `writers`.

-- Names this connection in its transaction, once. See the table `writers`.
CREATE FUNCTION pg_temp.mark() RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    UPDATE writers SET number = number + 1, xid = pg_current_xact_id()::text::bigint
    WHERE id = {writer} AND session = {session} AND xid <> pg_current_xact_id()::text::bigint;
    IF NOT FOUND THEN
        PERFORM 1 FROM writers
        WHERE id = {writer} AND session = {session} AND xid = pg_current_xact_id()::text::bigint;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a newer connection of this process writes' USING ERRCODE = '08006';
        END IF;
    END IF;
END
$function$;

-- Of two rows with one key the later counts.
CREATE FUNCTION pg_temp.intake(
    new_seats jsonb, new_matches jsonb, new_dates jsonb, new_met jsonb, new_bars jsonb, new_blocks jsonb,
    unmet jsonb, unbarred jsonb, unblocked jsonb, new_quality jsonb, in_room text
) RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM pg_temp.mark();
    IF new_seats IS NOT NULL THEN
        INSERT INTO seats (
            user_id, state, waiting_since, credit, match_number, date_number, last_match_number, room
        )
        SELECT DISTINCT ON (v ->> 0)
            v ->> 0, v ->> 1, (v ->> 2)::bigint, (v ->> 3)::bigint, (v ->> 4)::bigint, (v ->> 5)::bigint,
            (v ->> 6)::bigint, in_room
        FROM jsonb_array_elements(new_seats) WITH ORDINALITY AS rows (v, place)
        ORDER BY v ->> 0, place DESC
        ON CONFLICT (user_id) DO UPDATE SET
            state = excluded.state,
            waiting_since = excluded.waiting_since,
            credit = excluded.credit,
            match_number = excluded.match_number,
            date_number = excluded.date_number,
            last_match_number = excluded.last_match_number,
            room = excluded.room;
    END IF;
    IF new_matches IS NOT NULL THEN
        INSERT INTO matches (
            number, a, b, status, paired_at, closes_at, a_acknowledged, b_acknowledged,
            voting_at, a_vote, b_vote, outcome, cancelled_for, ended_at, room
        )
        SELECT DISTINCT ON (v ->> 0)
            (v ->> 0)::bigint, v ->> 1, v ->> 2, v ->> 3, (v ->> 4)::bigint, (v ->> 5)::bigint,
            (v ->> 6)::boolean::int, (v ->> 7)::boolean::int, (v ->> 8)::bigint, v ->> 9, v ->> 10, v ->> 11,
            v ->> 12, (v ->> 13)::bigint, in_room
        FROM jsonb_array_elements(new_matches) WITH ORDINALITY AS rows (v, place)
        ORDER BY v ->> 0, place DESC
        ON CONFLICT (number) DO UPDATE SET
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
    END IF;
    IF new_dates IS NOT NULL THEN
        INSERT INTO dates (number, a, b, started_at, ends_at, ended_at, ended_for, match_number, room)
        SELECT DISTINCT ON (v ->> 0)
            (v ->> 0)::bigint, v ->> 1, v ->> 2, (v ->> 3)::bigint, (v ->> 4)::bigint, (v ->> 5)::bigint,
            v ->> 6, (v ->> 7)::bigint, in_room
        FROM jsonb_array_elements(new_dates) WITH ORDINALITY AS rows (v, place)
        ORDER BY v ->> 0, place DESC
        ON CONFLICT (number) DO UPDATE SET
            a = excluded.a,
            b = excluded.b,
            started_at = excluded.started_at,
            ends_at = excluded.ends_at,
            ended_at = excluded.ended_at,
            ended_for = excluded.ended_for,
            match_number = excluded.match_number;
    END IF;
    IF new_met IS NOT NULL THEN
        INSERT INTO met (a, b, met_at, match_number)
        SELECT v ->> 0, v ->> 1, (v ->> 2)::bigint, (v ->> 3)::bigint FROM jsonb_array_elements(new_met) AS v
        ON CONFLICT (a, b) DO UPDATE SET met_at = excluded.met_at, match_number = excluded.match_number;
    END IF;
    IF new_bars IS NOT NULL THEN
        INSERT INTO bars (a, b, until)
        SELECT v ->> 0, v ->> 1, (v ->> 2)::bigint FROM jsonb_array_elements(new_bars) AS v
        ON CONFLICT (a, b) DO UPDATE SET until = excluded.until;
    END IF;
    IF new_blocks IS NOT NULL THEN
        INSERT INTO blocks (blocker, blocked, at)
        SELECT v ->> 0, v ->> 1, (v ->> 2)::bigint FROM jsonb_array_elements(new_blocks) AS v
        ON CONFLICT (blocker, blocked) DO UPDATE SET at = excluded.at;
    END IF;
    IF unmet IS NOT NULL THEN
        DELETE FROM met USING jsonb_array_elements(unmet) AS v WHERE a = v ->> 0 AND b = v ->> 1;
    END IF;
    IF unbarred IS NOT NULL THEN
        DELETE FROM bars USING jsonb_array_elements(unbarred) AS v WHERE a = v ->> 0 AND b = v ->> 1;
    END IF;
    IF unblocked IS NOT NULL THEN
        DELETE FROM blocks USING jsonb_array_elements(unblocked) AS v
        WHERE blocker = v ->> 0 AND blocked = v ->> 1;
    END IF;
    IF new_quality IS NOT NULL THEN
        INSERT INTO quality (
            match_number, paired_at, policy, priority, preference_match, distance_score, distance_km,
            a_group, b_group, a_tier, b_tier, a_wait_s, b_wait_s, shown_km, room
        )
        SELECT
            (v ->> 0)::bigint, (v ->> 1)::bigint, v ->> 2, (v ->> 3)::bigint, (v ->> 4)::double precision,
            (v ->> 5)::double precision, (v ->> 6)::double precision, v ->> 7, v ->> 8, (v ->> 9)::bigint,
            (v ->> 10)::bigint, (v ->> 11)::double precision, (v ->> 12)::double precision,
            (v ->> 13)::bigint, in_room
        FROM jsonb_array_elements(new_quality) AS v;
    END IF;
    RETURN true;
END
$function$;

-- The same for a room that this server serves by a lease: NULL, and nothing is written, when it has the lease no
-- more. The lease is locked until the commit, so that no other server takes the room meanwhile.
CREATE FUNCTION pg_temp.intake(
    new_seats jsonb, new_matches jsonb, new_dates jsonb, new_met jsonb, new_bars jsonb, new_blocks jsonb,
    unmet jsonb, unbarred jsonb, unblocked jsonb, new_quality jsonb, in_room text,
    by_node text, by_epoch bigint
) RETURNS boolean LANGUAGE plpgsql AS $function$
BEGIN
    PERFORM 1 FROM room_leases WHERE room = in_room AND node = by_node AND epoch = by_epoch FOR SHARE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN pg_temp.intake(
        new_seats, new_matches, new_dates, new_met, new_bars, new_blocks, unmet, unbarred, unblocked,
        new_quality, in_room
    );
END
$function$;
