"""Three nodes over one PostgreSQL; nodes are killed and paused: what is lost, and for how long.

300 bots meet in 6 rooms. Three times a node is killed with -9 and another one is stopped for 20
seconds (SIGSTOP) and continued. The bots are witnesses: everything that they were told has to be
stored, nobody may be in two matches, both sides have to agree. Probes measure how long a room was
not served.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from random import Random

import trio

from tests.postgres import running_postgres
from tests.process.node_trial import PostgresBooks, Trial, open_trial
from yoked_actor.bots import Pace

_KILL_TO_STOP_S = 12.0
_LOGGED = ("room_taken", "room_served", "room_handed_over", "lease_lost")
# 300 bots share a processor with three nodes and PostgreSQL.
_PACE = Pace(
    acknowledge_s=(0.2, 2.0),
    vote_s=(2.0, 7.0),
    date_s=(2.0, 6.0),
    rest_s=(1.0, 4.0),
    patience_s=(600, 600),
)


def main() -> None:
    """Run the trial, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--rooms", type=int, default=6)
    parser.add_argument("--bots", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3, help="kills, and stops")
    parser.add_argument("--stop-s", type=float, default=20.0, help="how long a node is stopped")
    parser.add_argument("--lease-s", type=float, default=6.0)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long bots meet at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a directory for the logs and a timeline")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, running_postgres(fsync=True) as server:
        directory = given.keep or Path(made)
        directory.mkdir(parents=True, exist_ok=True)
        with (
            server.database() as url,
            open_trial(
                url,
                directory,
                nodes=given.nodes,
                rooms=given.rooms,
                bots=given.bots,
                lease_s=given.lease_s,
                pace=_PACE,
            ) as trial,
        ):
            figures = trio.run(_run, trial, given)
    print(json.dumps(figures, indent=2))
    if figures["problems"]:
        raise SystemExit(1)


async def _run(trial: Trial, given: argparse.Namespace) -> dict[str, object]:
    random = Random(given.seed)
    refused = 0.0

    async def play() -> None:
        nonlocal refused
        await trial.all_served()
        began = trio.current_time()
        for _ in range(given.rounds):
            killed, stopped = random.sample(trial.nodes, 2)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trial.kill, killed)
                await trio.sleep(_KILL_TO_STOP_S)
                await trial.stop_for(stopped, given.stop_s)
                # It finds out, and its late writes are counted before it may be killed.
                await trio.sleep(3)
                refused += trial.take_refused(stopped)
        await trio.sleep(max(0.0, began + given.seconds - trio.current_time()))

    await trial.run(play)
    books, accounts = PostgresBooks(trial.url), trial.witness.accounts
    problems = [
        *trial.witness.objections,
        *books.problems(accounts),
        *books.disagreements(accounts),
    ]
    outages = trial.outages_s()
    if given.keep is not None:
        (given.keep / "timeline.txt").write_text("\n".join(_timeline(trial)) + "\n")
    return {
        "bots": given.bots,
        "rooms": given.rooms,
        "kills": sum(what == "killed" for what, *_ in trial.faults),
        "stops": sum(what == "stopped" for what, *_ in trial.faults),
        "matches_told": len(trial.told()),
        "outcomes_told": sum(len(account.outcomes) for account in accounts.values()),
        "places_kept": trial.witness.places_kept,
        "sessions_begun_anew": trial.witness.sessions_lost,
        "late_writes_refused": refused,
        "served_again_after_s": trial.takeovers_s(),
        "longest_outage_s": outages,
        "lease_s": given.lease_s,
        "probes_missed": Counter(re.sub(r"[0-9]+", "N", why) for *_, why in trial.missed),
        "epochs": books.epochs,
        "matches_by_room": books.rooms,
        "problems": problems[:20],
        "load_average": os.getloadavg(),
    }


def _timeline(trial: Trial) -> list[str]:
    """Faults, what the nodes log about rooms, probes that were not welcomed, and the first welcome
    in each room after each fault; in seconds since the first fault."""
    (_, _, first_s), (_, first_at) = trial.faults[0], trial.fault_times[0]
    events = [(at - first_s, f"{what} {node}") for what, node, at in trial.faults]
    events += [(at - first_s, f"  {room}: {why}") for room, at, why in trial.missed]
    for what, _, at in trial.faults:
        if what != "continued":
            welcomes = {
                room: [s for s in served if s > at] for room, served in trial.served.items()
            }
            events += [
                (served[0] - first_s, f"  {room}: welcome, {served[0] - at:.2f} s after the fault")
                for room, served in welcomes.items()
                if served
            ]
    for node in trial.nodes:
        for line in node.log_lines():
            if line["event"] in _LOGGED:
                at = (datetime.fromisoformat(line["at"]) - first_at).total_seconds()
                events.append((at, f"  {line['room']}: {line['event']} by {node.data_dir.name}"))
    return [f"{at:8.2f} {text}" for at, text in sorted(events)]


if __name__ == "__main__":
    main()
