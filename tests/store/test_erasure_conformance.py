"""An erasure leaves nothing of a user in any column of any table, on either engine."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest

from tests.domain.crowds import man, woman
from tests.store.conftest import Opener
from tests.store.test_contacts_conformance import WINDOW
from tests.store.test_offers_conformance import BERLIN, DAY, NINE, freeze, offer
from yoked_actor.domain.contacts import Touch
from yoked_actor.domain.jobs import NewJob, Pause, Progress, ReceiverAnswer, RetryPolicy, user_part
from yoked_actor.domain.lobby import (
    Changes,
    Erasure,
    Match,
    MatchStatus,
    Outcome,
    Seat,
    State,
    VideoDate,
)
from yoked_actor.domain.offers import Answer, make_run
from yoked_actor.domain.people import Appeal, Report, ReportLimits
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import Store, Tx, parts_of, prepare_set
from yoked_actor.store.people.erasure import COLUMNS

ANA = "anastasia"
MANY = ReportLimits(99, 99)
SECOND = MICROSECONDS
POLICY = RetryPolicy(delays_s=())
PACKED = {"offer_pools.content", "offer_parts.content"}
_LISTS = {
    "sqlite": (
        "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
    ),
    "postgres": (
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public'"
    ),
}


def named_in(tx: Tx, engine: str, name: str) -> Iterator[str]:
    """The columns that contain a name; pools and parts are unpacked."""
    for table, column in tx.execute(_LISTS[engine]).fetchall():
        for (value,) in tx.execute(f'SELECT "{column}" FROM "{table}"').fetchall():
            if f"{table}.{column}" in PACKED:
                value = zlib.decompress(value)
            if name.encode() in (value if isinstance(value, bytes) else str(value).encode()):
                yield f"{table}.{column}"


async def meet(store: Store, number: int, now: int) -> None:
    """A match, a date, and what follows from them."""
    other = ("m0", "aaron")[number]
    a, b = sorted((ANA, other))
    match_id, date_id = f"m{number + 1}", f"d{number + 1}"
    match = Match(
        *(match_id, a, b, MatchStatus.COMPLETED, now, None),
        voting_at=now,
        ended_at=now,
        outcome=Outcome.BOTH_YES,
    )
    date = VideoDate(
        date_id,
        *((ANA, other) if number else (other, ANA)),
        now,
        now + 300 * SECOND,
        now + 99 * SECOND,
        "ended",
        match_id,
    )
    await store.commit(
        Changes(
            seats=[Seat(ANA), Seat(other)],
            matches=[match],
            dates=[date],
            met=[((a, b), now)],
            bars=[((a, b), now)],
            blocks=[((ANA, "zoe"), now), (("zed", ANA), now)],
        )
    )
    for user_id in (ANA, other):
        later = now + 100 * SECOND
        await store.contacts.stay_in_touch(user_id, date_id, Touch.YES, WINDOW, later)


async def be_reported(store: Store, now: int) -> None:
    """Reports, warnings, suspensions, and what operators say of all that."""
    await store.add_report(Report(ANA, "m0", f"{ANA} says", None, now), MANY)
    await store.add_report(Report("m0", ANA, f"about {ANA}", None, now), MANY)
    await store.add_report(Report("m1", "m0", "about others", None, now), MANY)
    for report in await store.operators.reports(only_open=True, limit=9, now=now):
        text = f"{ANA} knows" if ANA in (report.reporter, report.reported) else "seen"
        await store.operators.resolve(report.number, ANA, text, now)
    await store.moderation.warn(ANA, "root", f"dear {ANA}", now, most_unseen=9)
    await store.moderation.warn("m0", ANA, "be kind", now, most_unseen=9)
    await store.operators.suspend("zed", ANA, "rude", now)
    await store.operators.suspend(ANA, "root", "rude", now, now + 1)
    await store.add_appeal(Appeal(ANA, f"{ANA} is sorry", now), 0.0)
    await store.audit.record("root", "block", "m0", ANA, now)


async def have_jobs(store: Store, now: int) -> None:
    """Jobs about the user, and jobs of others that mention the user."""
    hers = {"user_id": ANA}
    await store.jobs.enqueue(
        [
            NewJob("mail", hers, now, key=f"{now}:{user_part(ANA)}"),
            NewJob("mail", {"n": now}, now),
        ],
        now,
    )
    for job in (await store.jobs.claim("w", now, 60, 9, {"mail": POLICY})).jobs:
        said = {job.id: Progress(1, 2, f"mail to {ANA}")}
        await store.jobs.extend([(job.id, job.fence)], now, 60, said)
        if job.key is not None:
            answer = ReceiverAnswer(500, ANA, f"who is {ANA}?")
            await store.jobs.keep_answer(job.id, job.fence, answer, now)
        await store.jobs.fail(job.id, job.fence, now, None, f"no mail for {ANA}")
        await store.jobs.dismiss(job.id, ANA, f"{ANA} knows", now)
    await store.jobs.pause(Pause(f"type-{now}", now, ANA, ""))


async def get_offers(store: Store) -> None:
    """A run with parts, and answers of both sides."""
    made = await offer(store)
    frozen = await freeze(store)
    assert frozen.pool is not None
    again = make_run(frozen.pool, frozen.rules)
    sets = [prepare_set(BERLIN, one, frozen.inputs) for one in again.values()]
    assert sets[1].user_id == ANA
    for part in (*parts_of(sets[:1]), *parts_of(sets[1:])):
        await store.offers.keep_part(BERLIN, DAY, frozen.inputs, part)
    for user_id in (ANA, "m0"):
        for offer_id in made[user_id].ids():
            await store.offers.answer(user_id, offer_id, Answer.ACCEPT, NINE + 1)


@pytest.mark.parametrize("searched", ["before", "between", "never"])
async def test_an_erasure_leaves_nothing_of_a_user_in_any_table(
    open_again: Opener, raw: list[Tx], request: pytest.FixtureRequest, searched: str
) -> None:
    engine = "postgres" if "postgres" in request.node.callspec.id else "sqlite"
    async with open_again() as store:
        people = [woman(ANA), woman("eva"), man("aaron"), *(man(f"m{n}") for n in range(3))]
        await store.commit(Changes(people=people, seats=[Seat(ANA, State.IDLE)]))
        if searched == "before":
            await store.privacy.look_up(ANA, NINE)
        await get_offers(store)
        raw[-1].execute("INSERT INTO room_guests (user_id, room) VALUES (?, 'x')", (ANA,))
        await meet(store, 0, NINE)
        await be_reported(store, NINE)
        await have_jobs(store, NINE)
        if searched == "between":
            await store.privacy.look_up(ANA, NINE)
        await meet(store, 1, NINE + SECOND)
        await be_reported(store, NINE + SECOND)
        await have_jobs(store, NINE + SECOND)
        named = set(named_in(raw[-1], engine, ANA))
        assert COLUMNS - named == set(), "the test forgets a column"
        erasure = Erasure(ANA, "~erased-1", NINE + 9 * SECOND)
        await store.commit(Changes(erased=[erasure]))
        assert set(named_in(raw[-1], engine, ANA)) == set()
        others = set(named_in(raw[-1], engine, "m0"))
        assert {"people.user_id", "matches.a", "offer_sets.user_id", "audit.subject"} <= others
