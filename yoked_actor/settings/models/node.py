"""Settings of a node, one of several servers over one database: `[node]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from yoked_actor.settings.base import Conflict, SettingsModel

NODE_ID = r"^([a-z0-9][a-z0-9_-]{0,31})?$"
NODE_URL = r"^(https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?)?$"


class NodeSettings(SettingsModel):
    """Several servers over one PostgreSQL database, each of which serves some of the rooms."""

    id: str = Field(
        "",
        pattern=NODE_ID,
        description="The name of this server among the nodes; empty if it is the only server."
        " 1-32 of a-z, 0-9, _ and -. It needs store.url.",
    )
    url: str = Field(
        "",
        pattern=NODE_URL,
        description="The public base URL of this server, without a path: where other nodes send"
        " its clients.",
    )
    lease_s: Annotated[float, Field(ge=0.5, le=600)] = Field(
        6.0,
        description="How long a node may be silent before others take over its rooms. A node renews"
        " its leases three times in that time. The same on all nodes.",
    )
    hops: Annotated[int, Field(ge=1, le=100)] = Field(
        5, description="How many times in a row a page follows from node to node."
    )

    @property
    def is_set(self) -> bool:
        """Whether this server is one of several."""
        return bool(self.id)

    def conflicts(self) -> Iterator[Conflict]:
        """A node that the others cannot name."""
        if self.id and not self.url:
            rule = "must be set, because node.id is: the public base URL of this server"
            yield Conflict(("url", "id"), rule)
