"""Users who wait and cannot be paired: far from each other, with limits of few km.

They are of the same genders as those who play, so every search has to pass them by. They spin over
HTTP and then say nothing more, which the settings below allow.
"""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from scripts.benchmarks._process import Process, token

_AT_ONCE = 32

PATIENCE = {
    "YOKED_MATCHING__LIVENESS_S": "86400",
    "YOKED_MATCHING__FORCED_AFTER_S": "86400",
    "YOKED_SESSION__FORGET_AFTER_S": "90000",
}
"""No user is lost for silence, and none reaches the forced tier."""


def let_wait(server: Process, count: int) -> None:
    """Bring so many users into line, many at a time so that they share commits."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(
            threads.map(
                partial(_bring, server), (range(i, count, _AT_ONCE) for i in range(_AT_ONCE))
            )
        )


def _bring(server: Process, numbers: range) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    for number in numbers:
        user_id = f"lonely{number}"
        _call(connection, user_id, "PUT", "/api/profile", _profile(number))
        answer = _call(connection, user_id, "POST", "/api/spin", {})
        if json.loads(answer)["state"] != "waiting":
            raise SystemExit(f"{user_id} is not lonely: {answer.decode()}")
    connection.close()


def _profile(number: int) -> dict[str, object]:
    woman = number % 2 == 0
    return {
        "display_name": "Lonely",
        "birth_date": f"{1980 + number % 25}-04-{1 + number % 28:02d}",
        "gender": "woman" if woman else "man",
        # A grid over the globe of about 100 km, away from the town of those who play.
        "location": {"lat": -60 + number % 100, "lon": -170 + number // 100 % 170},
        "time_zone": "UTC",
        "interests": [],
        "preferences": {
            "seeking": ["man" if woman else "woman"],
            "min_age": 18,
            "max_age": 60,
            "max_distance_km": 10,
        },
    }


def _call(
    connection: http.client.HTTPConnection, user_id: str, method: str, path: str, body: object
) -> bytes:
    headers = {"Authorization": f"Bearer {token(user_id)}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{method} {path} of {user_id} was refused: {text.decode()}")
    return text
