"""What every store owes. Another database is put under this suite by adding its factory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date

import msgspec
import pytest

from yoked_actor.domain.lobby import (
    CancelReason,
    Changes,
    Known,
    Match,
    MatchStatus,
    Outcome,
    Quality,
    Seat,
    State,
    VideoDate,
    Vote,
)
from yoked_actor.domain.matching import GroupQuality, Percentiles, QualityReport, Tier
from yoked_actor.domain.people import Person, Report, ReportLimits
from yoked_actor.store import (
    InlineRunner,
    Store,
    StoreError,
    WriteRefused,
    open_store,
)

Opener = Callable[[], AbstractAsyncContextManager[Store]]
NOW = 1_767_254_400_000_001


ANA = Person(
    user_id="ana",
    display_name='Ana "Añ" \U0001f600 \x01 \\',
    birth_date=date(1998, 4, 2),
    gender="woman",
    lat=52.520000000000003,
    lon=-0.1 - 0.2,
    time_zone="Europe/Berlin",
    interests=("jazz", "climbing", "jazz"),
    seeking=frozenset({"man", "nonbinary"}),
    min_age=24,
    max_age=36,
    max_distance_km=49.99999999999999,
    strict=frozenset({"age", "distance"}),
)
ENDED = Match(
    match_id="m7",
    a="ana",
    b="bob",
    status=MatchStatus.COMPLETED,
    paired_at=NOW,
    closes_at=NOW + 1,
    a_acknowledged=True,
    b_acknowledged=False,
    voting_at=NOW + 2,
    a_vote=Vote.YES,
    b_vote=Vote.PASS,
    outcome=Outcome.YES_PASS,
    cancelled_for=CancelReason.NOT_ACKNOWLEDGED,
    ended_at=NOW + 3,
)
OPEN = Match("m8", "ana", "bob", MatchStatus.VOTING, NOW, NOW + 9, True, True, NOW + 1, Vote.YES)


def seated(user_id: str, match: Match) -> Seat:
    return Seat(user_id, State(match.status), NOW, 10, match.match_id)


async def test_a_profile_comes_back_to_the_last_bit(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.load_person("ana") is None
        await store.commit(Changes(people=[ANA]))
        assert await store.load_person("ana") == ANA
        assert (await store.load_user("ana")).person == ANA


async def test_a_nul_comes_back_or_the_symbol_for_it(
    open_again: Opener, request: pytest.FixtureRequest
) -> None:
    name = "Ana \0"
    async with open_again() as store:
        await store.commit(Changes(people=[msgspec.structs.replace(ANA, display_name=name)]))
        found = await store.load_person("ana")
    assert found is not None
    is_postgres = "postgres" in request.node.callspec.id
    assert found.display_name == ("Ana \u2400" if is_postgres else name)


@pytest.mark.parametrize("text", ["0.1", "52.37021569999999", "-179.99999999999997", "5e-324"])
async def test_positions_are_not_rounded(open_again: Opener, text: str) -> None:
    person = msgspec.structs.replace(ANA, lat=float(text))
    async with open_again() as store:
        await store.commit(Changes(people=[person]))
        loaded = await store.load_person("ana")
    assert loaded is not None
    assert loaded.lat.hex() == person.lat.hex()


async def test_every_field_of_a_seat_comes_back(open_again: Opener) -> None:
    seat = Seat("ana", State.MATCHED, NOW, 50, "m8", "d3", "m7")
    async with open_again() as store:
        await store.commit(Changes(seats=[seat]))
        assert (await store.load_user("ana")).seat == seat


async def test_every_field_of_a_match_comes_back(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(Changes(matches=[ENDED], seats=[Seat("ana", last_match_id="m7")]))
        assert (await store.load_user("ana")).last_match == ENDED


@pytest.mark.parametrize("vote", list(Vote))
@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("reason", list(CancelReason))
async def test_every_ending_of_a_match_comes_back(
    vote: Vote, outcome: Outcome, reason: CancelReason
) -> None:
    match = msgspec.structs.replace(ENDED, a_vote=vote, outcome=outcome, cancelled_for=reason)
    async with open_store(None, runner=InlineRunner()) as store:
        await store.commit(Changes(matches=[match], seats=[Seat("ana", last_match_id="m7")]))
        assert (await store.load_user("ana")).last_match == match


async def test_a_user_who_is_awaited_is_forgotten(open_again: Opener) -> None:
    awaited = msgspec.structs.replace(OPEN, awaiting=frozenset({"ana"}), closes_at=None)
    async with open_again() as store:
        await store.commit(Changes(matches=[awaited]))
        assert (await store.recover()).matches == [
            msgspec.structs.replace(awaited, awaiting=frozenset())
        ]


async def test_every_field_of_a_date_comes_back(open_again: Opener) -> None:
    video_date = VideoDate("d4", "bob", "ana", NOW, NOW + 300)
    async with open_again() as store:
        await store.commit(Changes(dates=[video_date]))
        assert (await store.recover()).dates == [video_date]


async def test_a_later_value_takes_the_place_of_the_earlier(open_again: Opener) -> None:
    moved = msgspec.structs.replace(ANA, lat=1.5, interests=())
    seat = Seat("ana", State.WAITING, NOW)
    ended_date = VideoDate("d4", "ana", "bob", NOW, NOW + 300, NOW + 5, "ended")
    async with open_again() as store:
        await store.commit(
            Changes(
                people=[ANA],
                seats=[seated("ana", OPEN)],
                matches=[OPEN],
                dates=[msgspec.structs.replace(ended_date, ended_at=None, ended_for=None)],
                met=[(("ana", "bob"), NOW)],
                bars=[(("ana", "bob"), NOW)],
                blocks=[(("ana", "bob"), NOW)],
            )
        )
        await store.commit(
            Changes(
                people=[moved],
                seats=[seat],
                matches=[msgspec.structs.replace(OPEN, ended_at=NOW + 4)],
                dates=[ended_date],
                met=[(("ana", "bob"), NOW + 1)],
                bars=[(("ana", "bob"), NOW + 2)],
                blocks=[(("ana", "bob"), NOW + 3)],
            )
        )
        assert await store.load_user("ana") == Known(
            "ana", moved, seat, {"bob": NOW + 3}, {"bob": NOW + 1}, {"bob": NOW + 2}
        )
        recovered = await store.recover()
    assert recovered.matches == []
    assert recovered.dates == []


async def test_of_two_values_in_one_commit_the_later_stands(open_again: Opener) -> None:
    pair = ("ana", "bob")
    async with open_again() as store:
        await store.commit(
            Changes(
                seats=[Seat("ana", credit=1), Seat("ana", credit=2)],
                met=[(pair, NOW), (pair, None)],
                bars=[(pair, None), (pair, NOW)],
            )
        )
        known = await store.load_user("ana")
    assert known == Known("ana", None, Seat("ana", credit=2), bars={"bob": NOW})


async def test_what_is_taken_back_is_gone_and_the_rest_stays(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(
            Changes(
                met=[(("ana", "bob"), 1), (("ana", "cy"), 2)],
                bars=[(("ana", "bob"), 3), (("ana", "cy"), 4)],
                blocks=[(("ana", "bob"), 5), (("ana", "cy"), 6), (("bob", "ana"), 7)],
            )
        )
        await store.commit(
            Changes(
                met=[(("ana", "bob"), None)],
                bars=[(("ana", "bob"), None), (("ana", "nobody"), None)],
                blocks=[(("ana", "bob"), None)],
            )
        )
        known = await store.load_user("ana")
        assert (known.met, known.bars, known.blocks) == ({"cy": 2}, {"cy": 4}, {"cy": 6})
        assert (await store.load_user("bob")).blocks == {"ana": 7}


async def test_pairs_belong_to_both_and_a_block_to_the_one_who_blocks(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(
            Changes(
                met=[(("ana", "bob"), 1), (("bob", "cy"), 2)],
                bars=[(("ana", "bob"), 3), (("bob", "cy"), 4)],
                blocks=[(("bob", "ana"), 5)],
            )
        )
        assert await store.load_user("bob") == Known(
            "bob", None, None, {"ana": 5}, {"ana": 1, "cy": 2}, {"ana": 3, "cy": 4}
        )
        assert await store.load_user("cy") == Known("cy", met={"bob": 2}, bars={"bob": 4})
        assert (await store.load_user("ana")).blocks == {}


async def test_a_stranger_is_an_empty_page(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.load_user('no"body') == Known('no"body')


async def test_recovery_brings_everyone_who_was_not_idle_or_was_on_a_date(
    open_again: Opener,
) -> None:
    changes = Changes(
        people=[ANA],
        seats=[
            seated("ana", OPEN),
            seated("bob", OPEN),
            Seat("cy", State.WAITING, NOW, 20, last_match_id="m7"),
            Seat("dan", date_id="d4"),
            Seat("idle", credit=10, last_match_id="m7"),
        ],
        matches=[ENDED, OPEN],
        dates=[
            VideoDate("d4", "eve", "dan", NOW, NOW + 300),
            VideoDate("d5", "idle", "gil", NOW, NOW + 300, NOW + 1, "ended"),
        ],
        met=[(("ana", "bob"), NOW)],
        blocks=[(("cy", "ana"), NOW)],
        bars=[(("bob", "cy"), NOW)],
    )
    async with open_again() as store:
        await store.commit(changes)
        recovered = await store.recover()
        one_by_one = [await store.load_user(user) for user in ("ana", "bob", "cy", "dan", "eve")]
    assert recovered.users == one_by_one
    assert recovered.users[0].person == ANA
    assert recovered.users[2].last_match == ENDED
    assert recovered.matches == [OPEN]
    assert recovered.dates == changes.dates[:1]


async def test_recovery_brings_one_room_and_numbers_are_common_to_all(open_again: Opener) -> None:
    apart = msgspec.structs.replace(OPEN, match_id="m20", a="xia", b="yan")
    on_date = VideoDate("d21", "pia", "quy", NOW, NOW + 300)
    async with open_again() as store:
        assert await store.busy_rooms() == []
        await store.commit(
            Changes(seats=[seated("ana", OPEN), seated("bob", OPEN)], matches=[OPEN])
        )
        assert await store.busy_rooms() == ["main"]
        await store.commit(
            Changes(
                seats=[
                    seated("xia", apart),
                    seated("yan", apart),
                    Seat("zoe", State.WAITING, NOW),
                    Seat("idle"),
                ],
                matches=[apart],
                room="evening",
            )
        )
        await store.commit(Changes(dates=[on_date], room="late"))
        assert await store.busy_rooms() == ["evening", "late", "main"]
        main, evening = await store.recover(), await store.recover("evening")
        late, closed = await store.recover("late"), await store.recover("closed")
        rooms = {user: (await store.load_user(user)).room for user in ("ana", "zoe", "idle", "new")}
    assert [one.user_id for one in main.users] == ["ana", "bob"]
    assert main.matches == [OPEN]
    assert [one.user_id for one in evening.users] == ["xia", "yan", "zoe"]
    assert evening.matches == [apart]
    assert [one.user_id for one in late.users] == ["pia", "quy"]
    assert late.dates == [on_date]
    assert (closed.users, closed.matches, closed.dates) == ([], [], [])
    assert {one.next_number for one in (main, evening, late, closed)} == {22}
    assert rooms == {"ana": "main", "zoe": "evening", "idle": "evening", "new": "main"}


async def test_a_seat_moves_to_the_room_of_its_last_commit(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(Changes(seats=[Seat("ana", State.WAITING, NOW)], room="evening"))
        await store.commit(Changes(seats=[Seat("ana", State.WAITING, NOW + 1)]))
        assert (await store.load_user("ana")).room == "main"
        assert await store.busy_rooms() == ["main"]


async def test_numbers_go_on_after_the_greatest_that_was_given(open_again: Opener) -> None:
    async with open_again() as store:
        assert (await store.recover()).next_number == 1
        await store.commit(Changes(matches=[msgspec.structs.replace(OPEN, match_id="m9")]))
        await store.commit(Changes(matches=[msgspec.structs.replace(ENDED, match_id="m10")]))
        assert (await store.recover()).next_number == 11
        await store.commit(Changes(dates=[VideoDate("d100", "ana", "bob", 1, 2, 3, "ended")]))
        assert (await store.recover()).next_number == 101


@pytest.mark.usefixtures("reopens")
async def test_what_was_committed_is_there_when_opened_again(open_again: Opener) -> None:
    seat = seated("ana", OPEN)
    async with open_again() as store:
        await store.commit(Changes(people=[ANA], seats=[seat], matches=[OPEN]))
        first = await store.recover()
    async with open_again() as store:
        second = await store.recover()
    assert second.users == [Known("ana", ANA, seat)]
    assert second.matches == [OPEN]
    assert (first.boot, second.boot) == (1, 2)


async def test_a_commit_with_one_impossible_part_leaves_no_trace(open_again: Opener) -> None:
    two_places = Seat("bob", State.WAITING, NOW, match_id="m8")
    async with open_again() as store:
        with pytest.raises(WriteRefused):
            await store.commit(
                Changes(people=[ANA], seats=[Seat("ana"), two_places], met=[(("ana", "bob"), 1)])
            )
        with pytest.raises(WriteRefused):
            await store.commit(Changes(seats=[Seat("ana"), two_places]))
        assert await store.load_user("ana") == Known("ana")
        assert await store.load_user("bob") == Known("bob")


async def test_a_pair_is_kept_once_whichever_way_round(open_again: Opener) -> None:
    async with open_again() as store:
        with pytest.raises(WriteRefused):
            await store.commit(Changes(met=[(("bob", "ana"), NOW)]))


async def test_reports_are_taken_whatever_they_say(open_again: Opener) -> None:
    async with open_again() as store:
        await store.add_report(
            Report("ana", "bob", "rude'); DROP TABLE people;--", "m8", NOW), ReportLimits(99, 99)
        )
        await store.add_report(Report("ana", "bob", "", None, NOW), ReportLimits(99, 99))
        await store.ping()


async def test_a_closed_store_says_so(open_again: Opener) -> None:
    async with open_again() as store:
        await store.aclose()
        with pytest.raises(StoreError, match="closed"):
            await store.commit(Changes(seats=[Seat("ana")]))
        with pytest.raises(StoreError, match="closed"):
            await store.ping()


# Quality

WOMEN, MEN = "woman seeking man", "man seeking woman"


def quality_of(number: int, wait_s: float = 0.0, tier: Tier = Tier.EXACT, at: int = NOW) -> Quality:
    """A match of a woman who waited so long, in that tier, and a man who had just come."""
    return Quality(
        match_id=f"m{number}",
        policy="fair_queue",
        priority=12_345,
        preference_match=9.875,
        distance_score=0.1,
        distance_km=1.234,
        a_tier=tier,
        b_tier=Tier.EXACT,
        a_wait_s=wait_s,
        b_wait_s=0.0,
        a_group=WOMEN,
        b_group=MEN,
        paired_at=at,
    )


async def test_without_matches_the_report_on_quality_is_empty(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.quality(0, 10) == QualityReport(0, True, [])


async def test_waits_are_told_by_their_nearest_rank_and_tiers_are_counted(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        for number in range(1, 201):
            tier = Tier.WIDER if number > 150 else Tier.EXACT
            if number == 200:
                tier = Tier.FORCED
            # In no particular order: 0.123456, 1.123456, ... 199.123456.
            wait_s = (number * 77) % 200 + 0.123456
            await store.commit(Changes(quality=[quality_of(number, wait_s, tier)]))
        report = await store.quality(NOW, 1000)
    men, women = report.groups
    assert (report.matches, report.complete) == (200, True)
    assert (women.group, women.count) == (WOMEN, 200)
    assert women.wait_s == Percentiles(99.123456, 179.123456, 197.123456)
    assert women.tiers == {Tier.EXACT: 150, Tier.WIDER: 49, Tier.WIDEST: 0, Tier.FORCED: 1}
    assert women.match_rate is None
    assert men == GroupQuality(
        MEN, 200, Percentiles(0.0, 0.0, 0.0), {**dict.fromkeys(Tier, 0), Tier.EXACT: 200}, None
    )


async def test_both_sides_of_a_match_may_be_of_one_group(open_again: Opener) -> None:
    quality = msgspec.structs.replace(quality_of(1, 4.0), b_group=WOMEN)
    async with open_again() as store:
        await store.commit(Changes(quality=[quality]))
        [women] = (await store.quality(NOW, 10)).groups
    assert (women.count, women.wait_s) == (2, Percentiles(0.0, 4.0, 4.0))


async def test_only_the_newest_matches_since_an_instant_are_reported_on(open_again: Opener) -> None:
    async with open_again() as store:
        rows = [quality_of(number, number, at=NOW + number) for number in range(1, 11)]
        await store.commit(Changes(quality=rows))
        since = await store.quality(NOW + 6, 5)
        assert (since.matches, since.complete) == (5, True)
        newest = await store.quality(0, 2)
    assert (newest.matches, newest.complete) == (2, False)
    assert newest.groups[1].wait_s == Percentiles(9.0, 10.0, 10.0)


async def test_the_match_rate_is_that_of_the_matches_that_are_over(open_again: Opener) -> None:
    married = msgspec.structs.replace(ENDED, match_id="m1", outcome=Outcome.BOTH_YES)
    async with open_again() as store:
        rows = [quality_of(number) for number in (1, 7, 8)]
        await store.commit(Changes(quality=rows, matches=[married, ENDED, OPEN]))
        report = await store.quality(0, 10)
    assert [group.match_rate for group in report.groups] == [0.5, 0.5]


@pytest.mark.usefixtures("reopens")
async def test_quality_outlives_the_process(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(Changes(quality=[quality_of(1)]))
    async with open_again() as store:
        assert (await store.quality(0, 10)).matches == 1


def test_a_round_that_has_only_quality_to_save_has_something_to_save() -> None:
    assert not Changes()
    assert Changes(quality=[quality_of(1)])


# The database as a whole


async def test_the_first_secret_of_a_name_stands(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.secret("places", b"first") == b"first"
        assert await store.secret("places", b"second") == b"first"
        assert await store.secret("other", b"second") == b"second"


async def test_at_rest_no_write_is_pending_and_no_file_is_lost(open_again: Opener) -> None:
    async with open_again() as store:
        await store.commit(Changes(people=[ANA]))
        assert store.pending_writes == 0
        assert store.lost_files() is None
