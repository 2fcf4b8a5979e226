"""The clock by which leases are judged: one for all processes of a machine, and never stepped.

A lease is a duration, and several processes have to agree about its end: the server, its workers,
the command line. The time of day is not suitable: a step of it could end every lease at once, or
none for a day. The monotonic clock of the machine is (CLOCK_MONOTONIC on Linux): all processes read
the same clock, the time of day does not change it, and it stops while the machine is suspended, as
do the processes that renew their leases.

The stored instant is the machine's time plus an offset. The first process of a boot writes the
offset, so that the scale begins at the time of day; the others read it. After another boot, or on
another machine, no process that held a lease runs any more, so all leases have ended.
"""

from __future__ import annotations

from yoked_actor.domain.time import Instant, ReadMachineTime
from yoked_actor.store.engine import Tx


class LeaseClock:
    """Reads the instant by which leases are judged."""

    def __init__(self, machine: ReadMachineTime | None = None, offset: int = 0) -> None:
        """Without `machine`, leases are judged by the `now` of each call."""
        self._machine = machine
        self._offset = offset

    def at(self, now: Instant) -> Instant:
        """The present instant on the scale of leases; `now` is the time of day."""
        return now if self._machine is None else self._machine().uptime + self._offset

    def ahead(self, now: Instant) -> int:
        """The difference from the scale of leases to the time of day."""
        return now - self.at(now)

    def ahead_at_present(self) -> int:
        """`ahead` by the machine's own reading of the time of day."""
        return 0 if self._machine is None else self.ahead(self._machine().now)


def open_lease_clock(tx: Tx, machine: ReadMachineTime, *, is_server: bool) -> LeaseClock:
    """The clock of this boot; ends the leases of an earlier boot.

    On a system without boot ids each start of a server counts as a new boot.
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
                " ON CONFLICT (id) DO UPDATE SET boot = ?1, ahead = ?2",
                (boot, offset),
            )
        if is_new and found is not None:
            tx.execute(
                "UPDATE jobs SET lease_until = ?1"
                " WHERE status = 'in_progress' AND lease_until > ?1",
                (uptime + offset,),
            )
        tx.execute("COMMIT")
    except BaseException:
        tx.execute("ROLLBACK")
        raise
    return LeaseClock(machine, offset)


def read_lease_clock(tx: Tx, machine: ReadMachineTime) -> LeaseClock | None:
    """The clock of this boot, if a process has written it; writes nothing."""
    found = tx.execute("SELECT boot, ahead FROM lease_clock").fetchone()
    if found is None or found[0] != machine().boot:
        return None
    return LeaseClock(machine, found[1])
