"""The planted faults: each is a small change of the source, by search and replace."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A fault to plant: in each file, the text before and after."""

    name: str
    what: str
    edits: tuple[tuple[str, str, str], ...]
    seed: int = 22
    """The fixed seed that is likely to show it, which is simulated first."""


def _one(name: str, what: str, file: str, old: str, new: str, seed: int = 22) -> Mutant:
    return Mutant(name, what, ((file, old, new),), seed)


_LOBBY, _ACTORS, _STORE = "domain/lobby/machine", "actors/lobby", "store"
_MATCHES, _PAIRING = f"{_LOBBY}/matches.py", f"{_LOBBY}/pairing.py"
_DUE = f"{_LOBBY}/due.py"
_ACQUAINTANCE = "domain/lobby/floor/acquaintance.py"
_SESSION_OUTPUT = f"{_ACTORS}/sessions/output.py"
_MATCHMAKER = f"{_ACTORS}/matchmaker.py"

MUTANTS = (
    Mutant(
        "commit-after-telling",
        "people are told before the decision is stored",
        (
            (
                _MATCHMAKER,
                "            self._audit()\n            try:",
                "            self._audit()\n"
                "            self._tell(messages, decided, notices, now)\n            try:",
            ),
            (_MATCHMAKER, "            self._tell(messages, decided, notices, now)\n", ""),
        ),
        seed=23,
    ),
    _one(
        "no-undo",
        "a failed commit leaves the lobby as if it had succeeded",
        _MATCHMAKER,
        "                self._lobby.undo()\n",
        "                self._lobby.settle()\n",
        seed=23,
    ),
    _one(
        "clock-not-followed",
        "the lobby does not follow a step of the clock",
        _MATCHMAKER,
        "        if by:\n",
        "        if by and by == 0:\n",
        seed=51,
    ),
    _one(
        "lost-wake-up",
        "the first message in a mailbox wakes nobody",
        "actors/mailbox.py",
        "        if len(self._items) == 1:\n",
        "        if len(self._items) == 2:\n",
    ),
    _one(
        "stale-timer",
        "the deadline of a match is not compared with the one that holds",
        _DUE,
        "    if match is None or match.closes_at != at:\n        return\n"
        "    if match.status is _VOTING and due is _VOTE:",
        "    if match is None or match.ended_at is not None:\n        return\n"
        "    if match.status is _VOTING:",
    ),
    _one(
        "no-bar-end",
        "nobody is tried again when a bar ends",
        _DUE,
        "            step.try_again(user_id)\n\n\ndef _silent",
        "            pass\n\n\ndef _silent",
    ),
    _one(
        "never-lost",
        "a silent user stays in line for ever",
        _DUE,
        "    if floor.seat(user_id).state is not State.IDLE:\n        go(",
        "    if floor.seat(user_id).state is State.IDLE:\n        go(",
    ),
    _one(
        "dates-without-end",
        "a video date has no end",
        f"{_LOBBY}/dates.py",
        "after(step.now, floor.rules.date_length_s)",
        "after(step.now, 20 * floor.rules.date_length_s)",
    ),
    _one(
        "rematch",
        "two who have met are matched again",
        _ACQUAINTANCE,
        "if pair in self.met.rows or pair",
        "if pair",
    ),
    _one(
        "blocks-ignored",
        "a block does not keep two apart",
        _ACQUAINTANCE,
        " or self.is_blocked(a, b):\n",
        ":\n",
        seed=8,
    ),
    _one(
        "bars-ignored",
        "two are matched again at once after a cancelled match",
        _ACQUAINTANCE,
        " or pair in self.bars.rows",
        "",
    ),
    _one(
        "no-forced-attempt",
        "limits are not given up past the forced edge",
        _PAIRING,
        "    if choice is None and seeker.tier is _FORCED:\n",
        "    if choice is None and seeker.tier is None:\n",
    ),
    _one(
        "endless-vote",
        "the vote window is ten times as long as it says",
        _MATCHES,
        "    vote_by = now + floor.vote_window\n    match",
        "    vote_by = now + 10 * floor.vote_window\n    match",
    ),
    _one(
        "place-lost",
        "who is left behind goes to the end of the line",
        _MATCHES,
        "    step.queue(user_id, cause, wait_reason, fresh=False)\n",
        "    step.queue(user_id, cause, wait_reason, fresh=True)\n",
    ),
    _one(
        "second-vote-counts",
        "a vote can be changed",
        _MATCHES,
        "        return VoteReply() if given is choice else _already_voted(given)\n    match",
        "        pass\n    match",
    ),
    _one(
        "credit-not-raised",
        "a yes that is not returned gives no credit",
        "domain/lobby/ballot.py",
        "        return min(credit + step, cap)\n",
        "        return credit\n",
    ),
    _one(
        "wrong-verdict",
        "who passes on somebody idle is idle too",
        "domain/lobby/ballot.py",
        "    (Vote.PASS, Vote.IDLE): _requeues(Outcome.PASS_IDLE),\n",
        "    (Vote.PASS, Vote.IDLE): _rests(Outcome.PASS_IDLE),\n",
    ),
    _one(
        "no-grace",
        "after a restart nobody has time to come back",
        f"{_LOBBY}/lobby.py",
        "after(now, rules.resume_grace_s - patience_s)",
        "after(now, 0.5 - patience_s)",
        seed=7,
    ),
    _one(
        "matches-forgotten",
        "a restart forgets the matches that were open",
        "actors/rooms/registry.py",
        "lobby.restore(recovered.users, recovered.matches, recovered.dates, self._clock.now())",
        "lobby.restore(recovered.users, [], recovered.dates, self._clock.now())",
        seed=7,
    ),
    _one(
        "place-not-stored",
        "a new place in line is not written to an old row",
        "store/lobby/sql/intake.sql",
        "value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',\n"
        "        value ->> '$[5]', value ->> '$[6]',\n        new.room\n"
        "    FROM (SELECT value FROM json_each(new.seats)",
        "coalesce((SELECT waiting_since FROM seats WHERE user_id = value ->> '$[0]'),"
        " value ->> '$[2]'), value ->> '$[3]', value ->> '$[4]',\n"
        "        value ->> '$[5]', value ->> '$[6]',\n        new.room\n"
        "    FROM (SELECT value FROM json_each(new.seats)",
        seed=7,
    ),
    _one(
        "votes-not-stored",
        "votes are not written",
        "store/lobby/sql/intake.sql",
        "        a_vote = excluded.a_vote,\n        b_vote = excluded.b_vote,\n",
        "",
    ),
    _one(
        "lost-event",
        "a client that resumes misses one event",
        _SESSION_OUTPUT,
        "        return list(kept[len(kept) - behind :])\n",
        "        return list(kept[len(kept) - behind + 1 :])\n",
    ),
    _one(
        "second-effect",
        "a command that is sent twice is carried out twice",
        _SESSION_OUTPUT,
        "        if known is not None:\n            self._send(known)\n        elif",
        "        if known is not None:\n            return False\n        elif",
        seed=51,
    ),
    _one(
        "leak",
        "one object is kept for each session",
        f"{_ACTORS}/sessions/sessions.py",
        "                del self._by_user[session.user_id]\n                session.link",
        "                self._unflushed[self._by_user.pop(session.user_id)] = None\n"
        "                self.__dict__.setdefault('_old', []).append(session)\n"
        "                session.link",
    ),
    _one(
        "old-device-detaches",
        "the end of a replaced device takes the newer one offline",
        f"{_LOBBY}/handlers.py",
        "    if floor.presence(user_id).device == event.device:\n",
        "    if floor.presence(user_id).device is not None:\n",
    ),
    _one(
        "heartbeats-ignored",
        "a heartbeat is no sign of life",
        f"{_ACTORS}/sessions/session.py",
        "        self._note_alive(now_s)\n        id, now = command.id",
        "        id, now = command.id",
    ),
    _one(
        "suspended-stay",
        "a suspended user is not removed",
        "actors/people/suspension.py",
        "        while still_in := self._still_in():\n",
        "        while still_in := self._still_in()[:0]:\n",
    ),
    Mutant(
        "suspended-are-served",
        "calls of suspended users are answered",
        (
            (
                "edge/http/api.py",
                "        if not even_suspended:\n",
                "        if even_suspended is None:\n",
            ),
            (
                f"{_ACTORS}/sessions/sessions.py",
                "        self.suspensions.check(session.user_id)\n",
                "",
            ),
        ),
        seed=23,
    ),
    _one(
        "offers-for-suspended",
        "a suspended user gets offers and is offered",
        "store/offers/sql/pool_receivers.sql",
        "(x.until IS NULL OR x.until > :at)",
        "x.until < 0",
        seed=31,
    ),
    _one(
        "null-votes",
        "the votes of users who never voted are NULL",
        "store/offers/sql/pool_votes.sql",
        "count(*) FILTER (WHERE gave = 'yes')",
        "sum(CASE gave WHEN 'yes' THEN 1 WHEN 'pass' THEN 0 END)",
        seed=22,
    ),
    _one(
        "offered-again",
        "the same person is offered every day",
        "store/offers/sql/pool_not_again.sql",
        "s.user_id = r.value AND",
        "s.user_id = r.value AND 0 AND",
    ),
    _one(
        "met-offered",
        "people who have met are offered",
        "store/offers/sql/pool_apart.sql",
        "WHERE :met_after IS NULL OR m.met_at > :met_after",
        "WHERE :met_after IS NOT NULL AND m.met_at > :met_after",
    ),
    _one(
        "dst-hour",
        "a morning is 24 hours after the one before",
        "domain/time/local_day.py",
        "    return from_datetime(moment)\n",
        "    return from_datetime(datetime.combine(day - _NEXT_DAY, at, zone))"
        " + 86_400 * MICROSECONDS\n",
    ),
    _one(
        "no-catching-up",
        "a morning that was missed during downtime is not caught up",
        "domain/time/local_day.py",
        "    return today <= run.day or today <= local_date(zone, run.scheduled_at)\n",
        "    return False\n",
    ),
    _one(
        "no-retry",
        "a job that failed is not run again",
        "store/jobs/sql/claim.sql",
        "due.status IN ('pending', 'failed')",
        "due.status IN ('pending')",
        seed=23,
    ),
    _one(
        "no-rescue",
        "a job whose process died is never run again",
        "store/jobs/sql/expired.sql",
        "lease_until <= ?1",
        "lease_until <= ?1 - 4000000000000000",
        seed=8,
    ),
    _one(
        "no-fence",
        "a job is completed by whoever has run it",
        "store/jobs/sql/complete.sql",
        "AND fence = ?2\n    AND status = 'in_progress' AND lease_until > ?4",
        "AND ?2 IS NOT NULL AND ?4 IS NOT NULL",
        seed=42,
    ),
    _one(
        "swallowed-error",
        "a side actor that failed is not started again",
        "actors/supervisor.py",
        "            await trio.sleep(pause_s)\n",
        "            await trio.sleep(pause_s + 1e9)\n",
        seed=12,
    ),
    _one(
        "calendar-gives-up",
        "an error of the store ends the calendar's turns without a word",
        "actors/offers/calendar.py",
        "                await trio.sleep(delay_s)\n                delay_s = min",
        "                await trio.sleep_forever()\n                delay_s = min",
        seed=31,
    ),
    _one(
        "erased-in-log",
        "the log is not truncated after an erasure",
        "store/people/privacy.py",
        "                    if await self._database.truncate_log():\n",
        "                    if self._database is not None:\n",
    ),
    _one(
        "erased-offers",
        "the offers of an erased user stay",
        "store/people/erasure.py",
        "    _erase_offers(tx, user, tombstone, traces)\n",
        "",
    ),
    _one(
        "half-export",
        "an export has only the matches of one side",
        "store/people/export.py",
        "WHERE m.a = ?1 OR m.b = ?1 ORDER BY m.number",
        "WHERE m.a = ?1 ORDER BY m.number",
    ),
    _one(
        "no-sync",
        "commits do not wait for the disk",
        "store/engine/sqlite/connections.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        seed=7,
    ),
    _one(
        "room-forgets-met",
        "whom a user has met is forgotten in the next room",
        "domain/lobby/floor/floor.py",
        "            met=between.met_by(user_id),\n",
        "",
    ),
    _one(
        "room-forgets-blocks",
        "a block does not hold in the next room",
        "domain/lobby/floor/floor.py",
        "            blocks=between.blocked_by(user_id),\n",
        "",
        seed=8,
    ),
    _one(
        "forced-not-strict",
        "a strict limit is given up past the forced edge",
        "domain/matching/tiers.py",
        "        if not person.strict:\n",
        "        if not person.strict or tier is Tier.FORCED:\n",
    ),
    _one(
        "offers-not-strict",
        "a strict limit is widened for offers",
        "domain/offers/frozen_pool.py",
        "        return () if self.strict_limits is UNSET else self.strict_limits\n",
        "        return ()\n",
    ),
    _one(
        "appeal-not-stored",
        "an appeal is accepted and not stored",
        "edge/http/me.py",
        "            await api.store.add_appeal(appeal, api.settings.safety.appeal_every_s)\n",
        "            assert appeal\n",
        seed=23,
    ),
    _one(
        "closed-room-waits",
        "a room that closes keeps its users in line",
        f"{_LOBBY}/lobby.py",
        "        if self._is_closed and not self._is_swept:\n",
        "        if self._is_closed and self._is_swept is None:\n",
    ),
    _one(
        "any-code",
        "a room accepts every code",
        "actors/rooms/doorkeeper.py",
        "        if room.accepts(code):\n",
        "        if room.accepts(code) or code is not None:\n",
    ),
    _one(
        "touch-after-no",
        "a connection opens when one said yes and the other said no",
        "store/contacts/touch.py",
        "        and _answer(tx, number, partner) == Touch.YES\n",
        "        and _answer(tx, number, partner) is not None\n",
        seed=31,
    ),
)
