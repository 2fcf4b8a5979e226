"""What an erasure leaves in the tables: every column that can name somebody is thought of."""

from __future__ import annotations

import sqlite3
import struct
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.domain.crowds import man, woman
from tests.store.test_offers_conformance import (
    BERLIN,
    DAY,
    NINE,
    RULES,
    freeze,
    invite,
    names,
    offer,
    pairs,
    runs,
)
from yoked_actor.actors.offers import verify_run
from yoked_actor.actors.offers.runs import OfferRuns
from yoked_actor.domain.jobs import Dismissal, NewJob, Progress, ReceiverAnswer
from yoked_actor.domain.lobby import Changes, Erasure, Match, MatchStatus, Quality, Seat
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.offers import Answer, FrozenRun, StoredSet, make_run, verify
from yoked_actor.domain.people import Report, ReportLimits
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import InlineRunner, Store, ThreadRunner, open_store
from yoked_actor.store.engine import migrate
from yoked_actor.store.people.erasure import COLUMNS

TOMB = "~erased-0001"
OVER: dict[str, Any] = {
    "status": MatchStatus.COMPLETED,
    "paired_at": 1,
    "closes_at": None,
    "ended_at": 2,
}

NAMES_NOBODY = {
    *("offer_parts.day", "offer_parts.zone", "offer_parts.inputs"),
    *("meta.name", "erased.tombstone", "seats.state", "alerts.alert", "lease_clock.boot"),
    *("people.display_name", "people.birth_date", "people.gender", "people.time_zone"),
    *("people.interests", "people.seeking", "people.strict"),  # deleted with their row
    *("matches.status", "matches.a_vote", "matches.b_vote", "matches.outcome"),
    *(
        "matches.cancelled_for",
        "dates.ended_for",
        "reports.match_id",
        "reports.kind",
        "suspended.reason",
    ),
    *("quality.policy", "quality.a_group", "quality.b_group", "audit.action"),
    *("job_pauses.type", "job_pauses.reason"),
    *("jobs.type", "jobs.status", "jobs.owner", "job_attempts.owner", "job_attempts.cause"),
    *("dead_letter_news.type", "dead_letter_news.kind"),
    *("dead_letter_alerts.type", "dead_letter_alerts.kind"),
    *("job_ledger.type", "job_ledger.digest", "job_ledger.outcome"),
    *("zone_runs.zone", "zone_runs.local_date", "zone_runs.status", "zone_runs.digest"),
    *("offer_runs.day", "offer_runs.zone", "offer_runs.rules", "offer_runs.inputs"),
    *("offer_runs.outputs", "offer_pools.day", "offer_pools.zone"),
    *("offer_sets.day", "offer_sets.zone", "offer_sets.scoring", "offer_sets.digest"),
    *("offer_sets.inputs", "secrets.name", "secrets.value"),
    *("offer_sets.facts", "offer_answers.day", "offer_answers.answer"),
    *("connections.source", "touch_answers.answer"),
    *("seats.room", "matches.room", "dates.room", "quality.room"),
    *("rooms.id", "rooms.definition", "room_guests.room"),
}


def test_every_column_that_could_name_somebody_is_thought_of():
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db, None)
    tables = db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    found = {
        f"{table}.{column}"
        for (table,) in tables
        for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})")
        if kind in ("TEXT", "BLOB")
    }
    db.close()
    # A new column is put into one of the two, and what happens to it into `sqlite_erasure`.
    assert found - COLUMNS - NAMES_NOBODY == set()
    assert COLUMNS - found == NAMES_NOBODY - found == set()


async def erase(store: Store, user_id: str, *, looked_up: bool = True) -> None:
    if looked_up:
        await store.privacy.look_up(user_id, NINE)
    await store.commit(Changes(erased=[Erasure(user_id, TOMB, NINE + 2 * MICROSECONDS)]))


def raw(path: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("looked_up", [True, False])
async def test_offers_to_and_of_the_erased_go_and_verify_says_erased(tmp_path, looked_up):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3)))
        made = await offer(store)
        assert {o.candidate for o in made["m0"].offers} == {"ana", "eva"}
        ids = dict(zip((o.candidate for o in made["m0"].offers), made["m0"].ids(), strict=True))
        await store.offers.answer("m0", ids["ana"], Answer.ACCEPT, NINE)
        await store.offers.answer("ana", made["ana"].ids()[0], Answer.ACCEPT, NINE)
        frozen = await store.offers.load_run(BERLIN, DAY)
        assert frozen is not None
        await store.offers.record_outputs(BERLIN, DAY, frozen.inputs, "digest")
        await erase(store, "ana", looked_up=looked_up)
        run = await store.offers.load_run(BERLIN, DAY)
        assert run is not None
        assert (run.pool, run.erased) == (None, 1)
        kept = await store.offers.load_zone(BERLIN, DAY)
        assert "ana" not in {one.offers.user_id for one in kept}
        stored = {k.offers.user_id: StoredSet(k.offers, k.digest, k.erased) for k in kept}
        found = verify(run.pool, run.rules, run.inputs, stored, erased=run.erased)
        assert {(finding.user_id, finding.erased) for finding in found} == {
            *(("", True), ("m0", True), ("m1", True), ("m2", True)),
        }
        [mine] = [k for k in kept if k.offers.user_id == "m0"]
        assert [o.candidate for o in mine.offers.offers] == ["eva"]
        assert (await store.offers.connections("m0")) == []
        assert await store.privacy.wipe()
        assert raw(path, "SELECT user_id, candidate FROM offer_answers") == [("m0", TOMB)]
        data = b"".join(file.read_bytes() for file in tmp_path.glob("yoked.db*"))
        assert data.count(b"ana") == 0


async def test_a_tampered_set_is_still_found_beside_an_erased_one(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3)))
        await offer(store)
        await erase(store, "ana")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "UPDATE offer_sets SET facts = replace(facts, '[[', '[[1') WHERE user_id = 'eva'"
        )
    connection.close()
    async with open_store(path, runner=InlineRunner()) as store:
        run = await store.offers.load_run(BERLIN, DAY)
        kept = await store.offers.load_zone(BERLIN, DAY)
    assert run is not None
    stored = {k.offers.user_id: StoredSet(k.offers, k.digest, k.erased) for k in kept}
    found = verify(run.pool, run.rules, run.inputs, stored, erased=run.erased)
    assert [finding.user_id for finding in found if not finding.erased] == ["eva"]


async def test_a_run_that_was_being_made_goes_on_without_the_erased(tmp_path):
    async with open_store(tmp_path / "yoked.db", runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3)))
        frozen = await freeze(store)
        assert frozen.pool is not None
        made = make_run(frozen.pool, RULES)
        await erase(store, "ana")
        kept = await store.offers.store_sets(BERLIN, list(made.values()), runs(DAY))
        assert kept == ["eva", "m0", "m1", "m2"]
        mine = await store.offers.load_set("m0", DAY)
        assert mine is not None
        assert ([o.candidate for o in mine.offers.offers], mine.erased) == (["eva"], 1)
        again = await freeze(store)
        assert again.pool is not None
        assert (again.erased, next(p.user_id for p in again.pool.people)) == (1, "eva")
        assert (await freeze(store)).inputs == again.inputs


@pytest.mark.parametrize("runner", [InlineRunner, ThreadRunner])
async def test_what_operators_said_of_dead_letters_names_nobody_who_is_erased(tmp_path, runner):
    async with open_store(tmp_path / "yoked.db", runner=runner()) as store:
        new = [NewJob("mail", {"user_id": "ana"}, 5), NewJob("mail", {"user_id": "ben"}, 5)]
        await store.jobs.enqueue(new, 0)
        for job in (await store.jobs.claim("w", 6, 60, 2)).jobs:
            held = [(job.id, job.fence)]
            said = {job.id: Progress(1, 2, "mail to ana")}
            assert (await store.jobs.extend(held, 7, 60, said)).lost == []
            answer = ReceiverAnswer(500, "r1", "ana who?")
            await store.jobs.keep_answer(job.id, job.fence, answer, 7)
            await store.jobs.fail(job.id, job.fence, 8, None, "a bug")
            await store.jobs.dismiss(job.id, "ana", "ana and anabel know", 9)
        await erase(store, "ana")
        hers, his = sorted(await store.jobs.list(dismissed=True), key=lambda job: job.id)
        assert (hers.payload, hers.progress) == ("{}", Progress(1, 2))
        assert hers.dismissal == Dismissal(9, TOMB, "")
        assert await store.jobs.answers(hers.id) == []
        assert his.progress == Progress(1, 2, f"mail to {TOMB}")
        assert his.dismissal == Dismissal(9, TOMB, f"{TOMB} and anabel know")
        entries = await store.audit.entries(10)
        assert [(one.who, one.detail) for one in entries] == [
            (TOMB, f"{TOMB} and anabel know"),
            (TOMB, ""),
        ]


@pytest.mark.parametrize("runner", [InlineRunner, ThreadRunner])
async def test_jobs_about_the_erased_end_and_those_of_others_do_not(tmp_path, runner):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=runner()) as store:
        new = [
            NewJob("mail", {"user_id": "ana"}, 5, key="2026-01-01:ana"),
            NewJob("mail", {"user_id": "anabel", "text": "ana"}, 5, key="2026-01-01:anabel"),
            NewJob("zone", {"zone": "ana"}, 5, key="zone"),
            NewJob("mail", {"users": ["eva", "ana"]}, 5),
            NewJob("mail", {"user_id": "ana", "n": 2}, 9 * 10**15),
        ]
        await store.jobs.enqueue(new, 0)
        first, *_ = (await store.jobs.claim("w", 6, 60, 2)).jobs
        await store.jobs.fail(first.id, first.fence, 7, None, "KeyError: 'ana' and anabel")
        await erase(store, "ana")
        jobs = {job.id: job for job in await store.jobs.list()}
        assert [jobs[n].status for n in range(1, 6)] == [
            *("dead_letter", "in_progress", "pending", "cancelled", "cancelled"),
        ]
        assert [jobs[n].payload for n in (1, 4, 5)] == ["{}"] * 3
        assert jobs[1].key == f"<{TOMB}>:1"
        assert jobs[2].key == "2026-01-01:anabel"
        assert "ana" in jobs[2].payload
        # The new person's job of that day is a new one.
        [again] = await store.jobs.enqueue(new[:1], 8)
        assert again.is_new
        assert await store.privacy.wipe()


async def test_pairs_keep_their_order_and_each_side_its_own(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.commit(
            Changes(
                matches=[
                    Match("m1", "ana", "ben", a_acknowledged=True, **OVER),
                    Match("m2", "abe", "ana", a_acknowledged=True, **OVER),
                    Match("m3", "abe", "ben", **OVER),
                ],
                quality=[
                    Quality(
                        *("m1", "fair_queue", 1, 2.0, 3.0, 4.0, Tier.EXACT, Tier.WIDER),
                        *(5.0, 6.0, "hers", "his", 1),
                    )
                ],
                met=[(("abe", "ana"), 1), (("ana", "ben"), 1), (("abe", "ben"), 1)],
                bars=[(("ana", "ben"), 9)],
                seats=[Seat("ana"), Seat("ben")],
            )
        )
        await erase(store, "ana")
    assert raw(path, "SELECT a, b, a_acknowledged, b_acknowledged FROM matches") == [
        ("ben", TOMB, 0, 1),
        ("abe", TOMB, 1, 0),
        ("abe", "ben", 0, 0),
    ]
    assert raw(path, "SELECT a_group, b_group, a_tier, a_wait_s, distance_km FROM quality") == [
        ("his", "hers", 2, 6.0, 0.0)
    ]
    assert raw(path, "SELECT a, b FROM met") == [("abe", "ben"), ("abe", TOMB), ("ben", TOMB)]
    assert raw(path, "SELECT count(*) FROM bars") == [(0,)]


async def test_what_was_written_after_the_search_for_traces_is_erased_too(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), man("m0"))
        await store.commit(Changes(matches=[Match("m1", "ana", "ben", **OVER)]))
        await store.privacy.look_up("ana", NINE)
        await store.commit(Changes(matches=[Match("m2", "ana", "carl", **OVER)]))
        await offer(store)
        await store.jobs.enqueue([NewJob("mail", {"user_id": "ana"}, 5, key="x:ana")], 0)
        await erase(store, "ana", looked_up=False)
        assert await store.privacy.wipe()
    data = b"".join(file.read_bytes() for file in tmp_path.glob("yoked.db*"))
    assert data.count(b"ana") == 0
    assert len(raw(path, f"SELECT 1 FROM matches WHERE b = '{TOMB}'")) == 2


async def test_two_erased_who_met_each_other_stay_a_pair(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.commit(Changes(met=[(("ana", "ben"), 1)]))
        await store.commit(Changes(erased=[Erasure("ana", "~erased-2", 1)]))
        await store.commit(Changes(erased=[Erasure("ben", "~erased-1", 1)]))
    assert raw(path, "SELECT a, b FROM met") == [("~erased-1", "~erased-2")]


async def test_what_is_old_is_deleted_and_what_is_not_is_kept(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        for at in (10, 20):
            await store.add_report(Report("ana", "ben", "rude", None, at), ReportLimits(99, 99))
            await store.audit.record("root", "look", "ben", "", at)
        assert await store.privacy.prune("reports", 20, 100) == 1
        assert await store.privacy.prune("audit", 20, 100) == 1
        assert await store.privacy.prune("quality", 20, 100) == 0
    assert raw(path, "SELECT at FROM reports UNION ALL SELECT at FROM audit") == [(20,), (20,)]


async def test_nothing_is_left_in_pages_that_were_written_again_and_again(tmp_path):
    path, lots = tmp_path / "yoked.db", Random(7)
    users = [f"user-{lots.getrandbits(60):015x}" for _ in range(500)]
    places: dict[str, list[bytes]] = {user: [] for user in users}
    number = 0
    async with open_store(path, runner=InlineRunner()) as store:
        for _ in range(3):
            lots.shuffle(users)
            for start in range(0, len(users), 20):
                changes = Changes()
                for user in users[start : start + 20]:
                    lat, interests = lots.uniform(-60, 60), ("x" * lots.randint(1, 60),)
                    places[user].append(struct.pack(">d", lat))
                    changes.people.append(woman(user, lat=lat, interests=interests))
                    changes.seats.append(Seat(user))
                for _ in range(10):
                    number += 1
                    a, b = sorted(lots.sample(users, 2))
                    changes.matches.append(Match(f"m{number}", a, b, **OVER))
                    changes.met.append(((a, b), number))
                    changes.blocks.append(((a, b), number))
                await store.commit(changes)
                reporter, reported = lots.sample(users, 2)
                await store.add_report(
                    Report(reporter, reported, "y" * 99, None, number), ReportLimits(99, 99)
                )
        erased = users[::25]
        for n, user in enumerate(erased):
            await store.commit(Changes(erased=[Erasure(user, f"{TOMB}{n}", NINE)]))
        assert await store.privacy.wipe()
    data = b"".join(file.read_bytes() for file in tmp_path.glob("yoked.db*"))
    assert users[1].encode() in data
    assert [user for user in erased if user.encode() in data] == []
    assert [user for user in erased if any(place in data for place in places[user])] == []


async def test_a_user_who_still_waits_for_a_set_of_a_run_gets_one_after_somebody_was_erased(
    tmp_path,
):
    async with open_store(tmp_path / "yoked.db", runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3)))
        made = await OfferRuns(store.offers, threads=False).sets(*await frozen_place(store))
        assert set(made) == {"ana", "eva", "m0", "m1", "m2"}
        await erase(store, "ana")
        # Another process, or this one after a restart: what was made is not in its memory.
        again = await OfferRuns(store.offers, threads=False).sets(BERLIN, DAY)
        assert set(again) == {"eva", "m0", "m1", "m2"}
        assert not any("ana" in one.names() for one in again.values())
        verdict = await verify_run(store.offers, BERLIN, DAY, threads=False)
        assert (verdict.in_full, [finding.erased for finding in verdict.findings]) == (
            False,
            [True],
        )


async def frozen_place(store: Store) -> tuple[str, date]:
    frozen = await freeze(store)
    return frozen.zone, frozen.day


def apart(frozen: FrozenRun) -> set[tuple[str, str]]:
    assert frozen.pool is not None
    return pairs(frozen, frozen.pool.apart)


async def test_a_run_that_is_frozen_again_for_an_erasure_keeps_its_rules_of_meeting(tmp_path):
    async with open_store(tmp_path / "yoked.db", runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), man("bob"))
        await store.commit(Changes(met=[(("bob", "eva"), NINE - 40 * 24 * 3600 * MICROSECONDS)]))
        assert ("bob", "eva") in apart(await freeze(store, DAY + timedelta(days=1)))
        first = await freeze(store, rematch_after_days=30.0)
        assert ("bob", "eva") not in apart(first)
        await erase(store, "ana")
        again = await store.offers.freeze_again(BERLIN, DAY)
        assert names(again) == ["bob", "eva"]
        assert ("bob", "eva") not in apart(again)


async def test_a_pool_that_cannot_be_read_keeps_nobody_from_being_erased(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), man("bob"))
        await freeze(store)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("UPDATE offer_pools SET content = x'00'")
        connection.close()
        await erase(store, "ana")
        run = await store.offers.load_run(BERLIN, DAY)
        assert run is not None
        assert (run.pool, run.erased) == (None, 1)


def leave_in_free_space(path: Path, text: bytes) -> None:
    """Put a text where SQLite leaves copies when it balances a tree: before the cells of a page."""
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        cells, content = struct.unpack_from(">HH", data, page + 3)
        if data[page] == 13 and 8 + 2 * cells + len(text) < content:
            data[page + content - len(text) : page + content] = text
            path.write_bytes(data)
            return
    raise AssertionError("no page has room")


async def test_copies_that_sqlite_left_in_free_space_are_overwritten(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"))
    user = "somebody-who-is-erased"
    leave_in_free_space(path, user.encode())
    async with open_store(path, runner=ThreadRunner()) as store:
        assert not await store.privacy.clear_free_space(user, 0), "the file is larger than allowed"
        assert user.encode() in path.read_bytes()
        assert await store.privacy.clear_free_space(user, 64)
        assert await store.load_person("ana") is not None
        data = b"".join(file.read_bytes() for file in tmp_path.glob("yoked.db*"))
        assert user.encode() not in data


async def test_a_text_of_living_rows_does_not_rewrite_the_file(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), man("ben"))
        await store.privacy.wipe()
        assert b"ana" in path.read_bytes()
        assert await store.privacy.clear_free_space("ana", 0)


async def test_an_erasure_leaves_no_name_in_a_set_that_cannot_be_read(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await invite(store, woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3)))
        await offer(store)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "UPDATE offer_sets SET candidates = candidates || '!' WHERE user_id = 'm0'"
        )
        connection.execute("UPDATE offer_sets SET facts = '{' WHERE user_id = 'm1'")
    connection.close()
    async with open_store(path, runner=InlineRunner()) as store:
        await erase(store, "ana")
    left = raw(path, "SELECT user_id, candidates, erased FROM offer_sets ORDER BY user_id")
    assert [row for row in left if "ana" in str(row)] == []
    assert left[1:] == [("m0", "[]", 1), ("m1", "[]", 1), ("m2", '["eva"]', 1)]
