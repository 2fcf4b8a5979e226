"""Records as rows and back. The columns are in the order of the statements in `sql/`.

Ids of users are interned: the lobby has a dozen dictionaries of them, and one that is asked for the
object that it has does not read the text of either. With many users in memory, each text that is
read is a miss of the cache.
"""

from __future__ import annotations

from datetime import date
from sys import intern
from typing import Any, Final

import msgspec
import structlog
from msgspec.structs import astuple

from yoked_actor.domain.lobby import (
    MAIN,
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
from yoked_actor.domain.matching import GroupQuality, Percentiles, Tier
from yoked_actor.domain.people import Person, ShownPlace, shared_genders, strict_limits
from yoked_actor.store.engine import read_row

Row = tuple[Any, ...]
PERSON_COLUMNS: Final = 16
SEAT_COLUMNS: Final = 7
MATCH_COLUMNS: Final = 14
# Beyond the limits of a profile, and small enough to compute with.
_OLDEST: Final = 1_000
_FARTHEST_KM: Final = 1_000_000

_log = structlog.get_logger()

_encode: Final = msgspec.json.Encoder().encode
_decode_instants: Final = msgspec.json.Decoder(dict[str, int]).decode
_decode_tags: Final = msgspec.json.Decoder(tuple[str, ...]).decode


def _number(text: str | None) -> int | None:
    """The number in the id of a match or a date."""
    return None if text is None else int(text[1:])


def _match_id(number: int | None) -> str | None:
    return None if number is None else f"m{number}"


def _date_id(number: int | None) -> str | None:
    return None if number is None else f"d{number}"


def _json(rows: list[Row]) -> str | None:
    return _encode(rows).decode() if rows else None


def commit_parameters(changes: Changes) -> Row:
    """The parameters of `commit.sql`: a JSON array of rows for each kind of change, or
    None, and the room."""
    met, unmet = _met_and_unmet(changes)
    bars, unbarred = _kept_and_gone(changes.bars)
    blocks, unblocked = _kept_and_gone(changes.blocks)
    return (
        _json([seat_row(seat) for seat in changes.seats]),
        _json([match_row(match) for match in changes.matches]),
        _json([date_row(video_date) for video_date in changes.dates]),
        met,
        bars,
        blocks,
        unmet,
        unbarred,
        unblocked,
        _json([quality_row(quality) for quality in changes.quality]),
        changes.room,
    )


def _met_and_unmet(changes: Changes) -> tuple[str | None, str | None]:
    """Pairs that have met, each with its match: it opened its vote in the same round."""
    if not changes.met:
        return None, None
    numbers = {
        match.users: _number(match.match_id)
        for match in changes.matches
        if match.voting_at is not None
    }
    last = dict(changes.met)
    kept: list[Row] = [
        (*pair, at, numbers.get(pair)) for pair, at in last.items() if at is not None
    ]
    gone: list[Row] = [pair for pair, at in last.items() if at is None]
    return _json(kept), _json(gone)


def _kept_and_gone(
    changes: list[tuple[tuple[str, str], int | None]],
) -> tuple[str | None, str | None]:
    if not changes:
        return None, None
    last = dict(changes)  # of two changes to one pair the later one counts
    kept: list[Row] = [(a, b, at) for (a, b), at in last.items() if at is not None]
    gone: list[Row] = [pair for pair, at in last.items() if at is None]
    return _json(kept), _json(gone)


def person_row(person: Person) -> Row:
    """A profile. Sets are stored in order, so that equal profiles are equal rows."""
    return (
        person.user_id,
        person.display_name,
        person.birth_date.isoformat(),
        person.gender,
        person.lat,
        person.lon,
        person.time_zone,
        _encode(person.interests).decode(),
        _encode(sorted(person.seeking)).decode(),
        person.min_age,
        person.max_age,
        person.max_distance_km,
        _encode(sorted(person.strict)).decode(),
        *((None, None, None) if person.shown is None else astuple(person.shown)),
    )


def person_of(row: Row) -> Person:
    """A profile from its row, with or without the columns of the shown place.

    Numbers that no profile can have are damage, as text that cannot be decoded is: a computation
    with them would fail for every user nearby.
    """
    if not (
        -180 <= row[4] <= 180
        and -180 <= row[5] <= 180
        and 0 <= row[9] <= row[10] <= _OLDEST
        and 0 < row[11] <= _FARTHEST_KM
    ):
        raise ValueError("a number of the profile is out of range")
    return Person(
        user_id=intern(row[0]),
        display_name=row[1],
        birth_date=date.fromisoformat(row[2]),
        gender=row[3],
        lat=row[4],
        lon=row[5],
        time_zone=row[6],
        interests=_decode_tags(row[7]),
        seeking=shared_genders(frozenset(_decode_tags(row[8]))),
        min_age=row[9],
        max_age=row[10],
        max_distance_km=row[11],
        strict=strict_limits(_decode_tags(row[12])),
        shown=None if len(row) == 13 or row[13] is None else ShownPlace(*row[13:]),
    )


def seat_row(seat: Seat) -> Row:
    """A seat."""
    user_id, state, waiting_since, credit, match_id, date_id, last_match_id = astuple(seat)
    return (
        user_id,
        state,
        waiting_since,
        credit,
        _number(match_id),
        _number(date_id),
        _number(last_match_id),
    )


def seat_of(row: Row) -> Seat:
    """A seat from its row."""
    return Seat(
        user_id=intern(row[0]),
        state=State(row[1]),
        waiting_since=row[2],
        credit=row[3],
        match_id=_match_id(row[4]),
        date_id=_date_id(row[5]),
        last_match_id=_match_id(row[6]),
    )


def match_row(match: Match) -> Row:
    """A match. Which users are awaited is not stored: a new process awaits both."""
    # The columns are the fields in their order, and one call reads all of them.
    values = astuple(match)
    return (_number(match.match_id), *values[1:MATCH_COLUMNS])


def match_of(row: Row) -> Match:
    """A match from its row."""
    return Match(
        match_id=f"m{row[0]}",
        a=intern(row[1]),
        b=intern(row[2]),
        status=MatchStatus(row[3]),
        paired_at=row[4],
        closes_at=row[5],
        a_acknowledged=bool(row[6]),
        b_acknowledged=bool(row[7]),
        voting_at=row[8],
        a_vote=row[9] and Vote(row[9]),
        b_vote=row[10] and Vote(row[10]),
        outcome=row[11] and Outcome(row[11]),
        cancelled_for=row[12] and CancelReason(row[12]),
        ended_at=row[13],
    )


def date_row(video_date: VideoDate) -> Row:
    """A video date."""
    return (
        _number(video_date.date_id),
        video_date.a,
        video_date.b,
        video_date.started_at,
        video_date.ends_at,
        video_date.ended_at,
        video_date.ended_for,
        _number(video_date.match_id),
    )


def date_of(row: Row) -> VideoDate:
    """A video date from its row."""
    number, a, b, started_at, ends_at, ended_at, ended_for, match = row
    return VideoDate(f"d{number}", a, b, started_at, ends_at, ended_at, ended_for, _match_id(match))


def quality_row(quality: Quality) -> Row:
    """How good a match was."""
    return (
        _number(quality.match_id),
        quality.paired_at,
        quality.policy,
        quality.priority,
        quality.preference_match,
        quality.distance_score,
        quality.distance_km,
        quality.a_group,
        quality.b_group,
        quality.a_tier,
        quality.b_tier,
        quality.a_wait_s,
        quality.b_wait_s,
        quality.shown_km,
    )


def group_quality_of(row: Row) -> GroupQuality:
    """A group's part of the report, from a row of `lobby/sql/quality.sql`."""
    group, count, p50, p90, p99, *tiers, ended, both_yes = row
    return GroupQuality(
        group=group,
        count=count,
        wait_s=Percentiles(p50, p90, p99),
        tiers=dict(zip(Tier, tiers, strict=True)),
        match_rate=both_yes / ended if ended else None,
    )


def known_of(row: Row) -> Known:
    """What is stored about one user, from a row of `lobby/sql/known.sql`."""
    seat_at = 1 + PERSON_COLUMNS
    room_at = seat_at + SEAT_COLUMNS
    match_at = room_at + 1
    lists_at = match_at + MATCH_COLUMNS
    person, seat, match = row[1:seat_at], row[seat_at:room_at], row[match_at:lists_at]
    blocks, met_above, met_below, bars_above, bars_below = map(_decode_instants, row[lists_at:])
    return Known(
        user_id=intern(row[0]),
        person=None if person[0] is None else read_row(person, person_of, "people"),
        seat=None if seat[0] is None else read_row(seat, seat_of, "seats"),
        blocks=blocks,
        met=met_above | met_below,
        bars=bars_above | bars_below,
        last_match=None if match[0] is None else read_row(match, match_of, "matches"),
        room=row[room_at] or MAIN,
    )
