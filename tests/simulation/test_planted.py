"""The planted faults of `scripts/mutants` fit the sources: each edit still has a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.simulation.planted import MUTANTS, Mutant
from scripts.simulation.seeds import SEEDS

PACKAGE = Path(__file__).parents[2] / "yoked_actor"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_fault_changes_the_sources(mutant: Mutant) -> None:
    assert mutant.edits
    for file, old, new in mutant.edits:
        assert old in (PACKAGE / file).read_text(encoding="utf-8"), f"plant it anew in {file}"
        assert new != old


def test_planted_faults_have_names_of_their_own_and_a_fixed_seed() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
    assert {mutant.seed for mutant in MUTANTS} <= {wish.seed for wish in SEEDS}
