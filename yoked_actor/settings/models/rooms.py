"""Settings of a room: `[rooms.ID]`. Operators declare rooms by commands in the same form."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from yoked_actor.domain.people import BadText, check_text, clean_name, is_user_id
from yoked_actor.domain.rooms import weekly_of
from yoked_actor.domain.rules import PolicyName, Rules
from yoked_actor.domain.time import Instant, from_datetime, zone_named
from yoked_actor.settings.base import (
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    Factor,
    SettingsModel,
    Years,
)

LONGEST_NAME = 80


class RoomSettings(SettingsModel):
    """A room beside `main`: its opening times, who may enter, and its own rules of matching."""

    name: str = Field("", max_length=LONGEST_NAME, description="Its name; its id if empty.")
    description: str = Field("", max_length=1000, description="What users read about it.")
    opens_at: str = Field(
        "", description="When it opens, such as 2026-12-31T20:00:00+01:00; if empty, it is open."
    )
    closes_at: str = Field("", description="When it closes for good; if empty, never.")
    schedule: Annotated[tuple[str, ...], Field(max_length=100)] = Field(
        (),
        description="Weekly opening times in time_zone, such as fri 20:00-23:00, mon-thu"
        " 18:00-02:00 or daily 09:00-24:00; if empty, it is open all day.",
    )
    time_zone: str = Field("UTC", description="The time zone of the schedule.")
    capacity: Count | None = Field(None, description="The most users in it.", examples=[100])
    entry: Literal["everyone", "code", "list"] = Field(
        "everyone", description="Who may enter: everyone, users with the code, or guests."
    )
    code: SecretStr = Field(SecretStr(""), description="The invitation code, for entry code.")
    guests: Annotated[tuple[str, ...], Field(max_length=100_000)] = Field(
        (), description="The ids of the users who may enter, for entry list."
    )
    policy: PolicyName | None = Field(None, description="As matching.policy.")
    starvation_after_s: Duration | None = Field(None, description="As in matching.")
    tier2_after_s: DurationOrZero | None = Field(None, description="As in matching.")
    tier2_years: Years | None = Field(None, description="As in matching.")
    tier2_distance: Factor | None = Field(None, description="As in matching.")
    tier3_after_s: DurationOrZero | None = Field(None, description="As in matching.")
    tier3_years: Years | None = Field(None, description="As in matching.")
    tier3_distance: Factor | None = Field(None, description="As in matching.")
    forced_after_s: DurationOrZero | None = Field(None, description="As in matching.")
    acknowledge_window_s: Duration | None = Field(None, description="As in matching.")
    vote_window_s: Duration | None = Field(None, description="As in matching.")
    date_length_s: Duration | None = Field(None, description="As in matching.")

    def conflicts(self) -> Iterator[Conflict]:
        """Times that cannot be read, a text that may not be shown, half of an invitation."""
        for key in ("opens_at", "closes_at"):
            text = getattr(self, key)
            if text and instant_of(text) is None:
                yield Conflict((key,), "must be a time with an offset from UTC")
        opens_at, closes_at = instant_of(self.opens_at), instant_of(self.closes_at)
        if opens_at is not None and closes_at is not None and closes_at <= opens_at:
            yield Conflict(("closes_at", "opens_at"), "must be later than opens_at")
        for entry in self.schedule:
            if weekly_of(entry) is None:
                yield Conflict(("schedule",), f"has {entry!r}; an entry is fri 20:00-23:00")
        if zone_named(self.time_zone) is None:
            yield Conflict(("time_zone",), "must be the name of a time zone")
        if self.entry == "code" and not self.code.get_secret_value():
            yield Conflict(("code", "entry"), "must be set with entry code")
        if not all(is_user_id(user_id) for user_id in self.guests):
            yield Conflict(("guests",), "must be ids of users")
        try:
            clean_name("name", self.name or "room", LONGEST_NAME)
            check_text("description", self.description)
        except BadText as error:
            yield Conflict(("name",), str(error))

    def overrides(self) -> dict[str, Any]:
        """The rules that this room sets for itself."""
        given = {name: value for name, value in self if name in Rules.__struct_fields__}
        return {name: value for name, value in given.items() if value is not None}


def instant_of(text: str) -> Instant | None:
    """The instant of a time with an offset; None for any other text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else from_datetime(moment)
