"""The settings in use, for operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.ops import Role
from yoked_actor.edge.http.api import Api, answer
from yoked_actor.settings import Settings, sections
from yoked_actor.wire.ops import configuration as http

_HIDDEN = "(hidden)"


def add_setting_calls(app: QuartTrio, api: Api) -> None:
    """`/api/admin/settings`."""

    @app.get("/api/admin/settings")
    async def settings() -> Response:
        await api.operator(Role.VIEWER)
        return answer(http.SettingsAnswer(_entries(api.settings)))


def _entries(settings: Settings) -> list[http.SettingEntry]:
    entries = []
    for section, model in sections().items():
        values = getattr(settings, section)
        for key, field in model.model_fields.items():
            entries.append(
                http.SettingEntry(
                    f"{section}.{key}",
                    _shown(getattr(values, key)),
                    _shown(field.get_default(call_default_factory=True)),
                    settings.source_of(section, key),
                    key in model.RELOADS,
                    field.description or "",
                )
            )
    return entries


def _shown(value: Any) -> Any:
    """A value as JSON; a secret is never shown, and neither is one inside a URL."""
    if isinstance(value, SecretStr):
        return _HIDDEN if value.get_secret_value() else None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, BaseModel):
        return {key: _shown(inner) for key, inner in value}
    if isinstance(value, dict):
        return {str(key): _shown(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return [_shown(inner) for inner in value]
    return value
