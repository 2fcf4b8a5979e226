"""What every store does for operators: the audit, suspensions, reports, users, alerts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.store.conftest import Opener
from yoked_actor.domain.jobs import NewJob, RetryPolicy
from yoked_actor.domain.lobby import Changes, Match, MatchStatus, Seat, State
from yoked_actor.domain.ops import (
    Alert,
    AlertChange,
    AlertState,
    AuditEntry,
    DeadLetterChange,
    DeadLetters,
    RaisedAlert,
)
from yoked_actor.domain.people import (
    Appeal,
    Person,
    Report,
    ReportKind,
    ReportLimits,
    Suspension,
    UserRow,
)
from yoked_actor.domain.time import after
from yoked_actor.store import (
    NoSuchWarning,
    NothingToDo,
    Store,
    TooManyAppeals,
    TooManyReports,
    TooManyWarnings,
)

NOW = 1_767_254_400_000_001
MANY = ReportLimits(99, 99)
HOUR_S = 3600.0


def job(key: str) -> NewJob:
    return NewJob("announce", {}, NOW, key=key)


async def test_the_audit_is_read_newest_first_and_page_by_page(open_again: Opener) -> None:
    async with open_again() as store:
        for at, subject in enumerate(("ana", "ben", "cem"), NOW):
            await store.audit.record("root", "look", subject, "why", at)
        newest = await store.audit.entries(2)
        assert [entry.subject for entry in newest] == ["cem", "ben"]
        assert await store.audit.entries(2, before=newest[-1].number) == [
            AuditEntry(1, NOW, "root", "look", "ana", "why")
        ]


async def test_a_suspension_ends_by_itself_or_by_hand(open_again: Opener) -> None:
    async with open_again() as store:
        until = after(NOW, 60)
        assert await store.operators.suspend("ana", "root", "rude", NOW)
        assert await store.operators.suspend("ben", "root", "rude", NOW, until)
        assert not await store.operators.suspend("ben", "olga", "again", NOW + 1, until)
        assert await store.operators.suspensions(NOW) == {
            "ana": Suspension("ana", NOW, "root", "rude"),
            "ben": Suspension("ben", NOW, "root", "rude", until),
        }
        assert set(await store.operators.suspensions(until)) == {"ana"}
        assert not await store.operators.unsuspend("ben", "root", until)
        assert not await store.operators.unsuspend("cem", "root", NOW)
        assert await store.operators.unsuspend("ana", "root", until)
        assert await store.operators.suspensions(NOW) == {}
        actions = [(entry.action, entry.subject) for entry in await store.audit.entries(9)]
        assert actions == [("unsuspend", "ana"), ("suspend", "ben"), ("suspend", "ana")]


async def test_a_suspension_that_gets_another_end_keeps_its_beginning(open_again: Opener) -> None:
    async with open_again() as store:
        await store.operators.suspend("ana", "root", "rude", NOW, after(NOW, 60))
        assert await store.operators.suspend("ana", "olga", "ruder", NOW + 5, after(NOW, 90))
        found = (await store.operators.suspensions(NOW))["ana"]
        assert found == Suspension("ana", NOW, "olga", "ruder", after(NOW, 90))


async def test_a_report_is_reviewed_once(open_again: Opener) -> None:
    async with open_again() as store:
        await store.add_report(Report("ana", "ben", "rude", "m1", NOW), MANY)
        await store.add_report(Report("cem", "ben", "late", None, NOW + 1), MANY)
        await store.operators.suspend("ben", "root", "rude", NOW)
        await store.operators.resolve(1, "root", "talked to", NOW + 2)
        with pytest.raises(NothingToDo):
            await store.operators.resolve(1, "root", "again", NOW + 3)
        with pytest.raises(NothingToDo):
            await store.operators.resolve(9, "root", "none", NOW + 3)
        [second, first] = await store.operators.reports(only_open=False, limit=9, now=NOW)
        assert (first.resolved_at, first.resolved_by, first.resolution) == (
            NOW + 2,
            "root",
            "talked to",
        )
        assert (second.reporter, second.reported_times, second.suspended) == ("cem", 2, True)
        assert await store.operators.reports(only_open=True, limit=9, now=NOW) == [second]
        older = await store.operators.reports(
            only_open=False, limit=9, now=NOW, before=second.number
        )
        assert older == [first]


async def test_one_report_too_many_is_not_stored(open_again: Opener) -> None:
    async with open_again() as store:
        limits = ReportLimits(per_day=2, per_pair=1)
        await store.add_report(Report("ana", "ben", "rude", None, NOW), limits)
        for reported in ("ben", "cem", "dan"):
            report = Report("ana", reported, "rude", None, NOW)
            if reported == "cem":
                await store.add_report(report, limits)
                continue
            with pytest.raises(TooManyReports):
                await store.add_report(report, limits)
        assert len(await store.operators.reports(only_open=False, limit=9, now=NOW)) == 2


async def test_users_are_listed_by_id_with_and_without_a_profile(
    open_again: Opener, ana: Person
) -> None:
    async with open_again() as store:
        seats = [Seat("ana", State.WAITING, NOW, 30), Seat("ben")]
        await store.commit(Changes(people=[ana], seats=seats))
        await store.operators.suspend("cem", "root", "rude", NOW)
        await store.add_report(Report("ana", "ben", "rude", None, NOW), MANY)
        listed = [
            UserRow("ana", "waiting", True, 30, 0, None, None, "Ana"),
            UserRow("ben", "idle", False, 0, 1, None, None),
            UserRow("cem", "idle", False, 0, 0, NOW, None),
        ]
        assert await store.operators.users(limit=9, now=NOW) == listed
        assert await store.operators.users(limit=1, now=NOW, after="ana") == listed[1:2]
        assert await store.operators.users(limit=9, now=NOW, only_suspended=True) == listed[2:]


# Alerts


def change(alert: Alert, state: AlertState) -> AlertChange:
    return AlertChange(alert, state, 3.5, 2.0, NOW + 9, NOW)


async def test_an_alert_stands_until_it_is_cleared_and_brings_its_jobs(open_again: Opener) -> None:
    raised = [change(Alert.LOOP_LAG, AlertState.RAISED), change(Alert.DISK, AlertState.RAISED)]
    async with open_again() as store:
        await store.alerts.record(raised, [job("a"), job("b")], NOW)
        assert await store.alerts.load() == [
            RaisedAlert(one.alert, 3.5, 2.0, NOW) for one in sorted(raised, key=lambda c: c.alert)
        ]
        await store.alerts.record([change(Alert.DISK, AlertState.CLEARED)], [], NOW)
        assert [one.alert for one in await store.alerts.load()] == [Alert.LOOP_LAG]
        assert [one.key for one in await store.jobs.list()] == ["b", "a"]


async def dead_letter(store: Store, job_type: str) -> int:
    """Make a job that is a dead letter."""
    [made] = await store.jobs.enqueue([NewJob(job_type, {}, NOW)], NOW)
    [claimed] = (await store.jobs.claim("ana", NOW, 60, 1, {job_type: RetryPolicy()})).jobs
    await store.jobs.fail(claimed.id, claimed.fence, NOW, None, "broken")
    return made.job_id


async def test_dead_letters_are_counted_into_one_alert_for_each_type(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.alerts.dead_letters() == ([], False)
        first = await dead_letter(store, "mail")
        assert await store.alerts.dead_letters() == ([], True)
        dead = DeadLetters("mail", "logic", 1, first, NOW)
        raised = DeadLetterChange(dead, AlertState.RAISED, NOW)
        found = await store.alerts.take_dead_letters(NOW, HOUR_S, lambda one: job(one.key))
        assert found == [raised]
        assert [one.key for one in await store.jobs.list(job_type="announce")] == [raised.key]

        await dead_letter(store, "mail")
        assert await store.alerts.take_dead_letters(NOW + 1, HOUR_S, lambda _: None) == []
        more = DeadLetters("mail", "logic", 2, first, NOW)
        assert await store.alerts.dead_letters() == ([more], False)

        later = after(NOW, HOUR_S)
        over = await store.alerts.take_dead_letters(later, HOUR_S, lambda _: None)
        assert over == [DeadLetterChange(more, AlertState.CLEARED, later)]
        assert await store.alerts.dead_letters() == ([], False)


async def test_an_appeal_is_kept_once_in_a_time_and_closed_like_a_report(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        await store.add_report(Report("ana", "ben", "rude", "m1", NOW), MANY)
        await store.add_appeal(Appeal("ben", "it was a joke", NOW), HOUR_S)
        with pytest.raises(TooManyAppeals) as refused:
            await store.add_appeal(Appeal("ben", "again", after(NOW, 600)), HOUR_S)
        assert refused.value.wait_s == 3000.0
        assert await store.operators.open_reports(9) == 2
        assert await store.operators.open_reports(1) == 1
        appeal, report = await store.operators.reports(only_open=True, limit=9, now=NOW)
        assert (appeal.kind, appeal.reason, appeal.reporter) == (
            ReportKind.APPEAL,
            "it was a joke",
            "ben",
        )
        assert (report.kind, report.reported_times) == (ReportKind.REPORT, 1)
        about, by = await store.operators.reports_of("ben", NOW, 9)
        assert ([one.number for one in about], by) == ([2, 1], [])
        about, by = await store.operators.reports_of("ana", NOW, 9)
        assert (about, [one.number for one in by]) == ([], [1])
        await store.operators.resolve(appeal.number, "root", "stands", NOW)
        assert await store.operators.open_reports(9) == 1
        await store.add_appeal(Appeal("ben", "again", after(NOW, HOUR_S)), HOUR_S)


async def test_a_warning_is_kept_until_it_was_seen(open_again: Opener) -> None:
    async with open_again() as store:
        await store.add_report(Report("ana", "ben", "rude", None, NOW), MANY)
        first = await store.moderation.warn("ben", "root", "be kind", NOW, most_unseen=2, report=1)
        assert (first.warning_id, first.text, first.seen_at) == ("w1", "be kind", None)
        with pytest.raises(NothingToDo):
            await store.moderation.warn("ben", "root", "no", NOW, most_unseen=2, report=1)
        second = await store.moderation.warn("ben", "olga", "again", NOW + 1, most_unseen=2)
        with pytest.raises(TooManyWarnings):
            await store.moderation.warn("ben", "root", "no", NOW, most_unseen=2)
        assert await store.moderation.users_with_unseen() == {"ben"}
        assert await store.moderation.unseen(["ana", "ben"]) == [first, second]
        with pytest.raises(NoSuchWarning):
            await store.moderation.see("ana", 1, NOW)
        await store.moderation.see("ben", 1, NOW + 5)
        await store.moderation.see("ben", 1, NOW + 9)
        assert await store.moderation.unseen(["ben"]) == [second]
        newest, oldest = await store.moderation.warned("ben", 9)
        assert (newest, oldest.seen_at) == (second, NOW + 5)
        assert await store.moderation.warned("ben", 1) == [second]
        [report] = await store.operators.reports(only_open=False, limit=9, now=NOW)
        assert (report.resolved_by, report.resolution) == ("root", "warned: be kind")
        actions = [(one.action, one.detail) for one in await store.audit.about("ben", 9)]
        assert actions == [("warn", "again"), ("warn", "be kind")]


async def test_a_suspension_closes_its_report_or_neither_is_stored(open_again: Opener) -> None:
    async with open_again() as store:
        await store.add_report(Report("ana", "ben", "rude", None, NOW), MANY)
        with pytest.raises(NothingToDo):
            await store.operators.suspend("ben", "root", "rude", NOW, report=7)
        assert await store.operators.suspensions(NOW) == {}
        assert await store.operators.suspend("ben", "root", "rude", NOW, report=1)
        assert await store.operators.open_reports(9) == 0


async def test_users_are_found_by_a_part_of_the_name_or_id_in_any_case(
    open_again: Opener, ana: Person
) -> None:
    async with open_again() as store:
        names = {"u1": "\u00c9dith", "u2": "Ana", "ana-3": "Eva", "u4": "Joanna"}
        people = [
            msgspec.structs.replace(ana, user_id=user_id, display_name=name)
            for user_id, name in names.items()
        ]
        await store.commit(Changes(people=people))

        async def found(search: str, **more: Any) -> list[str]:
            given = {"limit": 9, "now": NOW, "search": search, **more}
            return [row.user_id for row in await store.operators.users(**given)]

        assert await found("ana") == ["ana-3", "u2"]
        assert await found("\u00e9DI") == await found("e\u0301di") == ["u1"]
        assert await found("an", after="ana-3") == ["u2", "u4"]
        assert await found("an", limit=1) == ["ana-3"]
        assert await found("%") == await found("zoe") == []
        cards = await store.moderation.cards(["u1", "u2", "nobody"])
        assert {one.user_id: one.display_name for one in cards.values()} == {
            "u1": "\u00c9dith",
            "u2": "Ana",
        }


async def test_a_match_is_known_with_the_reason_why_it_was_made(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.moderation.match_facts(1) is None
        match = Match("m1", "ana", "ben", MatchStatus.MATCHED, NOW, NOW + 5)
        await store.commit(Changes(matches=[match]))
        facts = await store.moderation.match_facts(1)
        assert facts is not None
        assert (facts.a, facts.b, facts.status, facts.policy) == ("ana", "ben", "matched", None)
