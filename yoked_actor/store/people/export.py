"""A person's data as a whole: what an export contains."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import msgspec

from yoked_actor.domain.offers import KeptSet, shown_points
from yoked_actor.domain.people import (
    OwnAppeal,
    OwnConnection,
    OwnDate,
    OwnMatch,
    OwnOffer,
    OwnOffers,
    OwnProfile,
    OwnReport,
    OwnSeat,
    OwnSuspension,
    OwnWarning,
    PersonalData,
    Since,
)
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.store.engine import Tx, joined, read_row, read_rows, snapshot, statement
from yoked_actor.store.offers import kept_set

_LOAD_SETS = joined(statement("offers/load_sets"), "WHERE s.user_id = ? ORDER BY s.offered_at")


def export_in(tx: Tx, user: str, now: Instant) -> PersonalData:
    """All that is stored about one person."""
    with snapshot(tx):
        return PersonalData(
            user_id=user,
            exported_at=to_datetime(now),
            profile=_profile(tx, user),
            seat=_seat(tx, user),
            suspended=_suspension(tx, user),
            blocks=_since(tx, "SELECT blocked, at FROM blocks WHERE blocker = ?1", user),
            met=_pairs(tx, "met", "met_at", user),
            kept_apart_until=_pairs(tx, "bars", "until", user),
            matches=_matches(tx, user),
            dates=_dates(tx, user),
            reports=_reports(tx, user),
            offers=_offers(tx, user),
            connections=_connections(tx, user),
            appeals=_appeals(tx, user),
            warnings=_warnings(tx, user),
            guest_in=_guest_in(tx, user),
        )


def _profile(tx: Tx, user: str) -> OwnProfile | None:
    row = tx.execute(
        "SELECT display_name, birth_date, gender, lat, lon, time_zone, interests, seeking,"
        " min_age, max_age, max_distance_km, strict FROM people WHERE user_id = ?",
        (user,),
    ).fetchone()
    if row is None:
        return None
    interests, seeking, strict = (msgspec.json.decode(row[at]) for at in (6, 7, 11))
    return OwnProfile(
        *(row[0], date.fromisoformat(row[1]), *row[2:6], interests, seeking, *row[8:11], strict)
    )


def _seat(tx: Tx, user: str) -> OwnSeat | None:
    row = tx.execute(
        "SELECT coalesce(m.status, s.state), s.credit, s.waiting_since, s.room FROM seats AS s"
        " LEFT JOIN matches AS m ON m.number = s.match_number WHERE s.user_id = ?",
        (user,),
    ).fetchone()
    return None if row is None else OwnSeat(row[0], row[1], _moment(row[2]), row[3])


def _suspension(tx: Tx, user: str) -> OwnSuspension | None:
    row = tx.execute(
        "SELECT user_id, at, reason, until FROM suspended WHERE user_id = ?", (user,)
    ).fetchone()
    return None if row is None else read_row(row, _suspension_of, "suspended")


def _suspension_of(row: tuple[Any, ...]) -> OwnSuspension:
    return OwnSuspension(to_datetime(row[1]), row[2], _moment(row[3]))


def _since(tx: Tx, query: str, user: str) -> list[Since]:
    return [
        Since(who, to_datetime(at)) for who, at in tx.execute(f"{query} ORDER BY 2, 1", (user,))
    ]


def _pairs(tx: Tx, table: str, at: str, user: str) -> list[Since]:
    above = f"SELECT b, {at} FROM {table} WHERE a = ?1"
    return _since(tx, f"{above} UNION ALL SELECT a, {at} FROM {table} WHERE b = ?1", user)


def _matches(tx: Tx, user: str) -> list[OwnMatch]:
    found = []
    query = (
        "SELECT m.number, m.a, m.b, m.status, m.paired_at, m.a_acknowledged, m.b_acknowledged,"
        " m.voting_at, m.a_vote, m.b_vote, m.outcome, m.cancelled_for, m.ended_at,"
        " q.a_tier, q.b_tier, q.a_wait_s, q.b_wait_s, q.shown_km,"
        " EXISTS (SELECT 1 FROM blocks AS k WHERE k.blocker = ?1 AND k.at = m.ended_at"
        " AND k.blocked IN (m.a, m.b))"
        " FROM matches AS m LEFT JOIN quality AS q ON q.match_number = m.number"
        " WHERE m.a = ?1 OR m.b = ?1 ORDER BY m.number"
    )
    for row in tx.execute(query, (user,)):
        mine, theirs = (0, 1) if row[1] == user else (1, 0)
        cancelled_for, has_blocked = row[11], row[18]
        if cancelled_for == "blocked" and not has_blocked:
            cancelled_for = "partner_left"  # as the user was told: a block is never disclosed
        found.append(
            OwnMatch(
                match_id=f"m{row[0]}",
                partner=row[1 + theirs],
                status=row[3],
                paired_at=to_datetime(row[4]),
                acknowledged=bool(row[5 + mine]),
                voting_at=_moment(row[7]),
                vote=row[8 + mine],
                outcome=row[10],
                cancelled_for=cancelled_for,
                ended_at=_moment(row[12]),
                tier=row[13 + mine],
                waited_s=row[15 + mine],
                distance_km=row[17],
            )
        )
    return found


def _dates(tx: Tx, user: str) -> list[OwnDate]:
    query = (
        "SELECT number, CASE WHEN a = ?1 THEN b ELSE a END, started_at, ended_at, ended_for,"
        " (SELECT answer FROM touch_answers WHERE date_number = number AND user_id = ?1)"
        " FROM dates WHERE a = ?1 OR b = ?1 ORDER BY number"
    )
    return [
        OwnDate(f"d{number}", partner, to_datetime(began), _moment(ended), why, answer)
        for number, partner, began, ended, why, answer in tx.execute(query, (user,))
    ]


def _reports(tx: Tx, user: str) -> list[OwnReport]:
    query = (
        "SELECT reported, reason, at, match_id, resolved_at FROM reports"
        " WHERE reporter = ? AND kind = 'report' ORDER BY number"
    )
    return [
        OwnReport(who, reason, to_datetime(at), match_id, _moment(resolved))
        for who, reason, at, match_id, resolved in tx.execute(query, (user,))
    ]


def _appeals(tx: Tx, user: str) -> list[OwnAppeal]:
    query = (
        "SELECT reason, at, resolved_at FROM reports"
        " WHERE reporter = ? AND kind = 'appeal' ORDER BY number"
    )
    return [
        OwnAppeal(text, to_datetime(at), _moment(resolved))
        for text, at, resolved in tx.execute(query, (user,))
    ]


def _warnings(tx: Tx, user: str) -> list[OwnWarning]:
    query = "SELECT text, at, seen_at FROM warnings WHERE user_id = ? ORDER BY number"
    return [
        OwnWarning(text, to_datetime(at), _moment(seen_at))
        for text, at, seen_at in tx.execute(query, (user,))
    ]


def _guest_in(tx: Tx, user: str) -> list[str]:
    query = "SELECT room FROM room_guests WHERE user_id = ? ORDER BY room"
    return [room for (room,) in tx.execute(query, (user,))]


def _offers(tx: Tx, user: str) -> list[OwnOffers]:
    sets = read_rows(tx.execute(_LOAD_SETS, (user,)), kept_set, "offer_sets")
    return [_offers_of(kept) for kept in sets]


def _offers_of(kept: KeptSet) -> OwnOffers:
    made = kept.offers
    offers = [
        # Without the distance: the stored one is exact, and the user saw only the edge of a band.
        OwnOffer(
            *(offer_id, offer.candidate, shown_points(offer.facts, None)),
            *(list(offer.reasons(None)), answer),
        )
        for offer_id, offer, answer in zip(made.ids(), made.offers, kept.answers, strict=True)
    ]
    return OwnOffers(
        *(made.day.isoformat(), kept.zone, to_datetime(made.offered_at)),
        *(to_datetime(made.expires_at), offers, _moment(kept.delivered_at)),
    )


def _connections(tx: Tx, user: str) -> list[OwnConnection]:
    query = (
        "SELECT number, CASE WHEN a = ?1 THEN b ELSE a END, opened_at, source FROM connections"
        " WHERE a = ?1 OR b = ?1 ORDER BY number"
    )
    return [
        OwnConnection(f"c{number}", partner, to_datetime(at), source)
        for number, partner, at, source in tx.execute(query, (user,))
    ]


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else to_datetime(at)
