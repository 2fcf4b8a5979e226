"""Days of the whole server with people, faults and judges: the fixed seeds of the test command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.simulation.seeds import SEEDS
from yoked_actor.simulation.plan import ALL_FAULTS, Wish, parse_faults
from yoked_actor.simulation.run import simulate
from yoked_actor.simulation.text import text_of

ROOT = Path(__file__).parents[2]
LOOKED = {
    *("books", "cancelled", "credit", "guarantee", "health", "instants", "jobs", "matched"),
    *("memory", "morning", "offers_shown", "outcome", "reply", "seq", "verified"),
    *("guarantee_in_a_room", "match_room", "met_shown", "room_entered", "stored_rooms"),
    *("strict_limits", "strict_offers", "touched", "waits_in_open_room"),
}
"""Judges that have something to judge in every run of several days."""


@pytest.mark.parametrize("wish", SEEDS, ids=lambda wish: f"seed-{wish.seed}")
def test_the_promises_hold_through_days_of_people_and_faults(wish: Wish) -> None:
    result = simulate(wish)
    assert not result.violations, text_of(result)
    assert set(result.checks) >= LOOKED
    assert bool(result.tally.faults) is bool(wish.faults)


def test_the_same_seed_gives_the_same_history_in_another_process() -> None:
    wish = Wish(seed=11, people=10, days=2, faults=ALL_FAULTS)
    script = (
        "from yoked_actor.simulation.plan import *;"
        "from yoked_actor.simulation.run import simulate;"
        "import logging, structlog;"
        "structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL));"
        f"print(simulate(Wish(seed={wish.seed}, people=10, days=2, faults=ALL_FAULTS)).digest)"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()[-1]
        for hashes in ("1", "2")
    ]
    assert found == [simulate(wish).digest] * 2


def test_another_seed_gives_another_history() -> None:
    digests = {simulate(Wish(seed=seed, people=4, days=1)).digest for seed in range(3)}
    assert len(digests) == 3


def test_the_command_of_a_run_names_everything_that_was_asked_for() -> None:
    wish = Wish(
        seed=7, people=9, days=2, faults=("crash", "disk"), only_faults=(3, 5), without=(1, 2)
    )
    assert wish.command() == (
        "yoked-actor simulate --people 9 --days 2 --seed 7 --faults crash,disk"
        " --only-faults 3,5 --without 1,2"
    )
    assert Wish(faults=ALL_FAULTS).command().endswith("--faults all")


def test_a_person_behaves_the_same_whoever_else_is_left_out() -> None:
    everybody = simulate(Wish(seed=5, people=6, days=1))
    fewer = simulate(Wish(seed=5, people=6, days=1, without=(1, 2, 3, 4, 5)))
    assert fewer.lines < everybody.lines
    assert not fewer.violations


def test_unknown_faults_are_named() -> None:
    with pytest.raises(ValueError, match="unknown faults: flood, rain"):
        parse_faults("crash,rain,flood")
