"""The memory of the server returns to its level after each night.

What counts is the number of objects that can be reached from the running server. Unlike the size of
the process it is the same in every run of a seed, and a leak of one object for each session shows.
"""

from __future__ import annotations

import gc
from types import (
    BuiltinFunctionType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
)
from weakref import ReferenceType

from yoked_actor.simulation.judges.verdict import Bench
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Level, Tally

_SKIPPED = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    CoroutineType,
    FrameType,
    GeneratorType,
    ReferenceType,
)
_OTHERS = (
    "trio",
    "yoked_actor.simulation",
    "yoked_actor.edge.ws.expiries",  # keeps some closed connections on purpose, at most 64
    "prometheus_client",
    "quart",
    "werkzeug",
    "jinja2",
)
"""Modules whose objects are not followed: caches of libraries, and the simulation itself."""
_LEAK = 0.6
"""Objects that each connection leaves behind, above which it is a leak."""
_SLACK = 80
"""Windows of metrics come and go."""
_SET = 5
"""Objects of one set: the sets of the last mornings come and go, one for each person."""
_WARM = 60
"""Connections after which all that is made once has been made."""


class MemoryJudge:
    """Compares the levels of quiet hours."""

    def __init__(self, stage: Stage, bench: Bench, tally: Tally, people: int) -> None:
        self._stage = stage
        self._bench = bench
        self._tally = tally
        self._slack = _SLACK + _SET * people
        self._start = 0
        self._visits = 0
        self._rooms: set[str] = set()
        """The rooms that were in use: one that is open stays in use, with objects of its own."""
        self._level: int | None = None
        """The objects at the first quiet hour of this process, when it was warm."""

    def check(self) -> None:
        """Look, if nobody is there now."""
        server = self._stage.server
        if server is None or self._stage.lines or len(server.live.sessions):
            return
        objects, visits = count_reachable(server), self._tally.connections
        self._bench.count("memory")
        self._tally.levels.append(Level(self._stage.wall.true(), objects, visits))
        rooms = set(server.live.rooms.rooms)
        if self._start != self._stage.starts:
            self._start, self._visits, self._level = self._stage.starts, visits, None
            self._rooms = rooms
        if not rooms <= self._rooms:
            self._rooms |= rooms
            self._level = None if self._level is None else objects
        if self._level is None:
            if visits - self._visits >= _WARM:
                self._level, self._visits = objects, visits
            return
        grown, visited = objects - self._level, visits - self._visits
        if grown > self._slack + _LEAK * visited:
            text = f"{grown} more objects than on the first night, after {visited} connections"
            self._bench.report("memory", text)


def count_reachable(root: object) -> int:
    """How many objects can be reached from one, without classes, modules and functions."""
    seen = {id(root)}
    found = [root]
    count = 0
    while found:
        one = found.pop()
        count += 1
        for other in gc.get_referents(one):
            if id(other) in seen or isinstance(other, _SKIPPED):
                continue
            if not type(other).__module__.startswith(_OTHERS):
                seen.add(id(other))
                found.append(other)
    return count
