"""Examples of profiles, personal data and moderation for the contract."""

from __future__ import annotations

from datetime import UTC, date, datetime

from yoked_actor.domain.people import OwnMatch, OwnProfile, OwnReport, OwnSeat, PersonalData, Since
from yoked_actor.wire.examples import MATCH, moment
from yoked_actor.wire.people import http, moderation

OWN_DATA = PersonalData(
    user_id="ana",
    exported_at=moment(55),
    profile=OwnProfile(
        *("Ana", date(1998, 4, 2), "woman", 52.52, 13.4, "Europe/Berlin"),
        *(["climbing", "jazz"], ["man"], 24, 36, 50.0, ["distance"]),
    ),
    seat=OwnSeat("idle", 10),
    suspended=None,
    blocks=[Since("mallory", moment(0))],
    met=[Since("ben", moment(4))],
    kept_apart_until=[],
    matches=[
        OwnMatch(
            *(MATCH, "ben", "completed", moment(3), True, moment(4), "yes", "yes_pass"),
            *(None, moment(9), 1, 2.5, 3),
        )
    ],
    dates=[],
    reports=[OwnReport("mallory", "rude", moment(0), MATCH)],
    offers=[],
    connections=[],
)
REPORTS = moderation.ReportsAnswer(
    [
        moderation.ReportEntry(
            *(7, moment(0), "ana", "mallory", "rude", MATCH, 3, True),
            *(moment(50), "root", "suspended"),
            moderation.CardPart("Ana", 27, "woman", ["climbing", "jazz"]),
            moderation.CardPart("Mallory", 31, "man", []),
        )
    ]
)
SUSPEND = moderation.SuspendBody("rude to three people", datetime(2026, 1, 8, 8, tzinfo=UTC))
RESOLVE = moderation.ResolveBody("suspended")
PROFILE = http.Profile(
    display_name="Ana",
    birth_date=date(1998, 4, 2),
    gender="woman",
    location=http.Location(52.52, 13.4),
    time_zone="Europe/Berlin",
    preferences=http.Preferences(["man"], 24, 36, 50, ["distance"]),
    interests=["climbing", "jazz"],
)
