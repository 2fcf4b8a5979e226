"""What every store owes to the people in it: an export, an erasure, and an end to old rows."""

from __future__ import annotations

from tests.store.conftest import Opener
from yoked_actor.domain.lobby import Changes, Erasure, Seat
from yoked_actor.domain.people import Person, Report, ReportLimits
from yoked_actor.domain.time import to_datetime

NOW = 1_767_254_400_000_001
MANY = ReportLimits(99, 99)


async def test_an_export_has_what_a_user_knows_and_of_a_stranger_nothing(
    open_again: Opener, ana: Person
) -> None:
    async with open_again() as store:
        await store.commit(
            Changes(
                people=[ana],
                seats=[Seat("ana", credit=20)],
                blocks=[(("ana", "ben"), NOW)],
                met=[(("ana", "cem"), NOW)],
            )
        )
        await store.add_report(Report("ana", "ben", "rude", "m1", NOW), MANY)
        await store.add_report(Report("ben", "ana", "secret", None, NOW), MANY)
        found = await store.privacy.export("ana", NOW + 1)
        assert found.profile is not None
        assert (found.profile.display_name, found.profile.birth_date) == ("Ana", ana.birth_date)
        assert found.seat is not None
        assert found.seat.credit == 20
        assert [(one.user_id, one.at) for one in found.blocks] == [("ben", to_datetime(NOW))]
        assert [one.user_id for one in found.met] == ["cem"]
        assert [one.reason for one in found.reports] == ["rude"], "not what others reported"
        assert found.exported_at == to_datetime(NOW + 1)
        assert (await store.privacy.export("zoe", NOW)).is_empty


async def test_an_erasure_may_be_prepared_and_leaves_nothing_to_export(
    open_again: Opener, ana: Person
) -> None:
    async with open_again() as store:
        await store.commit(Changes(people=[ana], met=[(("ana", "ben"), NOW)]))
        await store.privacy.look_up("ana", NOW)
        assert store.privacy.found("ana") is not None
        await store.commit(Changes(erased=[Erasure("ana", "~erased-1", NOW + 1)]))
        assert store.privacy.found("ana") is None
        assert (await store.privacy.export("ana", NOW)).is_empty
        assert [one.user_id for one in (await store.privacy.export("ben", NOW)).met] == [
            "~erased-1"
        ]
        assert await store.privacy.wipe()
        assert await store.privacy.clear_free_space("ana", 64)


async def test_what_was_looked_up_may_be_forgotten(open_again: Opener, ana: Person) -> None:
    async with open_again() as store:
        await store.commit(Changes(people=[ana]))
        await store.privacy.look_up("ana", NOW)
        store.privacy.forget("ana")
        assert store.privacy.found("ana") is None
        await store.commit(Changes(erased=[Erasure("ana", "~erased-1", NOW)]))
        assert await store.load_person("ana") is None


async def test_old_rows_are_deleted_oldest_first_and_some_at_a_time(open_again: Opener) -> None:
    async with open_again() as store:
        for at in (10, 20, 30):
            await store.add_report(Report("ana", "ben", "rude", None, at), MANY)
        assert await store.privacy.prune("reports", 30, 1) == 1
        left = await store.operators.reports(only_open=False, limit=9, now=NOW)
        assert [report.at for report in left] == [30, 20]
        assert await store.privacy.prune("reports", 30, 9) == 1
        assert await store.privacy.prune("reports", 30, 9) == 0
        await store.operators.suspend("ana", "root", "rude", 10, 20)
        await store.operators.suspend("ben", "root", "rude", 10)
        assert await store.privacy.prune("suspended", 21, 9) == 1
        assert list(await store.operators.suspensions(0)) == ["ben"]
