"""What a store of offers owes (R41-R44). Another one is put under this suite by its factory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
import trio

from tests.domain.crowds import man, outputs_digest, woman
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes, Erasure, Match, MatchStatus, Outcome, Vote
from yoked_actor.domain.offers import (
    Answer,
    Answered,
    Connection,
    FrozenRun,
    KeptSet,
    OfferRules,
    OfferSet,
    RunProgress,
    StoredSet,
    Votes,
    make_run,
    verify,
)
from yoked_actor.domain.offers.frozen_pool import inputs_digest, pairs_by_first
from yoked_actor.domain.offers.offer_sets import offer_id
from yoked_actor.domain.people import WITHOUT_SECRET, Person
from yoked_actor.domain.time import Run, after
from yoked_actor.store import (
    AnswerGiven,
    NoSuchOffer,
    NoSuchRun,
    OfferExpired,
    RunPart,
    Store,
    UnreadableRun,
    WriteRefused,
    parts_of,
    prepare_set,
)
from yoked_actor.store.offers.parts import SETS_IN_A_PART

Opener = Callable[[], AbstractAsyncContextManager[Store]]
BERLIN, VIENNA = "Europe/Berlin", "Europe/Vienna"
DAY = date(2026, 3, 2)
NINE = 1_772_438_400_000_000
HOUR = 3600
RULES = OfferRules()


def runs(day: date) -> int:
    """When the offers of a day are made, where no clock is put forward or back."""
    return after(NINE, (day - DAY).days * 24 * HOUR)


async def freeze(store: Store, day: date = DAY, zone: str = BERLIN, **other: Any) -> FrozenRun:
    at = other.pop("at", runs(day))
    return await store.offers.freeze_pool(
        zone, day, at, after(at, 24 * HOUR), RULES, after(at, 1), **other
    )


async def offer(store: Store, day: date = DAY, zone: str = BERLIN) -> dict[str, OfferSet]:
    """Freeze, make and keep a whole run."""
    frozen = await freeze(store, day, zone)
    assert frozen.pool is not None
    made = make_run(frozen.pool, frozen.rules)
    await store.offers.store_sets(zone, list(made.values()), runs(day))
    return made


async def invite(store: Store, *people: Person) -> None:
    await store.commit(Changes(people=list(people)))


def names(frozen: FrozenRun) -> list[str]:
    assert frozen.pool is not None
    return [person.user_id for person in frozen.pool.people]


def receivers(frozen: FrozenRun) -> list[str]:
    assert frozen.pool is not None
    return [person.user_id for person in frozen.pool.people if person.receives]


def pairs(frozen: FrozenRun, packed: bytes) -> set[tuple[str, str]]:
    known = names(frozen)
    by_first = pairs_by_first(packed, len(known))
    return {(known[a], known[int(b)]) for a in range(len(known)) for b in by_first[a]}


async def test_a_pool_holds_the_people_of_the_zone_and_whoever_of_other_zones_is_near(open_again):
    near = man("near", time_zone=VIENNA)
    far = man("far", time_zone=VIENNA, lat=48.2, lon=16.37)
    distant = woman("distant", lat=-33.9, lon=151.2)
    async with open_again() as store:
        await invite(store, woman("ana"), near, far, distant)
        frozen = await freeze(store)
    assert names(frozen) == ["ana", "distant", "near"]
    assert receivers(frozen) == ["ana", "distant"]


async def test_a_neighbour_over_the_date_line_is_near(open_again):
    async with open_again() as store:
        await invite(
            store,
            woman("ana", lat=-17.8, lon=179.99),
            man("bob", lat=-17.8, lon=-179.99, time_zone=VIENNA),
        )
        assert names(await freeze(store)) == ["ana", "bob"]


async def test_votes_of_matches_with_an_outcome_are_counted_and_silence_is_no_vote(open_again):
    def voted(number: int, a_vote: Vote, b_vote: Vote, **other: Any) -> Match:
        fields: dict[str, Any] = {
            "status": MatchStatus.COMPLETED,
            "paired_at": NINE - 9,
            "closes_at": None,
            "outcome": Outcome.YES_PASS,
            "ended_at": NINE,
        }
        return Match(
            f"m{number}", "ana", "bob", a_vote=a_vote, b_vote=b_vote, **{**fields, **other}
        )

    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        matches = [
            voted(1, Vote.YES, Vote.PASS),
            voted(2, Vote.YES, Vote.IDLE),
            voted(3, Vote.PASS, Vote.YES),
            voted(4, Vote.YES, Vote.YES, ended_at=NINE + 1),
            voted(5, Vote.YES, Vote.YES, outcome=None, status=MatchStatus.CANCELLED),
        ]
        await store.commit(Changes(matches=matches))
        frozen = await freeze(store)
    assert frozen.pool is not None
    assert [person.votes for person in frozen.pool.people] == [Votes(2, 3, 1, 2), Votes(1, 2, 2, 3)]


@pytest.mark.parametrize("outcome", [Outcome.YES_IDLE, Outcome.PASS_IDLE, Outcome.IDLE_IDLE])
async def test_people_whose_only_votes_timed_out_have_counts_of_zero(open_again, outcome):
    vote = {Outcome.YES_IDLE: Vote.YES, Outcome.PASS_IDLE: Vote.PASS}.get(outcome)
    match = Match(
        "m1",
        "ana",
        "bob",
        MatchStatus.COMPLETED,
        NINE - 9,
        None,
        a_vote=vote,
        b_vote=None,
        outcome=outcome,
        ended_at=NINE,
    )
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        await store.commit(Changes(matches=[match]))
        await freeze(store)
        stored = await store.offers.load_run(BERLIN, DAY)
    assert stored is not None
    assert stored.pool is not None
    yes, voted = int(vote is Vote.YES), int(vote is not None)
    assert [person.votes for person in stored.pool.people] == [
        Votes(yes, voted, 0, 0),
        Votes(0, 0, yes, voted),
    ]


async def test_a_set_that_cannot_be_read_hides_no_other(open_again, raw):
    async with open_again() as store:
        await invite(store, woman("ana"), *(man(f"m{n}") for n in range(3)))
        await offer(store)
        raw[-1].execute("UPDATE offer_sets SET facts = 'nonsense' WHERE user_id = 'm1'")
        users = ["ana", "m0", "m1", "m2"]
        told = await store.offers.undelivered(users, NINE)
        assert [one.offers.user_id for one in told] == ["ana", "m0", "m2"]
        assert [one.user_id for one in await store.offers.unreadable_sets(BERLIN, DAY)] == ["m1"]


async def test_a_profile_that_cannot_be_read_keeps_nobody_else_from_their_set(open_again, raw):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"), man("cem"))
        raw[-1].execute("UPDATE people SET interests = 'nonsense' WHERE user_id = 'cem'")
        assert receivers(await freeze(store)) == ["ana", "bob"]
        faces = await store.offers.faces([("ana", "bob"), ("ana", "cem")], NINE)
        assert sorted(faces.people) == ["ana", "bob"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE offer_pools SET content = substr(content, 3)",
        "UPDATE offer_pools SET content = substr(content, 1, 20)",
        "UPDATE offer_runs SET rules = 'nonsense'",
        'UPDATE offer_runs SET rules = replace(rules, \'"scoring":"v2"\', \'"scoring":"v99"\')',
    ],
)
async def test_a_run_that_cannot_be_read_says_so_until_it_is_frozen_again(open_again, raw, damage):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"), man("cem"))
        first = await freeze(store)
        assert first.pool is not None
        made = make_run(first.pool, first.rules)
        await store.offers.store_sets(BERLIN, [made["ana"]], NINE, first.inputs)
        raw[-1].execute(damage)
        with pytest.raises(UnreadableRun, match="refreeze 2026-03-02 Europe/Berlin"):
            await store.offers.load_run(BERLIN, DAY)
        again = await store.offers.refreeze(BERLIN, DAY, RULES, NINE + 5, None, lambda _: [])
        assert receivers(again) == ["bob", "cem"]
        assert await store.offers.load_run(BERLIN, DAY) == again
        assert (again.refrozen, again.inputs != first.inputs) == (1, True)
        with pytest.raises(NoSuchRun):
            await store.offers.refreeze(VIENNA, DAY, RULES, NINE + 5, None, lambda _: [])


async def test_the_blocked_the_met_and_the_connected_are_kept_apart(open_again, raw):
    async with open_again() as store:
        await invite(store, woman("ana"), man("ben"), man("bob"), man("carl"), man("dan"))
        await store.commit(
            Changes(blocks=[(("bob", "ana"), NINE)], met=[(("ana", "carl"), NINE - 10)])
        )
        raw[-1].execute("INSERT INTO connections (a, b, opened_at) VALUES ('ana', 'dan', 1)")
        frozen = await freeze(store)
        assert frozen.pool is not None
        apart = {("ana", "bob"), ("ana", "carl"), ("ana", "dan")}
        assert pairs(frozen, frozen.pool.apart) == apart | {(b, a) for a, b in apart}
        made = make_run(frozen.pool, RULES)
        assert [offer.candidate for offer in made["ana"].offers] == ["ben"]
        again = await freeze(store, DAY + timedelta(days=1), rematch_after_days=1.0)
        assert again.pool is not None
        assert ("ana", "carl") not in pairs(again, again.pool.apart)


async def test_a_user_who_was_offered_is_not_offered_again_for_thirty_days(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        first = await offer(store)
        assert [offer.candidate for offer in first["ana"].offers] == ["bob"]
        on_day_30 = await offer(store, DAY + timedelta(days=30))
        assert on_day_30["ana"].offers == ()
        on_day_31 = await offer(store, DAY + timedelta(days=31))
        assert [offer.candidate for offer in on_day_31["ana"].offers] == ["bob"]


async def test_what_was_frozen_first_stands(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        first = await freeze(store)
        await invite(store, man("carl"))
        second = await freeze(store)
        assert second == first
        assert first.pool is not None
        assert first.inputs == inputs_digest(first.pool, first.rules)


async def test_two_who_freeze_at_once_get_the_same(open_again):
    found = []

    async def one(store: Store) -> None:
        found.append(await freeze(store))

    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(one, store)
    assert len(found) == 4
    assert all(frozen == found[0] for frozen in found)


async def test_a_stored_set_comes_back_as_it_was_made(open_again):
    async with open_again() as store:
        await invite(store, woman("ana", interests=("jazz", "añil")), man("bob"), man("carl"))
        made = await offer(store)
        kept = await store.offers.load_set("ana", DAY)
        assert kept is not None
        assert kept.offers == made["ana"]
        assert kept.digest == made["ana"].digest()
        assert kept.answers == (None, None)
        assert await store.offers.load_set("ana", DAY + timedelta(days=1)) is None
        assert [one.offers for one in await store.offers.load_zone(BERLIN, DAY)] == [*made.values()]


async def test_the_first_set_of_a_user_and_day_stands_whatever_the_zone(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        made = await offer(store)
        other = msgspec.structs.replace(
            made["ana"], offers=(), offered_at=after(NINE, 13 * HOUR), scoring="v1"
        )
        assert await store.offers.store_sets(VIENNA, [other], NINE) == []
        assert await store.offers.store_sets(BERLIN, [made["ana"]], NINE) == []
        kept = await store.offers.load_set("ana", DAY)
        assert kept is not None
        assert kept.offers == made["ana"]
        assert kept.zone == BERLIN


@pytest.mark.parametrize(("hours", "stored"), [(11.99, []), (12, ["ana"]), (-11.99, [])])
async def test_no_set_is_stored_within_twelve_hours_of_another(open_again, hours, stored):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        made = await offer(store)
        day = DAY + timedelta(days=1 if hours > 0 else -1)
        other = msgspec.structs.replace(made["ana"], day=day, offered_at=after(NINE, hours * HOUR))
        assert await store.offers.store_sets(VIENNA, [other], NINE) == stored


async def test_a_user_with_a_set_of_that_date_or_a_recent_one_does_not_receive_another(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        await offer(store)
        await invite(store, woman("ana", time_zone=VIENNA), man("bob", time_zone=VIENNA))
        again = await freeze(store, DAY, VIENNA, at=after(NINE, 20 * HOUR))
        assert receivers(again) == []
        soon = await freeze(store, DAY + timedelta(days=1), VIENNA, at=after(NINE, 11 * HOUR))
        assert receivers(soon) == []
        later = await freeze(store, DAY + timedelta(days=2), VIENNA)
        assert receivers(later) == ["ana", "bob"]


async def pair(store: Store, day: date = DAY) -> tuple[str, str]:
    """Offer two people to each other; the ids of both offers."""
    await invite(store, woman("ana"), man("bob"))
    await offer(store, day)
    return offer_id(day, "ana", "bob"), offer_id(day, "bob", "ana")


async def test_two_accepts_of_each_other_open_one_connection(open_again):
    async with open_again() as store:
        hers, his = await pair(store)
        first = await store.offers.answer("ana", hers, Answer.ACCEPT, NINE + 1)
        assert first == Answered("bob", None, opened=False)
        second = await store.offers.answer("bob", his, Answer.ACCEPT, NINE + 2)
        assert second == Answered("ana", Connection("c1", "ana", NINE + 2), opened=True)
        again = await store.offers.answer("ana", hers, Answer.ACCEPT, NINE + 3)
        assert again == Answered("bob", Connection("c1", "bob", NINE + 2), opened=False)
        assert await store.offers.connections("ana") == [Connection("c1", "bob", NINE + 2)]
        assert await store.offers.connections("bob") == [Connection("c1", "ana", NINE + 2)]
        assert await store.offers.newest_connection() == 1
        assert await store.offers.connections_after(0, at_most=9) == [
            ("ana", Connection("c1", "bob", NINE + 2))
        ]
        assert await store.offers.connections_after(1, at_most=9) == []
        assert await store.offers.connections_after(0, at_most=0) == []
        kept = await store.offers.load_set("ana", DAY)
        assert kept is not None
        assert kept.answers == (Answer.ACCEPT,)


async def test_an_accept_stands_for_days_and_a_later_decline_takes_it_back(open_again):
    async with open_again() as store:
        hers, _ = await pair(store)
        await store.offers.answer("ana", hers, Answer.ACCEPT, NINE + 1)
        later = DAY + timedelta(days=31)
        frozen = await freeze(store, later)
        assert frozen.pool is not None
        assert pairs(frozen, frozen.pool.accepted) == {("ana", "bob")}
        await offer(store, later)
        hers, his = offer_id(later, "ana", "bob"), offer_id(later, "bob", "ana")
        await store.offers.answer("ana", hers, Answer.DECLINE, runs(later) + 1)
        answered = await store.offers.answer("bob", his, Answer.ACCEPT, runs(later) + 2)
        assert answered.connection is None


async def test_a_block_keeps_a_connection_from_opening(open_again):
    async with open_again() as store:
        hers, his = await pair(store)
        await store.offers.answer("ana", hers, Answer.ACCEPT, NINE + 1)
        await store.commit(Changes(blocks=[(("ana", "bob"), NINE + 2)]))
        answered = await store.offers.answer("bob", his, Answer.ACCEPT, NINE + 3)
        assert answered == Answered("ana", None, opened=False)
        assert await store.offers.connections("bob") == []


async def test_the_first_answer_is_final_and_its_repeat_is_welcome_even_after_expiry(open_again):
    async with open_again() as store:
        hers, _ = await pair(store)
        taken = await store.offers.answer("ana", hers, Answer.DECLINE, NINE + 1)
        expired = after(NINE, 24 * HOUR)
        assert await store.offers.answer("ana", hers, Answer.DECLINE, expired) == taken
        with pytest.raises(AnswerGiven):
            await store.offers.answer("ana", hers, Answer.ACCEPT, NINE + 2)


async def test_an_expired_offer_is_not_answered(open_again):
    async with open_again() as store:
        hers, his = await pair(store)
        with pytest.raises(OfferExpired):
            await store.offers.answer("ana", hers, Answer.ACCEPT, after(NINE, 24 * HOUR))
        await store.offers.answer("bob", his, Answer.ACCEPT, after(NINE, 24 * HOUR) - 1)
        kept = await store.offers.load_set("ana", DAY)
        assert kept is not None
        assert kept.answers == (None,)


async def test_an_offer_of_somebody_else_is_unknown(open_again):
    async with open_again() as store:
        hers, _ = await pair(store)
        for offered in (hers, "nonsense"):
            with pytest.raises(NoSuchOffer):
                await store.offers.answer("bob", offered, Answer.ACCEPT, NINE + 1)


async def test_the_first_delivery_is_remembered_and_all_are_counted(open_again):
    async with open_again() as store:
        await pair(store)
        await store.offers.record_delivery("ana", DAY, NINE + 5)
        await store.offers.record_delivery("ana", DAY, NINE + 9)
        kept = await store.offers.load_set("ana", DAY)
        assert kept is not None
        assert (kept.delivered_at, kept.deliveries) == (NINE + 5, 2)


async def test_the_digest_of_a_pool_outlives_the_pool(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        frozen = await freeze(store)
        await store.offers.record_outputs(BERLIN, DAY, frozen.inputs, "first")
        await store.offers.record_outputs(BERLIN, DAY, frozen.inputs, "second")
        assert await store.offers.drop_pools(DAY) == 0
        assert await store.offers.drop_pools(DAY + timedelta(days=1)) == 1
        left = await store.offers.load_run(BERLIN, DAY)
        assert left == FrozenRun(DAY, BERLIN, RULES, frozen.inputs, "first", None)
        assert await store.offers.load_run(VIENNA, DAY) is None


async def share(store: Store, users: int = 3) -> FrozenRun:
    """Freeze a run and store its sets in parts."""
    await invite(store, woman("ana"), *(man(f"m{n:04}") for n in range(users)))
    frozen = await freeze(store)
    assert frozen.pool is not None
    made = make_run(frozen.pool, frozen.rules)
    sets = [prepare_set(BERLIN, one, frozen.inputs) for one in made.values()]
    for part in parts_of(sets):
        assert await store.offers.keep_part(BERLIN, DAY, frozen.inputs, part)
    return frozen


async def test_the_part_of_a_run_in_which_a_user_is_can_be_read_alone(open_again):
    async with open_again() as store:
        frozen = await share(store, SETS_IN_A_PART + 20)
        assert frozen.pool is not None
        made = make_run(frozen.pool, frozen.rules)
        first, last = sorted(made)[0], sorted(made)[-1]
        parts = [await store.offers.load_part(BERLIN, DAY, one) for one in (first, last)]
        assert [len(part or ()) for part in parts] == [SETS_IN_A_PART, 21]
        assert {**(parts[0] or {}), **(parts[1] or {})} == {
            user_id: prepare_set(BERLIN, one, frozen.inputs) for user_id, one in made.items()
        }
        assert await store.offers.load_part(VIENNA, DAY, first) is None
        assert await store.offers.load_part(BERLIN, DAY, "") is None


async def test_parts_of_a_run_go_with_its_pool(open_again):
    async with open_again() as store:
        frozen = await share(store)
        await store.offers.drop_parts(VIENNA, DAY)
        assert await store.offers.load_part(BERLIN, DAY, "ana")
        again = await store.offers.refreeze(BERLIN, DAY, RULES, NINE + 9, None, lambda _: [])
        assert await store.offers.load_part(BERLIN, DAY, "ana") is None
        part = RunPart("ana", b"")
        if again.inputs != frozen.inputs:
            assert not await store.offers.keep_part(BERLIN, DAY, frozen.inputs, part)
        assert await store.offers.keep_part(BERLIN, DAY, again.inputs, part)
        assert await store.offers.load_part(BERLIN, DAY, "ana") is None  # it cannot be decoded
        await store.offers.drop_parts(BERLIN, DAY)
        await store.offers.drop_pools(DAY + timedelta(days=1))
        assert not await store.offers.keep_part(BERLIN, DAY, again.inputs, part)


async def test_parts_of_a_run_go_when_a_user_of_it_is_erased(open_again):
    async with open_again() as store:
        frozen = await share(store)
        await store.commit(Changes(erased=[Erasure("m0001", "~erased-1", NINE + 2)]))
        assert await store.offers.load_part(BERLIN, DAY, "ana") is None
        part = RunPart("ana", b"")
        assert not await store.offers.keep_part(BERLIN, DAY, frozen.inputs, part)


async def test_a_tampered_set_is_found_after_all_this_storing(open_again, raw):
    async with open_again() as store:
        await invite(store, woman("ana"), *(man(f"m{n}") for n in range(4)))
        made = await offer(store)
        frozen = await store.offers.load_run(BERLIN, DAY)
        assert frozen is not None
        assert frozen.pool is not None

        async def findings() -> list[str]:
            kept: list[KeptSet] = await store.offers.load_zone(BERLIN, DAY)
            stored = {one.offers.user_id: StoredSet(one.offers, one.digest) for one in kept}
            assert frozen.pool is not None
            found = verify(frozen.pool, frozen.rules, frozen.inputs, stored)
            return sorted({finding.user_id for finding in found})

        assert await findings() == []
        assert outputs_digest(make_run(frozen.pool, RULES)) == outputs_digest(made)
        raw[-1].execute(
            "UPDATE offer_sets SET facts = replace(facts, '[[', '[[1') WHERE user_id = 'm2'"
        )
        assert await findings() == ["m2"]


async def test_sets_that_nobody_was_told_of_are_found_until_they_expire(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"), man("carl"))
        await offer(store)
        two = ["ana", "bob", "nobody"]

        async def found(at: int) -> list[str]:
            return [kept.offers.user_id for kept in await store.offers.undelivered(two, at)]

        assert await found(NINE) == ["ana", "bob"]
        [kept, _] = await store.offers.undelivered(two, NINE)
        assert kept == await store.offers.load_set("ana", DAY)
        assert await found(after(NINE, 24 * HOUR) - 1) == ["ana", "bob"]
        assert await found(after(NINE, 24 * HOUR)) == []
        await store.offers.record_deliveries([("ana", DAY), ("nobody", DAY)], after(NINE, 1))
        await store.offers.record_deliveries([("ana", DAY)], after(NINE, 2))
        assert await found(NINE) == ["bob"]
        told = await store.offers.load_set("ana", DAY)
        assert told is not None
        assert (told.delivered_at, told.deliveries) == (after(NINE, 1), 2)


async def test_faces_are_those_with_a_profile_and_without_a_block_of_either_side(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"), man("carl"))
        await store.commit(Changes(blocks=[(("carl", "ana"), NINE)]))
        faces = await store.offers.faces(
            [("ana", "bob"), ("ana", "carl"), ("carl", "ana"), ("ana", "gone")], NINE
        )
    card = faces.of("ana", "bob", WITHOUT_SECRET, NINE)
    assert card is not None
    assert card.user_id == "bob"
    assert faces.of("ana", "carl", WITHOUT_SECRET, NINE) is None
    assert faces.of("carl", "ana", WITHOUT_SECRET, NINE) is None
    assert faces.of("ana", "gone", WITHOUT_SECRET, NINE) is None
    assert [faces.may_see("ana", other) for other in ("bob", "carl", "gone")] == [
        True,
        False,
        False,
    ]


async def test_a_suspended_user_has_no_face_until_the_suspension_ends(open_again):
    pair = [("ana", "bob")]
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        await store.operators.suspend("bob", "root", "rude", NINE, after(NINE, 10))
        for seconds, is_seen in ((0, False), (9.999999, False), (10, True)):
            faces = await store.offers.faces(pair, after(NINE, seconds))
            assert faces.may_see("ana", "bob") is is_seen


async def test_a_preview_is_what_would_be_frozen_and_is_not_kept(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        shown = await store.offers.preview_pool(BERLIN, DAY, NINE, after(NINE, 24 * HOUR), RULES)
        assert await store.offers.load_run(BERLIN, DAY) is None
        assert await store.offers.load_version(BERLIN, DAY) is None
        assert (await freeze(store)).pool == shown.pool


async def test_frozen_runs_are_listed_and_each_freezing_has_a_version(open_again):
    tomorrow = DAY + timedelta(days=1)
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        first = await freeze(store)
        await freeze(store, tomorrow)
        await freeze(store, DAY, VIENNA)
        everything = [(BERLIN, tomorrow), (BERLIN, DAY), (VIENNA, DAY)]
        assert await store.offers.run_days(None, None) == everything
        assert await store.offers.run_days(BERLIN, None) == everything[:2]
        assert await store.offers.run_days(None, DAY) == everything[1:]
        assert await store.offers.load_version(BERLIN, DAY) == first.version
        again = await store.offers.refreeze(BERLIN, DAY, RULES, NINE + 5, None, lambda _: [])
        assert again.version != first.version
        assert await store.offers.load_version(BERLIN, DAY) == again.version


async def test_a_run_that_lost_its_pool_to_an_erasure_is_frozen_again(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"), man("carl"))
        first = await freeze(store)
        await store.commit(Changes(erased=[Erasure("bob", "~erased-1", after(NINE, 5))]))
        dropped = await store.offers.load_run(BERLIN, DAY)
        assert dropped is not None
        assert dropped.is_to_be_frozen_again
        again = await store.offers.freeze_again(BERLIN, DAY)
        assert names(again) == ["ana", "carl"]
        assert (again.rules, again.erased) == (first.rules, 1)


async def test_the_progress_of_a_run_is_read_from_its_jobs_and_sets(open_again):
    async with open_again() as store:
        assert await store.offers.progress(BERLIN, DAY) is None
        await invite(store, woman("ana"), man("bob"))
        [run_job] = await store.jobs.enqueue([NewJob("offers.zone_run", {}, NINE)], NINE)
        run = Run(BERLIN, DAY, NINE)
        await store.calendar.transact(lambda table: table.start([run], [run_job.job_id], NINE))
        assert await store.offers.progress(BERLIN, DAY) == RunProgress(False, None, 0, 1, 0)
        await offer(store)
        payload = {"zone": BERLIN, "date": DAY.isoformat()}
        await store.jobs.enqueue([NewJob("offers.user", payload, NINE)], NINE)
        assert await store.offers.progress(BERLIN, DAY) == RunProgress(False, 2, 2, 2, 0)


async def test_a_users_sets_are_read_newest_first(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        for days in range(3):
            await offer(store, DAY + timedelta(days=days))
        found = await store.offers.load_sets("ana", 2)
        assert [one.offers.day - DAY for one in found] == [timedelta(days=2), timedelta(days=1)]


async def test_offers_that_repeat_one_too_soon_are_counted(open_again):
    tomorrow = DAY + timedelta(days=1)
    async with open_again() as store:
        await invite(store, woman("ana"), man("bob"))
        made = await offer(store)
        assert await store.offers.count_doubled(BERLIN, DAY) == 0
        assert await store.offers.count_doubled(BERLIN, tomorrow) == 0
        await freeze(store, tomorrow)
        again = msgspec.structs.replace(made["ana"], day=tomorrow, offered_at=runs(tomorrow))
        await store.offers.store_sets(BERLIN, [again], runs(tomorrow))
        assert await store.offers.count_doubled(BERLIN, tomorrow) == 1


async def test_nobody_gives_way_to_a_transaction_that_is_over(open_again):
    async with open_again() as store:
        assert store.offers.no_transaction.is_set()
        await store.offers.drop_pools(DAY)
        await store.offers.drop_parts(BERLIN, DAY)
        assert store.offers.no_transaction.is_set()


@pytest.mark.parametrize("damaged", ["[", "7", "[7]", "[null]", '{"a": "m9"}', ""])
async def test_a_damaged_set_hides_no_other_and_stops_no_later_morning(open_again, raw, damaged):
    async with open_again() as store:
        await invite(store, woman("ana"), *(man(f"m{n}") for n in range(3)))
        await offer(store)
        damage = f"UPDATE offer_sets SET candidates = '{damaged}' WHERE user_id = 'm1'"
        raw[-1].execute(damage)
        told = await store.offers.undelivered(["ana", "m0", "m1", "m2"], NINE)
        assert [one.offers.user_id for one in told] == ["ana", "m0", "m2"]
        assert [one.user_id for one in await store.offers.unreadable_sets(BERLIN, DAY)] == ["m1"]
        assert await store.offers.count_doubled(BERLIN, DAY) == 0
        frozen = await freeze(store, DAY + timedelta(days=1))
        assert receivers(frozen) == ["ana", "m0", "m1", "m2"]
        [(rows,)] = (
            raw[-1]
            .execute(
                "SELECT count(*) FROM offers WHERE user_id IN ('m0', 'm2') AND candidate = 'ana'"
            )
            .fetchall()
        )
        assert rows == 2


async def test_nobody_can_be_stored_as_their_own_candidate(open_again):
    async with open_again() as store:
        await invite(store, woman("ana"), man("m1"), man("m2"))
        frozen = await freeze(store)
        assert frozen.pool is not None
        made = make_run(frozen.pool, frozen.rules)["ana"]
        first, *others = made.offers
        herself = msgspec.structs.replace(first, candidate="ana")
        forged = msgspec.structs.replace(made, offers=(herself, *others))
        with pytest.raises(WriteRefused):
            await store.offers.store_sets(BERLIN, [forged], NINE)
        assert await store.offers.load_set("ana", DAY) is None
