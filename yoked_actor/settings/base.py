"""What all sections share: types of values, and how a section is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

# A year. It keeps sums of instants far from overflow.
LONGEST_S = 31_622_400
LARGEST_BUFFER = 64 * 1024 * 1024
ORIGIN = r"^(https?://[^/?#\s]+|\*)$"
NETWORK = r"^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$"
WORD = r"^[a-z][a-z0-9_]{0,31}$"
STUN_URL = r"^stuns?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"
TURN_URL = r"^turns?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(\?transport=(udp|tcp))?$"
WEBHOOK_URL = r"^(https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[!$-~]*)?)?$"
HEADER = r"^[A-Za-z0-9-]{1,64}$"
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"

Duration = Annotated[float, Field(gt=0, le=LONGEST_S)]
DurationOrZero = Annotated[float, Field(ge=0, le=LONGEST_S)]
Years = Annotated[int, Field(ge=0, le=100)]
Factor = Annotated[float, Field(ge=1, le=1000)]
Rate = Annotated[float, Field(gt=0, le=1_000_000)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Days = Annotated[int, Field(ge=1, le=36_500)]
Bytes = Annotated[int, Field(ge=1024, le=LARGEST_BUFFER)]


class Conflict(NamedTuple):
    """Settings that are valid alone but not together; a message names the first one."""

    keys: tuple[str, ...]
    rule: str


class SettingsModel(BaseModel):
    """The base of all sections: frozen, strict, no unknown keys, rules between keys."""

    RELOADS: ClassVar[frozenset[str]] = frozenset()
    """The keys that a reload changes. Code that uses one reads it from its section every time."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_default=True,
        # A section that is passed to another model is copied: a reload changes the copy only.
        revalidate_instances="always",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """The rules between settings that are broken."""
        yield from ()

    def renew(self, values: Mapping[str, object]) -> None:
        """Take the values of a reload: all of them, or none when pydantic refuses one.

        A section is frozen for all other code. Objects that hold it see the new values.
        """
        assert self.RELOADS.issuperset(values)
        self.__setstate__(type(self).model_validate({**dict(self), **values}).__getstate__())

    @model_validator(mode="before")
    @classmethod
    def _lists_are_tuples(cls, values: Any) -> Any:
        # TOML and JSON have only lists; frozen settings need tuples.
        if not isinstance(values, Mapping):
            return values
        return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}

    @model_validator(mode="after")
    def _no_conflicts(self) -> Self:
        found = list(self.conflicts())
        if found:
            text = "; ".join(f"{conflict.keys[0]} {conflict.rule}" for conflict in found)
            raise PydanticCustomError("conflict", "{text}", {"text": text, "conflicts": found})
        return self
