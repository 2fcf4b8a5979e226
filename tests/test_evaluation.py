"""The evaluation of the scoring, on generated evenings."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.evaluation.dates import Unreadable, read
from scripts.evaluation.scoring import (
    Evaluation,
    auc,
    best_of,
    capped,
    chances,
    hits,
    main,
    points_by_ratings,
    points_by_tags,
    unmet_at_half_time,
)

HEAD = "wave,slot,iid,pid,gender,age,age_o,dec,dec_o,match,int_corr,int_art,int_yoga"
PEOPLE = 4


def evening(wave: int, liked: int, art: int = 9) -> list[str]:
    """Four women meet four men; everybody says yes to one man and one woman, and to nobody else."""
    lines = []
    for slot in range(1, PEOPLE + 1):
        for woman in range(PEOPLE):
            man = (woman + slot) % PEOPLE
            a, b = 100 * wave + woman, 100 * wave + 50 + man
            says, hears = int(man == liked), int(woman == liked)
            both = says * hears
            lines.append(f"{wave},{slot},{a},{b},0,30,{30 + man},{says},{hears},{both},0.5,{art},3")
            lines.append(f"{wave},{slot},{b},{a},1,{30 + man},30,{hears},{says},{both},0.5,{art},3")
    return lines


@pytest.fixture
def made_up() -> list[str]:
    return [HEAD, *evening(1, 0), *evening(2, 1), *evening(3, 2)]


def test_points_follow_from_ages_and_interests(made_up):
    evenings = read(made_up)
    row = next(n for n, date in enumerate(evenings.dates) if date.years_apart == 2)
    assert points_by_ratings(evenings)[row] == 720_000  # 60 - 4 * 2 + 40 * 0.5
    # One tag of one is shared; with two more that nobody named that is a third.
    assert points_by_tags(evenings)[row] == 520_000 + 400_000 // 3


def test_a_missing_age_or_correlation_is_taken_as_the_usual():
    lines = [HEAD, "1,1,1,2,0,,30,1,1,1,,,", "1,1,2,1,1,30,,1,1,1,,,"]
    assert points_by_ratings(read(lines)) == [480_000, 480_000]


def test_no_vote_of_the_same_slot_or_a_later_one_is_seen(made_up):
    evenings = read(made_up)
    points = points_by_ratings(evenings)
    before = chances(evenings.dates, points)
    slot = 3
    turned = [
        row if row.slot < slot else row._replace(said_yes=not row.said_yes, got_yes=not row.got_yes)
        for row in evenings.dates
    ]
    after = chances(turned, points)
    seen = [n for n, row in enumerate(evenings.dates) if row.slot <= slot]
    assert [before[n] for n in seen] == [after[n] for n in seen]
    assert before != after


def test_no_vote_of_another_evening_is_seen(made_up):
    whole, alone = read(made_up), read([HEAD, *evening(1, 0)])
    scores = chances(whole.dates, points_by_ratings(whole))
    assert scores[: len(alone.dates)] == chances(alone.dates, points_by_ratings(alone))


def test_earlier_votes_show_who_is_liked(made_up):
    evenings = read(made_up)
    scores = np.array(chances(evenings.dates, points_by_ratings(evenings)), np.float64)
    is_match = np.array([row.is_match for row in evenings.dates])
    assert auc(scores, is_match) > auc(np.array(points_by_ratings(evenings), np.float64), is_match)


def test_the_half_time_ranking_knows_the_first_half_only(made_up):
    evenings = read(made_up)
    late, scores = unmet_at_half_time(evenings, points_by_tags(evenings))
    assert {row.slot for row in late.dates} == {3, 4}
    turned = evenings._replace(
        dates=[
            row if row.slot < 3 else row._replace(said_yes=not row.said_yes)
            for row in evenings.dates
        ]
    )
    _, again = unmet_at_half_time(turned, points_by_tags(evenings))
    assert scores.tolist() == again.tolist()


def test_auc_counts_ties_as_half():
    yes = np.array([True, True, False, False])
    assert auc(np.array([2.0, 1.0, 1.0, 0.0]), yes) == 0.875
    assert auc(np.array([1.0, 1.0, 1.0, 1.0]), yes) == 0.5
    assert auc(np.array([0.0, 0.0, 1.0, 1.0]), yes) == 0.0


def test_hits_are_counted_among_people_with_a_match(made_up):
    evenings = read(made_up)
    perfect = np.array([float(row.is_match) for row in evenings.dates])
    assert hits(evenings.dates, best_of(evenings.dates, perfect)) == {1: 1.0, 2: 1.0, 3: 1.0}
    assert hits(evenings.dates, best_of(evenings.dates, -perfect)) == {1: 0.0, 2: 0.0, 3: 0.0}


def test_nobody_is_chosen_more_often_than_the_cap_allows(made_up):
    evenings = read(made_up)
    scores = np.array(chances(evenings.dates, points_by_tags(evenings)), np.float64)
    chosen = capped(evenings.dates, scores, 2, np.random.default_rng(3))
    people = {row.person for row in evenings.dates}
    shown = [evenings.dates[n].partner for person in people for n in chosen(person)]
    assert max(shown.count(person) for person in people) == 2


def test_an_interval_holds_its_figure_and_is_the_same_for_a_seed(made_up):
    evenings = read(made_up)
    scores = np.array(chances(evenings.dates, points_by_tags(evenings)), np.float64)
    one, other = (Evaluation(evenings, 50, 1).auc(scores) for _ in range(2))
    assert one == other
    assert one.low <= one.value <= one.high


def test_the_command_prints_every_version_and_the_price_of_the_cap(made_up, tmp_path, capsys):
    file = tmp_path / "dates.csv"
    file.write_text("\n".join(made_up), "utf-8")
    assert main([str(file), "--draws", "20"]) == 0
    printed = capsys.readouterr().out
    assert "96 dates of 3 evenings, 6.2 % matches" in printed
    for name in ("random", "v1, tags", "v2, tags", "v2, rated interests", "cap 6 (2.0 times"):
        assert name in printed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no column wave"),
        (HEAD, "no dates"),
        (HEAD.replace("slot,", ""), "no column slot"),
        (f"{HEAD}\n1,x,1,2,0,30,30,1,1,1,0.5,9,3", "line 2"),
    ],
)
def test_another_kind_of_file_is_refused_with_a_reason(text, problem, tmp_path, capsys):
    file = tmp_path / "dates.csv"
    file.write_text(text, "utf-8")
    assert main([str(file)]) == 1
    assert problem in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "none.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err


def test_too_few_columns_are_a_bad_line():
    with pytest.raises(Unreadable, match="line 2"):
        read([HEAD, "1,1,1"])
