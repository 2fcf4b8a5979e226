"""The fields of a section: which values one takes, in words, and how it reads a text."""

from __future__ import annotations

import tomllib
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo


def allowed(field: FieldInfo) -> str:
    """The values that a setting takes, as a text that follows "must be"."""
    kind, optional = _kind(field)
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        text = ", ".join(choices) if len(choices) == 1 else f"one of {', '.join(choices)}"
    elif get_origin(kind) is dict:
        text = "tables"
    elif get_origin(kind) is tuple:
        text = f"a list of {_members(kind)}"
    else:
        text = {int: "a whole number", float: "a number", Path: "a path"}.get(kind, "a text")
    limits = _limits(field)
    match limits.get("gt"), limits.get("ge"), limits.get("le"):
        case None, None, None:
            pass
        case None, low, high:
            text += f" from {low} to {high}"
        case low, _, high:
            text += f" over {low}, up to {high}"
    if "min_length" in limits:
        text += ", not empty"
    return f"{text}, or unset" if optional else text


def parsed(field: FieldInfo, text: str) -> object:
    """The value of a variable's text for the type of its setting."""
    kind, optional = _kind(field)
    # A secret of digits is a text.
    if kind in (str, Path, SecretStr) or get_origin(kind) is Literal:
        return text
    if optional and not text:
        return None
    try:
        document = tomllib.loads(f"value = {text}")
    except ValueError:  # not TOML: a text without quotes
        return text
    return document["value"] if len(document) == 1 else text


def _kind(field: FieldInfo) -> tuple[Any, bool]:
    """The bare type of a field, and whether it may be unset."""
    kind: Any = field.annotation
    optional = get_origin(kind) in (Union, types.UnionType)
    if optional:
        kind = next(member for member in get_args(kind) if member is not type(None))
    return getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind, optional


def _members(kind: Any) -> str:
    """What a list contains: the title of its members' type."""
    for inner in getattr(get_args(kind)[0], "__metadata__", ()):
        if inner.title:
            return str(inner.title)
    return "texts"


def _limits(field: FieldInfo) -> dict[str, Any]:
    metadata = list(field.metadata)
    for member in get_args(field.annotation):
        for inner in getattr(member, "__metadata__", ()):
            metadata += inner.metadata
    names = ("gt", "ge", "le", "min_length")
    return {name: getattr(m, name) for m in metadata for name in names if hasattr(m, name)}
