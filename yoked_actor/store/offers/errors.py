"""How the store of offers refuses."""

from __future__ import annotations

from datetime import date

from yoked_actor.store.engine import StoreError


class NoSuchOffer(StoreError):
    """The user has no offer with this id."""


class OfferExpired(StoreError):
    """The offer has expired, so it is not answered any more."""


class AnswerGiven(StoreError):
    """The offer has another answer already, and the first answer stands."""


class NoSuchRun(StoreError):
    """The zone's run of that date was never frozen."""


class UnreadableRun(StoreError):
    """A frozen run cannot be decoded; an operator can freeze it again."""

    def __init__(self, zone: str, day: date, reason: str) -> None:
        super().__init__(
            f"the frozen pool of {day} in {zone} cannot be read ({reason});"
            f" `yoked-actor offers refreeze {day} {zone}` replaces it"
        )
