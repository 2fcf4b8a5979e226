"""The tally: counts what all bots see. Its size is bounded."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from yoked_actor.bots.bot import Bot, Phase
from yoked_actor.client import CommandRefused, Event
from yoked_actor.domain.statistics import percentile

_KEPT_WAITS = 10_000


class Tally:
    """The counts of one crowd."""

    def __init__(self) -> None:
        self.bots: dict[str, Bot] = {}
        """The running bots, by user id."""
        self.guests = 0
        """How many bots have started so far."""
        self.matches = 0
        self.outcomes: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()
        self.dates = 0
        self.errors: Counter[str] = Counter()
        self.first_error = ""
        self._reconnects = 0
        self._waits_s: deque[float] = deque(maxlen=_KEPT_WAITS)

    @contextmanager
    def present(self, bot: Bot) -> Iterator[None]:
        """Count a bot as running inside the block."""
        self.guests += 1
        self.bots[bot.user_id] = bot
        try:
            yield
        finally:
            del self.bots[bot.user_id]
            self._reconnects += _reconnects_of(bot)

    @property
    def connected(self) -> int:
        """How many have an open socket."""
        return sum(bot.client.is_connected for bot in self.bots.values())

    @property
    def reconnects(self) -> int:
        """How often bots have reconnected."""
        return self._reconnects + sum(map(_reconnects_of, self.bots.values()))

    def phases(self) -> Counter[Phase]:
        """How many are in each phase."""
        return Counter(bot.phase for bot in self.bots.values())

    def wait_s(self, share: float) -> float | None:
        """The percentile of the last waits from spin to matched; `share` 0.5 is the median."""
        return percentile(self._waits_s, share) if self._waits_s else None

    def failed(self, kind: str, message: str) -> None:
        """Count an error."""
        self.errors[kind] += 1
        if not self.first_error:
            self.first_error = message

    # Watcher

    def saw(self, bot: Bot, event: Event) -> None:
        """Count an event. An event that both bots of a match see is counted once."""
        if event.fields.get("reason") == "you_left":
            return  # The partner counts it, if it is a bot.
        match event.type:
            case "matched" if self._counts(bot, event.partner["user_id"]):
                self.matches += 1
            case "outcome" if self._counts(bot, bot.partner_id):
                self.outcomes[event.outcome] += 1
            case "match_cancelled" if self._counts(bot, bot.partner_id):
                self.cancelled[event.reason] += 1
            case "date_started" if self._counts(bot, event.partner["user_id"]):
                self.dates += 1

    def voted(self, bot: Bot, match_id: str, vote: str) -> None:
        """Not counted: the outcome is."""

    def paired_after(self, bot: Bot, seconds: float) -> None:
        """Count a wait."""
        self._waits_s.append(seconds)

    def refused(self, bot: Bot, refusal: CommandRefused) -> None:
        """Count a refusal as an error."""
        self.failed(refusal.code, f"{bot.user_id}: {refusal}")

    def _counts(self, bot: Bot, partner_id: str) -> bool:
        return bot.user_id < partner_id or partner_id not in self.bots


def _reconnects_of(bot: Bot) -> int:
    return max(0, bot.client.welcomes - 1)
