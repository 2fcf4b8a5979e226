"""The diagrams in the documentation show the tables of the code."""

from __future__ import annotations

import re
from pathlib import Path

from tests.domain.diagrams import ballot_table, lifecycle_mermaid
from tests.domain.tier_picture import tiers_svg
from yoked_actor.domain.lobby import State
from yoked_actor.domain.lobby.ballot import VERDICTS, Vote
from yoked_actor.domain.lobby.lifecycle import TRANSITIONS, Cause
from yoked_actor.domain.rules import Rules

DOCUMENT = Path(__file__).parents[2] / "docs" / "lifecycle.md"


def _drawn(name: str) -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    found = re.findall(rf"<!-- drawn: {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
    assert len(found) == 1, f"{DOCUMENT.name} has {len(found)} drawings of the {name}"
    return str(found[0])


def test_the_document_shows_the_lifecycle_as_it_is() -> None:
    assert _drawn("lifecycle") == f"```mermaid\n{lifecycle_mermaid()}\n```"


def test_the_document_shows_the_ballot_as_it_is() -> None:
    assert _drawn("ballot") == ballot_table()


def test_the_lifecycle_drawing_has_every_transition_and_no_other() -> None:
    drawn = {
        (State(state), Cause(cause)): State(following)
        for state, following, causes in re.findall(
            r"^    (\w+) --> (\w+): (.+)$", lifecycle_mermaid(), re.MULTILINE
        )
        for cause in causes.split(", ")
    }
    assert drawn == TRANSITIONS


def test_the_ballot_drawing_has_every_verdict() -> None:
    header, _, *rows = ballot_table().splitlines()
    assert re.findall(r"\w+(?= \|)", header)[-3:] == list(Vote)
    assert len(rows) == len(Vote)
    for mine, row in zip(Vote, rows, strict=True):
        first, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert first == f"**{mine}**"
        assert [cell.split("`")[1] for cell in cells] == [
            VERDICTS[mine, theirs].outcome for theirs in Vote
        ]


def test_the_document_explains_every_state_and_every_cause() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for state in State:
        assert f"- **{state}**:" in text
    for cause in Cause:
        assert f"`{cause}`" in text


def test_the_picture_of_the_tiers_is_drawn_from_the_default_rules() -> None:
    picture = DOCUMENT.parent / "images" / "tiers.svg"
    assert picture.read_text(encoding="utf-8") == tiers_svg(Rules())
