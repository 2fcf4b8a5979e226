"""The clock by which leases are judged: one for all processes of a machine, and never stepped.

A lease is a duration, and several processes have to agree about its end: the server, its workers,
the command line. The time of day does not serve, because a step of it would end every lease at once
or none for a day. The machine's own time since it was started does (CLOCK_MONOTONIC on Linux): all
processes read the same one, steps do not touch it, and it stands still while the machine is
suspended, as do the processes that would renew their leases.

What is stored is an instant on a scale of its own: the machine's time plus an offset. The first
process of a boot writes the offset, so that the scale begins at the time of day; the others read
it. After another boot, or on another machine, no process that held a lease is left: its leases are
over.
"""

from __future__ import annotations

from yoked_actor.domain.time import Instant, ReadMachineTime
from yoked_actor.store.engine import Tx


class LeaseClock:
    """Tells the instant by which leases are judged."""

    def __init__(self, machine: ReadMachineTime | None = None, offset: int = 0) -> None:
        """Without `machine`, leases are judged by the `now` of each call."""
        self._machine = machine
        self._offset = offset

    def at(self, now: Instant) -> Instant:
        """The present instant on the scale of leases; `now` is the time of day."""
        return now if self._machine is None else self._machine().uptime + self._offset

    def ahead(self, now: Instant) -> int:
        """What to add to an instant of a lease to get the time of day."""
        return now - self.at(now)

    def ahead_at_present(self) -> int:
        """The same, when there is no `now` to go by."""
        return 0 if self._machine is None else self.ahead(self._machine().now)


def open_lease_clock(tx: Tx, machine: ReadMachineTime, *, is_server: bool) -> LeaseClock:
    """The clock of this boot; leases of an earlier one are over.

    A system that does not name its boots has a new one with each start of a server.
    """
    known = read_lease_clock(tx, machine)
    if known is not None and (machine().boot or not is_server):
        return known
    boot, uptime, now = machine()
    tx.execute("BEGIN IMMEDIATE")
    try:
        found = tx.execute("SELECT boot, ahead FROM lease_clock").fetchone()
        is_new = found is None or found[0] != boot or (is_server and not boot)
        offset = now - uptime if is_new else found[1]
        if is_new:
            tx.execute(
                "INSERT INTO lease_clock (id, boot, ahead) VALUES (1, ?1, ?2)"
                " ON CONFLICT DO UPDATE SET boot = ?1, ahead = ?2",
                (boot, offset),
            )
        if is_new and found is not None:
            tx.execute(
                "UPDATE jobs SET lease_until = min(lease_until, ?) WHERE status = 'in_progress'",
                (uptime + offset,),
            )
        tx.execute("COMMIT")
    except BaseException:
        tx.execute("ROLLBACK")
        raise
    return LeaseClock(machine, offset)


def read_lease_clock(tx: Tx, machine: ReadMachineTime) -> LeaseClock | None:
    """The clock of this boot, if a process has written it; changes nothing."""
    found = tx.execute("SELECT boot, ahead FROM lease_clock").fetchone()
    if found is None or found[0] != machine().boot:
        return None
    return LeaseClock(machine, found[1])
