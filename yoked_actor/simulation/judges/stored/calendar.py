"""The calendar oracle: when each zone's morning is, and who must have a set by then.

Instants are found with the time zone database alone: by looking at what clocks on walls show.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache

import trio

from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime, to_datetime
from yoked_actor.simulation.judges.heard.accounts import Account, Ledger
from yoked_actor.simulation.judges.heard.limits import are_known, outside
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Morning, Tally
from yoked_actor.simulation.zones import zone_of

_HOUR = 3600 * MICROSECONDS
_DUE_AFTER = 3 * _HOUR
"""By then every set of a morning is stored, whatever went wrong at nine."""


@cache
def morning_of(zone: str, day: date, at: time) -> Instant | None:
    """The instant at which clocks of a zone first show a time on a day; None without that day.

    A time that clocks skip is shown an hour later, as by a clock that nobody has set.
    """
    place, wanted = zone_of(zone), datetime.combine(day, at)
    noon = datetime.combine(day, time(12), UTC)
    found: list[datetime] = []
    before: timedelta | None = None
    for quarter in range(-4 * 27, 4 * 27):
        moment = noon + timedelta(minutes=15 * quarter)
        local = moment.astimezone(place)
        if local.replace(tzinfo=None) == wanted:
            found.append(moment)
        if local.date() < day or (local.date() == day and local.time() < at):
            before = local.utcoffset()
    if found:
        return from_datetime(min(found))
    if before is None or not any(
        (noon + timedelta(hours=hour)).astimezone(place).date() == day for hour in range(-27, 27)
    ):
        return None
    return from_datetime((wanted - before).replace(tzinfo=UTC))


class CalendarOracle:
    """Checks the mornings that lie a few hours back."""

    def __init__(
        self,
        stage: Stage,
        ledger: Ledger,
        books: Books,
        bench: Bench,
        weather: Weather,
        tally: Tally,
    ) -> None:
        self._stage = stage
        self._ledger = ledger
        self._books = books
        self._bench = bench
        self._weather = weather
        self._tally = tally
        self._start_at = stage.wall.true()
        self._at = stage.settings.offers.time_of_day()
        self._judged: set[tuple[str, date]] = set()
        self.stepped: list[tuple[Instant, Instant]] = []
        """When the machine's clock was wrong, by true time."""

    def check(self) -> None:
        """Judge every morning that is due and was not judged before."""
        now = self._stage.wall.true()
        zones = sorted(
            {
                account.profile["time_zone"]
                for account in self._ledger.accounts.values()
                if account.profile is not None
            }
        )
        today = to_datetime(now).date()
        with self._books.open() as books:
            runs = {
                (zone, day): (scheduled_at, status)
                for zone, day, scheduled_at, status in books.execute(
                    "SELECT zone, local_date, scheduled_at, status FROM zone_runs"
                )
            }
            sets: dict[tuple[str, str], tuple[str, int, int, int]] = {
                (day, user_id): (zone, offered_at, expires_at, stored_at)
                for day, user_id, zone, offered_at, expires_at, stored_at in books.execute(
                    "SELECT day, user_id, zone, offered_at, expires_at, stored_at FROM offer_sets"
                )
            }
            counts: dict[str, int] = dict(
                books.execute("SELECT day || user_id, count(*) FROM offers GROUP BY 1")
            )
            offered: set[tuple[str, str, str, str]] = set(
                books.execute(
                    "SELECT s.zone, o.day, o.candidate, o.user_id FROM offers AS o"
                    " JOIN offer_sets AS s ON s.day = o.day AND s.user_id = o.user_id"
                )
            )
        self._check_instants(runs, sets)
        for zone in zones:
            for back in range(4):
                day = today - timedelta(days=back - 1)
                due_at = morning_of(zone, day, self._at)
                if due_at is None or not self._start_at + _HOUR < due_at < now - _DUE_AFTER:
                    continue
                if (zone, day) not in self._judged:
                    self._judged.add((zone, day))
                    self._judge(zone, day, due_at, sets, counts)
                    shown = {one[2:] for one in offered if one[:2] == (zone, day.isoformat())}
                    self._judge_suspended(zone, day, due_at, sets, {one for one, _ in shown})
                    self._judge_limits(day, due_at, shown)

    def _judge(
        self,
        zone: str,
        day: date,
        due_at: Instant,
        sets: dict[tuple[str, str], tuple[str, int, int, int]],
        counts: dict[str, int],
    ) -> None:
        due_s = self._to_trio(due_at)
        made = offers = 0
        late_s = 0.0
        for account in self._ledger.accounts.values():
            kept = sets.get((day.isoformat(), account.user_id))
            if kept is not None and kept[0] == zone:
                made += 1
                offers += counts.get(f"{day.isoformat()}{account.user_id}", 0)
                late_s = max(late_s, (kept[3] - kept[1]) / MICROSECONDS)
            if not self._must_receive(account, zone, due_s):
                continue
            self._bench.count("morning")
            if kept is None and not self._has_one_near(account.user_id, due_at, sets):
                text = f"{account.user_id} has no set of {day} in {zone}"
                self._bench.report("no_set", text, account.user_id)
        self._tally.mornings.append(Morning(zone, day.isoformat(), due_at, made, offers, late_s))

    def _judge_suspended(
        self,
        zone: str,
        day: date,
        due_at: Instant,
        sets: dict[tuple[str, str], tuple[str, int, int, int]],
        offered: set[str],
    ) -> None:
        """A person who was suspended before the morning and still is has no set, and is in none."""
        due_s, text = self._to_trio(due_at), day.isoformat()
        for account in self._ledger.accounts.values():
            since_s, me = account.suspended_s, account.user_id
            if since_s is None or account.suspension_unsure or since_s > due_s - 3700:
                continue
            self._bench.count("suspended_morning")
            kept = sets.get((text, me))
            if kept is not None and kept[0] == zone:
                self._bench.report("suspended_set", f"{me} is suspended and has a set of {day}", me)
            if me in offered:
                self._bench.report("suspended_set", f"{me} is suspended and offered on {day}", me)

    def _judge_limits(self, day: date, due_at: Instant, shown: set[tuple[str, str]]) -> None:
        """Nobody is offered outside a strict limit, of the receiver or of the candidate."""
        due_s, days = self._to_trio(due_at), [to_datetime(due_at).date(), day]
        for candidate, receiver in sorted(shown):
            a, b = (self._ledger.accounts.get(one) for one in (receiver, candidate))
            if a is None or b is None or not are_known(a, b, due_s - 3700):
                continue
            self._bench.count("strict_offers")
            problem = outside(a, b, days) or outside(b, a, days)
            if problem is not None:
                text = f"{problem}, and {candidate} is offered to {receiver} on {day}"
                self._bench.report("strict_offers", text, receiver, candidate)

    def _must_receive(self, account: Account, zone: str, due_s: float) -> bool:
        """Whether a person certainly lived in the zone at its morning, and was allowed a set."""
        return (
            account.profile is not None
            and not account.profile_unsure
            and account.profile["time_zone"] == zone
            and account.zone_s < due_s - 3700
            and not account.erasing
            and account.suspended_s is None
            and not account.suspension_unsure
            and account.freed_s < due_s - 3700
        )

    def _has_one_near(
        self,
        user_id: str,
        due_at: Instant,
        sets: dict[tuple[str, str], tuple[str, int, int, int]],
    ) -> bool:
        return any(
            who == user_id and abs(kept[1] - due_at) < 12 * _HOUR for (_, who), kept in sets.items()
        )

    def _check_instants(
        self,
        runs: dict[tuple[str, str], tuple[int, str]],
        sets: dict[tuple[str, str], tuple[str, int, int, int]],
    ) -> None:
        """Every run is planned for the right instant, and its sets end with the next morning."""
        for (zone, text), (scheduled_at, status) in runs.items():
            expected = morning_of(zone, date.fromisoformat(text), self._at)
            self._bench.count("instants")
            if scheduled_at != expected:
                when = to_datetime(scheduled_at).isoformat()
                right = None if expected is None else to_datetime(expected).isoformat()
                self._bench.report("calendar", f"{zone} {text}: {when}, not {right} ({status})")
            if status == "missed" and not self._was_wrong_near(scheduled_at):
                if scheduled_at > self._start_at + _HOUR:
                    self._bench.report("missed_morning", f"the run of {zone} on {text} was missed")
        for (text, user_id), (zone, offered_at, expires_at, _) in sets.items():
            day = date.fromisoformat(text)
            expected = morning_of(zone, day, self._at)
            after = morning_of(zone, day + timedelta(days=1), self._at)
            if offered_at != expected or (after is not None and expires_at != after):
                problem = f"the set of {user_id} of {text} is of {offered_at} to {expires_at}"
                self._bench.report("calendar", f"{problem}, not {expected} to {after}", user_id)

    def _was_wrong_near(self, at: Instant) -> bool:
        return any(start - 26 * _HOUR < at < end + 26 * _HOUR for start, end in self.stepped)

    def _to_trio(self, at: Instant) -> float:
        """An instant of true time on trio's clock, about: suspensions make it later."""
        return trio.current_time() - (self._stage.wall.true() - at) / MICROSECONDS
