"""Planted faults in the store and its SQL."""

from __future__ import annotations

from scripts.simulation.planted.mutant import one

MUTANTS = (
    one(
        "place-not-stored",
        "a new place in line is not written to an old row",
        "store/lobby/sql/intake.sql",
        "value ->> '$[2]', value ->> '$[3]', value ->> '$[4]',\n"
        "        value ->> '$[5]', value ->> '$[6]',\n        new.room\n"
        "    FROM (SELECT value FROM json_each(new.seats)",
        "coalesce((SELECT waiting_since FROM seats WHERE user_id = value ->> '$[0]'),"
        " value ->> '$[2]'), value ->> '$[3]', value ->> '$[4]',\n"
        "        value ->> '$[5]', value ->> '$[6]',\n        new.room\n"
        "    FROM (SELECT value FROM json_each(new.seats)",
        seed=7,
    ),
    one(
        "votes-not-stored",
        "votes are not written",
        "store/lobby/sql/intake.sql",
        "        a_vote = excluded.a_vote,\n        b_vote = excluded.b_vote,\n",
        "",
    ),
    one(
        "offers-for-suspended",
        "a suspended user gets offers and is offered",
        "store/offers/sql/pool_receivers.sql",
        "(x.until IS NULL OR x.until > :at)",
        "x.until < 0",
        seed=31,
    ),
    one(
        "null-votes",
        "the votes of users who never voted are NULL",
        "store/offers/sql/pool_votes.sql",
        "count(*) FILTER (WHERE gave = 'yes')",
        "sum(CASE gave WHEN 'yes' THEN 1 WHEN 'pass' THEN 0 END)",
        seed=22,
    ),
    one(
        "offered-again",
        "the same person is offered every day",
        "store/offers/sql/pool_not_again.sql",
        "s.user_id = r.value AND",
        "s.user_id = r.value AND 0 AND",
    ),
    one(
        "met-offered",
        "people who have met are offered",
        "store/offers/sql/pool_apart.sql",
        "WHERE :met_after IS NULL OR m.met_at > :met_after",
        "WHERE :met_after IS NOT NULL AND m.met_at > :met_after",
    ),
    one(
        "no-retry",
        "a job that failed is not run again",
        "store/jobs/sql/claim.sql",
        "due.status IN ('pending', 'failed')",
        "due.status IN ('pending')",
        seed=23,
    ),
    one(
        "no-rescue",
        "a job whose process died is never run again",
        "store/jobs/sql/expired.sql",
        "lease_until <= ?1",
        "lease_until <= ?1 - 4000000000000000",
        seed=8,
    ),
    one(
        "no-fence",
        "an attempt that has lost its lease completes the job",
        "store/jobs/sql/complete.sql",
        "AND fence = ?2\n    AND status = 'in_progress' AND lease_until > ?4",
        "AND ?2 IS NOT NULL AND ?4 IS NOT NULL",
        seed=42,
    ),
    one(
        "erased-in-log",
        "the log is not truncated after an erasure",
        "store/people/privacy.py",
        "                    if await self._database.truncate_log():\n",
        "                    if self._database is not None:\n",
    ),
    one(
        "erased-offers",
        "the offers of an erased user stay",
        "store/people/erasure.py",
        "    _erase_offers(tx, user, tombstone, traces)\n",
        "",
    ),
    one(
        "half-export",
        "an export has only the matches of one side",
        "store/people/export.py",
        "WHERE m.a = ?1 OR m.b = ?1 ORDER BY m.number",
        "WHERE m.a = ?1 ORDER BY m.number",
    ),
    one(
        "no-sync",
        "commits do not wait for the disk",
        "store/engine/sqlite/connections.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        seed=7,
    ),
    one(
        "touch-after-no",
        "a connection opens when one said yes and the other said no",
        "store/contacts/touch.py",
        "        and _answer(tx, number, partner) == Touch.YES\n",
        "        and _answer(tx, number, partner) is not None\n",
        seed=31,
    ),
)
