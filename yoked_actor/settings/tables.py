"""Settings that are tables by name, such as `jobs.retry."offers.user".attempts`.

In a variable a name is in capitals, with an underscore for each dot:
`YOKED_JOBS__RETRY__OFFERS_USER__ATTEMPTS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args, get_origin

from pydantic.fields import FieldInfo

from yoked_actor.settings.base import SettingsModel
from yoked_actor.settings.models.retries import DEFAULT, JOB_TYPES

NAMES: Mapping[tuple[str, str], tuple[str, ...]] = {("jobs", "retry"): (DEFAULT, *JOB_TYPES)}
"""The names of tables, for each setting that holds tables."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def table_model(field: FieldInfo | None) -> type[SettingsModel] | None:
    """The model of a setting's tables; None for any other setting."""
    if field is None or get_origin(field.annotation) is not dict:
        return None
    model: type[SettingsModel] = get_args(field.annotation)[1]
    return model


def name_in_variable(section: str, key: str, text: str) -> str:
    """The table that part of a variable's name means; the part itself if there is none."""
    written = {name.replace(".", "_"): name for name in NAMES[section, key]}
    return written.get(text, text)


def full_key(key: str, name: str, leaf: str = "") -> str:
    """A key inside a table, as TOML writes it."""
    quoted = name if _BARE.fullmatch(name) else f'"{name}"'
    return f"{key}.{quoted}.{leaf}" if leaf else f"{key}.{quoted}"
