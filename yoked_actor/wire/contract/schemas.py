"""The parts that both documents of the contract share: schemas of types, and error codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from yoked_actor import __version__
from yoked_actor.wire.contract.calls import ERRORS
from yoked_actor.wire.problems import STATUS

JSON = "application/json"
_REF = "#/components/schemas/{name}"

Document = dict[str, Any]


class Schemas:
    """The JSON Schemas of a set of types, by type."""

    def __init__(self, types: Iterable[type]) -> None:
        unique = list(dict.fromkeys(types))
        made = msgspec.json.schema_components(unique, ref_template=_REF)
        # Two types named Signal get their modules as prefixes. The contract must not change when a
        # module moves, so it keeps the prefixes that it has had from the start.
        text = msgspec.json.encode(made).replace(b"yoked_actor.wire.lobby.", b"yoked_actor.wire.")
        refs, self.components = msgspec.json.decode(text)
        self._refs = dict(zip(unique, refs, strict=True))

    def ref(self, kind: type) -> Document:
        """The reference to the schema of a type."""
        return dict(self._refs[kind])

    def of(self, kind: type) -> Document:
        """The schema of a type."""
        name = self._refs[kind]["$ref"].rpartition("/")[2]
        return dict(self.components[name])


def info(title: str, description: str) -> Document:
    """The `info` object of a document."""
    return {
        "title": title,
        "version": __version__,
        "description": description,
        "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
    }


def error_codes() -> list[Document]:
    """Every error code with its HTTP status and meaning."""
    return [
        {"code": code.value, "status": STATUS[code], "meaning": meaning}
        for code, meaning in ERRORS.items()
    ]
