"""The optional compiled build: some modules as C extensions, made from the same sources by mypyc.

A build is a folder that is named by the digest of the sources, and lies beside them: in a wheel or
the binary in `_compiled/` of the package, in a checkout in `.cache/compiled/`. When the digest of
the sources is another one, there is no such folder, and the sources run: a build cannot be out of
date. It is used as a whole or not at all, because compiled modules call each other directly.

`YOKED_PURE_PYTHON=1` runs the sources, for debugging. `MYPYC_OPT_LEVEL` is the level of
optimisation of the C compiler, 3 unless it is set: the tests compile without optimisation, because
that is faster. A build of another level has another digest: only processes of the tests run it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from pathlib import Path
from types import ModuleType

VARIABLE = "YOKED_PURE_PYTHON"
LEVEL_VARIABLE = "MYPYC_OPT_LEVEL"
GROUP = "yoked_core"
"""The name that mypyc gives to the library with the code of all modules."""

# Modules on the path of a spin. mypyc cannot compile a module that defines a Struct, and nobody may
# derive from a compiled class unless it says so.
MODULES = (
    "yoked_actor.actors.lobby.matchmaker",
    "yoked_actor.actors.lobby.messages",
    "yoked_actor.actors.lobby.round_report",
    "yoked_actor.actors.lobby.sessions.context",
    "yoked_actor.actors.lobby.sessions.events",
    "yoked_actor.actors.lobby.sessions.output",
    "yoked_actor.actors.lobby.sessions.session",
    "yoked_actor.actors.lobby.sessions.sessions",
    "yoked_actor.actors.lobby.sessions.suspensions",
    "yoked_actor.actors.mailbox",
    "yoked_actor.domain.geometry",
    "yoked_actor.domain.lobby.constants",
    "yoked_actor.domain.lobby.floor.acquaintance",
    "yoked_actor.domain.lobby.floor.auditor",
    "yoked_actor.domain.lobby.floor.birthdays",
    "yoked_actor.domain.lobby.floor.book",
    "yoked_actor.domain.lobby.floor.books",
    "yoked_actor.domain.lobby.floor.calls",
    "yoked_actor.domain.lobby.floor.deadlines",
    "yoked_actor.domain.lobby.floor.floor",
    "yoked_actor.domain.lobby.floor.settled",
    "yoked_actor.domain.lobby.floor.timed_books",
    "yoked_actor.domain.lobby.floor.users_in_memory",
    "yoked_actor.domain.lobby.machine.calls",
    "yoked_actor.domain.lobby.machine.dates",
    "yoked_actor.domain.lobby.machine.departure",
    "yoked_actor.domain.lobby.machine.due",
    "yoked_actor.domain.lobby.machine.handlers",
    "yoked_actor.domain.lobby.machine.lobby",
    "yoked_actor.domain.lobby.machine.matches",
    "yoked_actor.domain.lobby.machine.moves",
    "yoked_actor.domain.lobby.machine.nudges",
    "yoked_actor.domain.lobby.machine.pairing",
    "yoked_actor.domain.lobby.machine.snapshot",
    "yoked_actor.domain.lobby.machine.step",
    "yoked_actor.domain.matching.apart",
    "yoked_actor.domain.matching.columns",
    "yoked_actor.domain.matching.compatibility",
    "yoked_actor.domain.matching.fairness",
    "yoked_actor.domain.matching.group",
    "yoked_actor.domain.matching.idlers",
    "yoked_actor.domain.matching.limits",
    "yoked_actor.domain.matching.pool",
    "yoked_actor.domain.matching.search",
    "yoked_actor.domain.matching.tiers",
    "yoked_actor.domain.matching.waiting",
    "yoked_actor.domain.ops.recent",
    "yoked_actor.domain.people.measures",
    "yoked_actor.domain.people.shown_places",
    "yoked_actor.domain.time.instants",
    "yoked_actor.domain.time.token_bucket",
    "yoked_actor.edge.ws.connection",
    "yoked_actor.edge.ws.connection_output",
    "yoked_actor.edge.ws.conversation",
    "yoked_actor.edge.ws.frames",
    "yoked_actor.edge.ws.hub",
    "yoked_actor.edge.ws.hub_connection",
    "yoked_actor.edge.ws.stream_connection",
    "yoked_actor.store.lobby.rows",
    "yoked_actor.telemetry.metrics.lobby",
    "yoked_actor.telemetry.metrics.objectives",
    "yoked_actor.wire.lobby.rendering",
    "yoked_actor.wire.lobby.replies",
)
_NAMES = frozenset((*MODULES, f"{GROUP}__mypyc"))
_LAYERS = ("domain", "settings", "telemetry", "store", "wire", "actors", "edge")
"""Everything that a compiled module may import: mypyc relies on its types and constants."""
_PACKAGE = Path(__file__).parent


def level() -> str:
    """The level of optimisation of builds."""
    return os.environ.get(LEVEL_VARIABLE) or "3"


def digest() -> str:
    """The digest of the sources that a build is made from, and of the Python that it is for.

    The suffix of extensions names the minor version and the platform. A build of one 3.11 serves
    all of them, as a wheel does.
    """
    from hashlib import sha256

    found = sha256(f"{EXTENSION_SUFFIXES[0]}\0{level()}\0".encode())
    files = [Path(__file__)]
    for layer in _LAYERS:
        files += sorted((_PACKAGE / layer).rglob("*.py"))
    for file in files:
        found.update(f"{file.relative_to(_PACKAGE)}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def cache() -> Path:
    """Where a checkout keeps its builds."""
    return _PACKAGE.parent / ".cache" / "compiled"


class Finder:
    """Finds the compiled modules, if there is a build of the present sources."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._why_pure: str | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The compiled module of this name; None when its source runs."""
        if name not in _NAMES:
            return None
        folder = self.folder()
        if folder is None:
            return None
        from importlib.util import spec_from_file_location

        file = folder.joinpath(*name.split(".")).with_suffix(EXTENSION_SUFFIXES[0])
        return spec_from_file_location(name, file)

    def folder(self) -> Path | None:
        """The folder of the build, found once."""
        if self._folder is None and self._why_pure is None:
            self._folder, self._why_pure = _find()
        return self._folder

    def description(self) -> str:
        """Which build runs: for people."""
        if self.folder() is not None:
            return "compiled"
        return f"pure Python: {self._why_pure}"


def _find() -> tuple[Path | None, str | None]:
    """The folder of the build for the present sources, or why there is none."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return None, f"{VARIABLE} is set"
    carried = _PACKAGE / "_compiled"
    if getattr(sys, "frozen", False):
        # There are no sources inside the binary, and it was made in one go.
        folders = sorted(carried.iterdir()) if carried.is_dir() else []
        return (folders[0], None) if folders else (None, "this binary was built without a compiler")
    builds = [place for place in (carried, cache()) if place.is_dir()]
    if builds:
        wanted = digest()
        for place in builds:
            if (place / wanted).is_dir():
                return place / wanted, None
        return None, "the compiled modules are of other sources, or for another Python"
    return None, "nothing was compiled"


FINDER = Finder()


def install() -> None:
    """Let the import system find compiled modules first."""
    sys.meta_path.insert(0, FINDER)
