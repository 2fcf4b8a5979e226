"""Several nodes over one PostgreSQL: a node that dies or is paused loses its rooms only."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from random import Random

import httpx
import jwt
import pytest
import trio

from tests.process.node_trial import SECRET, PostgresBooks, Trial, open_trial
from tests.process.server import ServerProcess, run_cli

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)
LEASE_S = 2.0


def check(trial: Trial) -> None:
    """Everything told is stored, nobody is in two matches, and both sides agree."""
    books, accounts = PostgresBooks(trial.url), trial.witness.accounts
    assert trial.witness.objections == []
    assert books.problems(accounts) == []
    assert books.disagreements(accounts) == []
    _log.info(
        "%d matches told; faults %s; served again after %s s; outages %s s; epochs %s",
        *(len(trial.told()), trial.faults, trial.takeovers_s(), trial.outages_s(), books.epochs),
    )


def check_standby(standby: ServerProcess, owner: ServerProcess) -> None:
    """A node that does not serve the room names the owner, over HTTP too, and to operators."""
    token = jwt.encode({"sub": "bot1", "exp": time.time() + 60}, SECRET, "HS256")
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.get(f"{standby.url}/api/offers?date=2026-01-31", headers=headers)
    assert answer.status_code == 307
    assert answer.headers["Location"] == f"{owner.url}/api/offers?date=2026-01-31"
    said = answer.json()
    assert (said["code"], said["url"]) == ("moved", owner.url)
    assert httpx.get(answer.headers["Location"], headers=headers).status_code == 200
    policy = httpx.get(f"{standby.url}/").headers["Content-Security-Policy"]
    assert owner.url in policy
    assert owner.url.replace("http", "ws") in policy
    cors = httpx.options(f"{standby.url}/api/spin", headers={"Origin": owner.url})
    assert cors.headers["Access-Control-Allow-Origin"] == owner.url
    shown = httpx.get(f"{standby.url}/readyz").json()["nodes"]
    assert {one["node"]: one["is_live"] for one in shown["nodes"]} == {"a": True, "b": True}
    [lease] = shown["leases"]
    assert (lease["room"], lease["node"], lease["epoch"]) == ("main", owner.data_dir.name, 1)
    claims = {"sub": "root", "role": "admin", "exp": time.time() + 60}
    operator = {"Authorization": f"Bearer {jwt.encode(claims, SECRET, 'HS256')}"}
    assert httpx.get(f"{standby.url}/api/admin/jobs", headers=operator).status_code == 200
    examined = run_cli(
        *("doctor", "--json", "--dev", "--data", str(standby.data_dir)),
        store__url=standby.setting("store__url"),
        node__id="a",
        node__url=owner.url,
    )
    findings = {one["check"]: one for one in json.loads(examined.stdout)["findings"]}
    assert f"main: {owner.data_dir.name}, epoch 1" in findings["rooms"]["found"]
    assert owner.url in findings["nodes"]["found"]


async def test_nothing_is_lost_when_nodes_are_killed_and_paused(
    postgres_url: str, tmp_path: Path
) -> None:
    with open_trial(postgres_url, tmp_path, nodes=3, rooms=3, bots=45, lease_s=LEASE_S) as trial:
        random = Random(20260101)

        async def play() -> None:
            await trial.all_served()
            await trial.matches_more(10)
            await trial.kill(random.choice(trial.nodes))
            await trial.matches_more(10)
            stopped = trial.owner_of("main")
            await trial.stop_for(stopped, LEASE_S + 4)
            await trial.matches_more(10)
            refused.append(trial.take_refused(stopped))

        refused: list[float] = []
        await trial.run(play)
        check(trial)
        assert refused[0] >= 1
        served_again_s = LEASE_S + 3
        assert max(trial.outages_s().values()) < served_again_s, trial.outages_s()


async def test_with_one_room_the_other_node_is_a_hot_standby(
    postgres_url: str, tmp_path: Path
) -> None:
    with open_trial(postgres_url, tmp_path, nodes=2, rooms=1, bots=20, lease_s=LEASE_S) as trial:

        async def play() -> None:
            await trial.all_served()
            await trial.matches_more(3)
            owner = trial.owner_of("main")
            [standby] = [node for node in trial.nodes if node is not owner]
            await trio.to_thread.run_sync(check_standby, standby, owner)
            await trial.kill(owner)
            await trial.matches_more(3)

        await trial.run(play)
        check(trial)
        assert PostgresBooks(trial.url).epochs["main"] >= 2


async def test_a_node_that_stops_hands_its_rooms_over_without_waiting_for_the_lease(
    postgres_url: str, tmp_path: Path
) -> None:
    with open_trial(postgres_url, tmp_path, nodes=2, rooms=2, bots=24, lease_s=12.0) as trial:

        async def play() -> None:
            await trial.all_served()
            leaving = trial.owner_of("main")
            assert await trial.leave(leaving) == 0
            with trio.fail_after(15):
                await trial.moved_from(leaving, "main")
            await trial.matches_more(3)

        await trial.run(play)
        check(trial)
