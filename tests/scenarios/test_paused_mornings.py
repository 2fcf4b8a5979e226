"""A paused job type, a morning, a crash and spins together, seen from outside."""

from __future__ import annotations

from pathlib import Path

from trio.testing import MockClock, wait_all_tasks_blocked

from tests.scenarios.meeting import MAN, WOMAN
from tests.scenarios.test_votes_and_mornings import EVENING, operator, until, verdict
from yoked_actor.testing import open_world


async def test_offers_of_a_paused_morning_come_once_it_is_resumed_and_spins_go_on(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(start=EVENING, database=tmp_path / "yoked.db") as world:
        names = [f"{name}{number}" for name in ("ana", "ben") for number in range(6)]
        for name in names:
            await world.sign_up(name, **(WOMAN if name.startswith("ana") else MAN))
        ask = {"type": "offers.user", "reason": "a move"}
        await operator(world).call("POST", "/api/admin/jobs/pause", ask)
        await until(world, "2026-03-02T08:00:01Z")
        await world.crash()
        await world.start()
        await wait_all_tasks_blocked(0.001)
        # The job of the zone has run, those of its users wait, and nobody else waits for them.
        for name in names:
            assert (await world.api(name).call("GET", "/api/offers"))["offers"] == []
        await world.api("ana0").call("POST", "/api/spin")
        assert (await world.api("ben0").call("POST", "/api/spin"))["state"] == "matched"

        await operator(world).call("POST", "/api/admin/jobs/resume", {"type": "offers.user"})
        await until(world, "2026-03-02T08:00:30Z")
        for name in names:
            found = await world.api(name).call("GET", "/api/offers")
            assert (found["date"], len(found["offers"])) == ("2026-03-02", 5), name
        assert (await verdict(world, "2026-03-02"))["findings"] == []
