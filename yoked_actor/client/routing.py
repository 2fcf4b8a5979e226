"""Which node of a service a client speaks to.

A node that does not serve the user's room answers `moved` with the URL of another one. The client
follows, but not forever: after a number of hops without a welcome it returns to an address that it
was given, after a pause.
"""

from __future__ import annotations

from collections.abc import Sequence

from yoked_actor.client.dialing import Address

MOST_HOPS = 5
"""How many times in a row a client follows `moved`."""


class Route:
    """The present address, and those to return to."""

    def __init__(self, urls: Sequence[str], hops: int = MOST_HOPS) -> None:
        """`urls` are addresses of the same service, the first one preferred."""
        self.known = [Address.parse(url) for url in urls]
        """The addresses that were given."""
        self._place = 0
        self._hops = self._turns = 0
        self._most_hops = hops
        self.address = self.known[0]

    @property
    def has_others(self) -> bool:
        """Whether there is another address to try."""
        return len(self.known) > 1 or self.address != self.known[0]

    @property
    def is_exhausted(self) -> bool:
        """Whether each address was tried, and then some, since the last node that accepted."""
        return self._turns >= len(self.known) + self._most_hops

    def arrived(self) -> None:
        """A node has accepted the user."""
        self._hops = self._turns = 0

    def follow(self, url: str) -> bool:
        """A node has named another one; False when the client has followed too often.

        A client that uses TLS does not follow to a node without: the token would be readable.
        """
        try:
            address = Address.parse(url)
        except ValueError:
            return False
        self._hops += 1
        if self._hops > self._most_hops or (self.address.secure and not address.secure):
            self.turn_back()
            return False
        self.address = address
        return True

    def turn_back(self) -> None:
        """The present address does not help: try the next one that was given."""
        self._hops = 0
        self._turns += 1
        if self.address == self.known[self._place]:
            self._place = (self._place + 1) % len(self.known)
        self.address = self.known[self._place]
