"""What is counted and logged of a match: no user is named."""

from __future__ import annotations

import re
from typing import Any

import trio

from tests.scenarios.meeting import MAN, WOMAN
from yoked_actor.telemetry import Metrics
from yoked_actor.testing import open_world


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    """The value of a metric."""
    return metrics.registry.get_sample_value(name, labels)


async def test_a_match_is_counted_by_policy_and_by_the_wider_tier_of_the_two(
    autojump_clock: Any, capsys: Any
) -> None:
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN, min_age=30)
        ben = await world.join("ben", **MAN)
        await ana.spin()
        await trio.sleep(0.5)
        await ben.spin()
        # He is 27, and she takes him when her limits have opened to 25.
        await ana.wait_for("matched")
        metrics = world.server.base.metrics
        counts = [
            value(metrics, "yoked_pairings_total", room="main", policy="fair_queue", tier=tier)
            for tier in ("1", "2", "3", "99")
        ]
        assert counts == [0, 0, 1, 0]
        wait = {"room": "main", "group": "woman seeking man", "tier": "3"}
        assert value(metrics, "yoked_wait_seconds_sum", **wait) == 10
        wait = {"room": "main", "group": "man seeking woman", "tier": "1"}
        assert value(metrics, "yoked_wait_seconds_sum", **wait) == 9.5
    [line] = [line for line in capsys.readouterr().out.splitlines() if "match_made" in line]
    for fact in ("match_id=m1", "policy=fair_queue", "tiers=[3, 1]", "waits_s=[10.0, 9.5]"):
        assert fact in line
    assert "distance_km=0.0" in line
    assert not {"ana", "ben", "Ana", "Ben"} & set(re.findall(r"\w+", line))


async def test_the_number_of_metric_labels_is_bounded(autojump_clock: Any) -> None:
    genders = [f"g{number}" for number in range(64)]
    async with open_world(settings={"matching": {"genders": tuple(genders)}}) as world:
        for gender in genders:
            for name in "ab":
                client = await world.join(f"{name}{gender}", gender=gender, seeking=[gender])
                await client.spin()
        for name in "ab":
            client = await world.join(name, gender="g1", seeking=["g1", "g2"])
            await client.spin()
        metrics = world.server.base.metrics
        last = {"room": "main", "group": "g63 seeking g63", "tier": "1"}
        assert value(metrics, "yoked_wait_seconds_count", **last) == 2
        other = {"room": "main", "group": "other", "tier": "1"}
        assert value(metrics, "yoked_wait_seconds_count", **other) == 2
