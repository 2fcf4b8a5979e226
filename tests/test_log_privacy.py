"""The log at info level has IDs to follow events, and no personal data."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
import trio
from pydantic import BaseModel

from tests.scenarios.meeting import MAN, WOMAN, settle
from yoked_actor.actors.jobs import JobRun
from yoked_actor.domain.jobs import NewJob
from yoked_actor.telemetry import configure_logging
from yoked_actor.testing import open_world


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    yield stream
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Letter(BaseModel):
    """A job about a user."""

    to: str


async def _deliver(job: JobRun[Letter]) -> None:
    pass


async def test_an_evening_is_logged_with_ids_and_without_personal_data(autojump_clock, log):
    async with open_world() as world:
        server = world.server
        server.base.dispatcher.register("letter", Letter, _deliver)
        her = await world.join("special-her", **WOMAN)
        him = await world.join("special-him", **MAN)
        match_id = await settle(her, him, ("yes", "yes"))
        payload = {"to": "special-her"}
        [job] = await server.base.dispatcher.enqueue(
            [NewJob("letter", payload, server.base.clock.now())]
        )
        await her.drop(stay_away=True)
        third = await world.join("special-third", **MAN)
        third.beating = False
        await third.spin()
        await trio.sleep(120)
        token = world.token("special-her")
    entries = [json.loads(line) for line in log.getvalue().splitlines()]
    of_match = [entry["event"] for entry in entries if entry.get("match_id") == match_id]
    assert of_match == ["match_made", "match_ended"]
    of_job = [entry["event"] for entry in entries if entry.get("job_id") == job.job_id]
    assert of_job == ["job_started", "job_completed"]
    for personal in ("special", "Special", "127.0.0.1", "52.5", "1998", token):
        assert personal not in log.getvalue()
