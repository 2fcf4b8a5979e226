"""Planted faults in the domain: the lobby, the matching, the days and the offers."""

from __future__ import annotations

from scripts.simulation.planted.mutant import one

_LOBBY = "domain/lobby/machine"
_MATCHES, _PAIRING = f"{_LOBBY}/matches.py", f"{_LOBBY}/pairing.py"
_DUE = f"{_LOBBY}/due.py"
_ACQUAINTANCE = "domain/lobby/floor/acquaintance.py"

MUTANTS = (
    one(
        "stale-timer",
        "the deadline of a match is not compared with the one that holds",
        _DUE,
        "    if match is None or match.closes_at != at:\n        return\n"
        "    if match.status is STATUS_VOTING and due is _VOTE:",
        "    if match is None or match.ended_at is not None:\n        return\n"
        "    if match.status is STATUS_VOTING:",
    ),
    one(
        "no-bar-end",
        "nobody is tried again when a bar ends",
        _DUE,
        "            step.try_again(user_id)\n\n\ndef _silent",
        "            pass\n\n\ndef _silent",
    ),
    one(
        "never-lost",
        "a silent user stays in line for ever",
        _DUE,
        "    if floor.seat(user_id).state is not State.IDLE:\n        go(",
        "    if floor.seat(user_id).state is State.IDLE:\n        go(",
    ),
    one(
        "dates-without-end",
        "a video date has no end",
        f"{_LOBBY}/dates.py",
        "after(step.now, floor.rules.date_length_s)",
        "after(step.now, 20 * floor.rules.date_length_s)",
    ),
    one(
        "rematch",
        "two who have met are matched again",
        _ACQUAINTANCE,
        "if pair in self.met.rows or pair",
        "if pair",
    ),
    one(
        "blocks-ignored",
        "a block does not keep two apart",
        _ACQUAINTANCE,
        " or self.is_blocked(a, b):\n",
        ":\n",
        seed=8,
    ),
    one(
        "bars-ignored",
        "two are matched again at once after a cancelled match",
        _ACQUAINTANCE,
        " or pair in self.bars.rows",
        "",
    ),
    one(
        "no-forced-attempt",
        "limits are not given up past the forced edge",
        _PAIRING,
        "    if choice is None and seeker.tier is _FORCED:\n",
        "    if choice is None and seeker.tier is None:\n",
    ),
    one(
        "endless-vote",
        "the vote window is ten times as long as it says",
        _MATCHES,
        "    vote_by = now + floor.vote_window\n    match",
        "    vote_by = now + 10 * floor.vote_window\n    match",
    ),
    one(
        "place-lost",
        "a user whose partner leaves goes to the end of the line",
        _MATCHES,
        "    step.queue(user_id, cause, wait_reason, fresh=False)\n",
        "    step.queue(user_id, cause, wait_reason, fresh=True)\n",
    ),
    one(
        "second-vote-counts",
        "a vote can be changed",
        _MATCHES,
        "        return VoteReply() if given is choice else _already_voted(given)\n    match",
        "        pass\n    match",
    ),
    one(
        "credit-not-raised",
        "a yes that is not returned gives no credit",
        "domain/lobby/ballot.py",
        "        return min(credit + step, cap)\n",
        "        return credit\n",
    ),
    one(
        "wrong-verdict",
        "a user who passes on an idle partner becomes idle too",
        "domain/lobby/ballot.py",
        "    (Vote.PASS, Vote.IDLE): _requeues(Outcome.PASS_IDLE),\n",
        "    (Vote.PASS, Vote.IDLE): _rests(Outcome.PASS_IDLE),\n",
    ),
    one(
        "no-grace",
        "after a restart nobody has time to come back",
        f"{_LOBBY}/lobby.py",
        "after(now, rules.resume_grace_s - patience_s)",
        "after(now, 0.5 - patience_s)",
        seed=7,
    ),
    one(
        "old-device-detaches",
        "the end of a replaced device takes the newer one offline",
        f"{_LOBBY}/handlers.py",
        "    if floor.presence(user_id).device == event.device:\n",
        "    if floor.presence(user_id).device is not None:\n",
    ),
    one(
        "dst-hour",
        "a morning is 24 hours after the one before",
        "domain/time/local_day.py",
        "    return from_datetime(moment)\n",
        "    return from_datetime(datetime.combine(day - _NEXT_DAY, at, zone))"
        " + 86_400 * MICROSECONDS\n",
    ),
    one(
        "no-catching-up",
        "a morning that was missed during downtime is not caught up",
        "domain/time/local_day.py",
        "    return today <= run.day or today <= local_date(zone, run.scheduled_at)\n",
        "    return False\n",
    ),
    one(
        "room-forgets-met",
        "the next room does not know whom a user has met",
        "domain/lobby/floor/users_in_memory.py",
        "            met=between.met_by(user_id),\n",
        "",
    ),
    one(
        "room-forgets-blocks",
        "a block does not hold in the next room",
        "domain/lobby/floor/users_in_memory.py",
        "            blocks=between.blocked_by(user_id),\n",
        "",
        seed=8,
    ),
    one(
        "forced-not-strict",
        "a strict limit is given up past the forced edge",
        "domain/matching/tiers.py",
        "        if not person.strict:\n",
        "        if not person.strict or tier is Tier.FORCED:\n",
    ),
    one(
        "offers-not-strict",
        "a strict limit is widened for offers",
        "domain/offers/frozen_pool.py",
        "        return () if self.strict_limits is UNSET else self.strict_limits\n",
        "        return ()\n",
    ),
    one(
        "closed-room-waits",
        "a room that closes keeps its users in line",
        f"{_LOBBY}/lobby.py",
        "        if self._is_closed and not self._is_swept:\n",
        "        if self._is_closed and self._is_swept is None:\n",
    ),
)
