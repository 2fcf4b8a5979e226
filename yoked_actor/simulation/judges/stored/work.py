"""Every job ends once, and no part of the server stays dead."""

from __future__ import annotations

from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Tally

_OVERDUE_S = 1800.0
_WELL_AFTER_S = 900.0
_RULES = {
    "a job that is done twice": (
        "SELECT type, key, count(*) FROM job_ledger GROUP BY type, key HAVING count(*) > 1"
    ),
    "an open job whose key has ended": (
        "SELECT j.id, j.status, k.outcome FROM jobs AS j JOIN job_ledger AS k ON k.job_id = j.id"
        " AND k.type = j.type WHERE j.status IN ('pending', 'failed', 'in_progress')"
        " AND k.outcome IS NOT NULL"
    ),
    "a completed job that was never claimed": (
        "SELECT id, type FROM jobs WHERE status = 'completed' AND fence = 0"
    ),
    "a job completed by an attempt that had ended": (
        "SELECT j.id, j.type, t.cause FROM jobs AS j JOIN job_attempts AS t"
        " ON t.job_id = j.id AND t.fence = j.fence WHERE j.status = 'completed'"
    ),
    "a completed job for a set that is not there": (
        "SELECT j.id, j.payload FROM jobs AS j WHERE j.type = 'offers.user'"
        " AND j.status = 'completed' AND NOT EXISTS (SELECT 1 FROM offer_sets AS s"
        " WHERE s.day = j.payload ->> 'date' AND s.user_id = j.payload ->> 'user_id')"
        " AND j.payload ->> 'user_id' IN (SELECT user_id FROM people)"
    ),
}

_BEGUN_AFTER_ITS_END = (
    "SELECT id, type, started_at, completed_at FROM jobs WHERE status = 'completed'"
    " AND completed_at < started_at"
)


class WorkJudge:
    """Looks at jobs, at readiness, and at alerts."""

    def __init__(
        self,
        stage: Stage,
        books: Books,
        bench: Bench,
        weather: Weather,
        tally: Tally,
        api: Api,
    ) -> None:
        self._stage = stage
        self._books = books
        self._bench = bench
        self._weather = weather
        self._tally = tally
        self._api = api
        self._dead: set[int] = set()

    def check_jobs(self) -> None:
        """Judge the table of jobs."""
        self._bench.count("jobs")
        # By the machine's clock: a job is due when the server thinks so.
        late_at = self._stage.wall.machine() - round(_OVERDUE_S * MICROSECONDS)
        with self._books.open() as books:
            for rule, query in _RULES.items():
                rows = books.execute(query).fetchmany(3)
                if rows:
                    self._bench.report("jobs", f"{rule}: {rows}")
            if not self._weather.has_stepped_since(0.0):
                rows = books.execute(_BEGUN_AFTER_ITS_END).fetchmany(3)
                if rows:
                    text = f"completed before the attempt that completed it began: {rows}"
                    self._bench.report("jobs", text)
            late = books.execute(
                "SELECT id, type, status, attempts, scheduled_for FROM jobs"
                " WHERE status IN ('pending', 'failed', 'in_progress') AND scheduled_for < ?",
                (late_at,),
            ).fetchmany(3)
            dead = books.execute(
                "SELECT id, type, last_error FROM jobs WHERE status = 'dead_letter'"
            ).fetchall()
            counts = books.execute("SELECT type, status, count(*) FROM jobs GROUP BY 1, 2")
            self._tally.jobs.clear()
            for kind, status, count in counts:
                self._tally.jobs[f"{kind} {status}"] = count
        if late and self._weather.is_fair(_OVERDUE_S):
            self._bench.report("overdue_jobs", f"due for half an hour: {late}")
        for job_id, kind, error in dead:
            if job_id not in self._dead:
                self._dead.add(job_id)
                self._bench.report("dead_letter", f"job {job_id} {kind}: {(error or '')[-300:]}")

    async def check_health(self) -> None:
        """Nothing is degraded when nothing has happened for a while."""
        if not self._weather.is_fair(_WELL_AFTER_S):
            return
        answer = await self._api.call("GET", "/readyz", tries=1)
        if answer is None or not self._weather.is_fair(_WELL_AFTER_S):
            return
        self._bench.count("health")
        if answer.status != 200 or answer.body.get("degraded"):
            self._bench.report("degraded", f"/readyz says {answer.status} {answer.body}")
        alerts = await self._api.call("GET", "/api/admin/alerts", tries=1)
        if alerts is not None and alerts.status == 200:
            for alert in alerts.body["alerts"]:
                if alert["alert"] in ("duplicate_offers", "audit_violations"):
                    self._bench.report("alert", f"{alert}")

    async def verify(self, zone: str, day: str) -> None:
        """The stored sets of a morning are what their frozen pool gives."""
        path = f"/api/admin/offers/verify?zone={zone}&date={day}"
        answer = await self._api.call("GET", path, tries=3)
        if answer is None or answer.status == 404:
            return
        self._bench.count("verified")
        findings = answer.body["findings"] if answer.status == 200 else []
        # That a person of the pool was erased since is said, and is no fault.
        found = [one for one in findings if not one.get("erased")][:3]
        if found:
            self._bench.report("offers_do_not_verify", f"{zone} {day}: {found}")
