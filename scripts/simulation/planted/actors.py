"""Planted faults in the actors and in the edge."""

from __future__ import annotations

from scripts.simulation.planted.mutant import Mutant, one

_LOBBY = "actors/lobby"
_MATCHMAKER = f"{_LOBBY}/matchmaker.py"
_SESSION_OUTPUT = f"{_LOBBY}/sessions/output.py"

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
    one(
        "no-undo",
        "a failed commit leaves the lobby as if it had succeeded",
        _MATCHMAKER,
        "                self._lobby.undo()\n",
        "                self._lobby.settle()\n",
        seed=23,
    ),
    one(
        "clock-not-followed",
        "the lobby does not follow a step of the clock",
        _MATCHMAKER,
        "        if by:\n",
        "        if by and by == 0:\n",
        seed=51,
    ),
    one(
        "lost-wake-up",
        "the first message in a mailbox wakes nobody",
        "actors/mailbox.py",
        "        if len(self._items) == 1:\n",
        "        if len(self._items) == 2:\n",
    ),
    one(
        "matches-forgotten",
        "a restart forgets the matches that were open",
        "actors/rooms/registry.py",
        "lobby.restore(recovered.users, recovered.matches, recovered.dates, self._clock.now())",
        "lobby.restore(recovered.users, [], recovered.dates, self._clock.now())",
        seed=7,
    ),
    one(
        "lost-event",
        "a client that resumes misses one event",
        _SESSION_OUTPUT,
        "        return list(kept[len(kept) - behind :])\n",
        "        return list(kept[len(kept) - behind + 1 :])\n",
    ),
    one(
        "second-effect",
        "a command that is sent twice is carried out twice",
        _SESSION_OUTPUT,
        "        if known is not None:\n            self._send(known)\n        elif",
        "        if known is not None:\n            return False\n        elif",
        seed=51,
    ),
    one(
        "leak",
        "one object is kept for each session",
        f"{_LOBBY}/sessions/sessions.py",
        "                del self._by_user[session.user_id]\n                session.link",
        "                self._unflushed[self._by_user.pop(session.user_id)] = None\n"
        "                self.__dict__.setdefault('_old', []).append(session)\n"
        "                session.link",
    ),
    one(
        "heartbeats-ignored",
        "a heartbeat is no sign of life",
        f"{_LOBBY}/sessions/session.py",
        "        self._note_alive(now_s)\n        id, now = command.id",
        "        id, now = command.id",
    ),
    one(
        "suspended-stay",
        "a suspended user is not removed",
        "actors/people/suspension.py",
        "        while still_in := self._still_in():\n",
        "        while still_in := self._still_in()[:0]:\n",
    ),
    one(
        "swallowed-error",
        "a side actor that failed is not started again",
        "actors/supervisor.py",
        "            await trio.sleep(pause_s)\n",
        "            await trio.sleep(pause_s + 1e9)\n",
        seed=12,
    ),
    one(
        "calendar-gives-up",
        "an error of the store ends the calendar's turns without a word",
        "actors/offers/calendar.py",
        "                await trio.sleep(delay_s)\n                delay_s = min",
        "                await trio.sleep_forever()\n                delay_s = min",
        seed=31,
    ),
    one(
        "any-code",
        "a room accepts every code",
        "actors/rooms/doorkeeper.py",
        "        if room.accepts(code):\n",
        "        if room.accepts(code) or code is not None:\n",
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
                f"{_LOBBY}/sessions/sessions.py",
                "        self.suspensions.check(session.user_id)\n",
                "",
            ),
        ),
        seed=23,
    ),
    one(
        "appeal-not-stored",
        "an appeal is accepted and not stored",
        "edge/http/me.py",
        "            await api.store.add_appeal(appeal, api.settings.safety.appeal_every_s)\n",
        "            assert appeal\n",
        seed=23,
    ),
)
