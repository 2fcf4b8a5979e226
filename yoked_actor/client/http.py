"""HTTP calls over any stream: enough to log in, and to use the server without a WebSocket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import trio

from yoked_actor.client.dialing import Address, Dial
from yoked_actor.client.routing import MOST_HOPS, Route
from yoked_actor.client.transport import DialTransport
from yoked_actor.domain.lobby import Code
from yoked_actor.wire.problems import STATUS


class CallRefused(Exception):
    """The server has refused a call, with a problem document."""

    def __init__(
        self, status: int, code: str, detail: str, problem: dict[str, Any] | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.problem = problem or {}
        """The whole document; for `suspended` it has `reason` and `until`."""


class Answer(msgspec.Struct, frozen=True):
    """The response of a call."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, decoded."""
        return msgspec.json.decode(self.body)


class Api:
    """Makes HTTP calls, each over its own connection.

    A call that another node has to answer (`moved`) is repeated there, with the token, and later
    calls begin there. The token is sent nowhere else: other redirects are not followed.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        dial: Dial | None = None,
        others: Sequence[str] = (),
        hops: int = MOST_HOPS,
    ) -> None:
        """`others` are URLs of other nodes of the same service, for when one cannot be reached."""
        self._home = Address.parse(url)
        self._route = Route([url, *others], hops)
        self._dial = dial or self._home.dial()
        self._tries = 1 + len(others)
        self.token = token

    async def login(self, user_id: str, profile: dict[str, Any] | None = None) -> str:
        """Log in to a server in `--dev` mode; the token is returned, and used for later calls."""
        body: dict[str, Any] = {"user_id": user_id}
        if profile is not None:
            body["profile"] = profile
        token: str = (await self.call("POST", "/api/dev/login", body))["token"]
        self.token = token
        return token

    async def places(self, search: str) -> Any:
        """The places whose names begin with a text, the largest first."""
        return (await self.call("GET", f"/api/places?search={quote(search)}"))["places"]

    async def offers(self, date: str | None = None) -> Any:
        """The newest offers that have not expired, or the offers of a date such as 2026-01-31."""
        return await self.call("GET", "/api/offers" + ("" if date is None else f"?date={date}"))

    async def answer_offer(self, offer_id: str, answer: str) -> Any:
        """Answer an offer with `accept` or `decline`."""
        return await self.call("POST", f"/api/offers/{offer_id}/answer", {"answer": answer})

    async def connections(self) -> Any:
        """The users with whom the acceptance is mutual."""
        return (await self.call("GET", "/api/connections"))["connections"]

    async def start_date(self, connection_id: str) -> Any:
        """Call a connection who is online, for a video date: `call_id` and `ring_until`."""
        return await self.call("POST", f"/api/connections/{connection_id}/date")

    async def accept_call(self, call_id: str) -> Any:
        """Accept a call; `date_id` of the video date."""
        return await self.call("POST", f"/api/calls/{call_id}/accept")

    async def decline_call(self, call_id: str) -> None:
        """Decline a call."""
        await self.call("POST", f"/api/calls/{call_id}/decline")

    async def cancel_call(self, call_id: str) -> None:
        """Stop your own call."""
        await self.call("POST", f"/api/calls/{call_id}/cancel")

    async def stay_in_touch(self, date_id: str, answer: str) -> Any:
        """Say after a date whether to stay in touch: `yes` or `no`."""
        return await self.call("POST", f"/api/dates/{date_id}/stay_in_touch", {"answer": answer})

    async def rooms(self) -> Any:
        """The rooms that are open or announced."""
        return (await self.call("GET", "/api/rooms"))["rooms"]

    async def enter_room(self, room: str, code: str | None = None) -> Any:
        """Go into another room, while you are idle."""
        body = {} if code is None else {"code": code}
        return await self.call("POST", f"/api/rooms/{quote(room, safe='')}/enter", body)

    async def met(self) -> Any:
        """The users whom the user has met lately, newest first."""
        return (await self.call("GET", "/api/met"))["met"]

    async def blocks(self) -> Any:
        """The users whom the user has blocked, each with `user_id`, `at` and `display_name`."""
        return (await self.call("GET", "/api/blocks"))["blocks"]

    async def block(self, user_id: str) -> None:
        """Block a user."""
        await self.call("POST", "/api/blocks", {"user_id": user_id})

    async def unblock(self, user_id: str) -> None:
        """Remove a block."""
        await self.call("DELETE", f"/api/blocks/{user_id}")

    async def report(self, user_id: str, reason: str, match_id: str | None = None) -> None:
        """Report a user to the operator."""
        extra = {} if match_id is None else {"match_id": match_id}
        await self.call("POST", "/api/reports", {"user_id": user_id, "reason": reason, **extra})

    async def appeal(self, text: str) -> None:
        """Suspended: ask the operator to look at the suspension again. Once a day."""
        await self.call("POST", "/api/appeal", {"text": text})

    async def warnings(self) -> Any:
        """The warnings of the operator that the user has not seen yet, the oldest first."""
        return (await self.call("GET", "/api/warnings"))["warnings"]

    async def warning_seen(self, warning_id: str) -> None:
        """Say that a warning was seen; it is not sent again."""
        await self.call("POST", f"/api/warnings/{quote(warning_id, safe='')}/seen")

    async def profile(self) -> Any:
        """The user's profile; `CallRefused` with `not_found` when there is none."""
        return await self.call("GET", "/api/profile")

    async def save_profile(self, profile: dict[str, Any]) -> Any:
        """Store a profile, and return it as stored."""
        return await self.call("PUT", "/api/profile", profile)

    async def export(self) -> Any:
        """All data about the user."""
        return await self.call("GET", "/api/me/export")

    async def erase(self) -> None:
        """Erase the user. It cannot be undone."""
        await self.call("DELETE", "/api/me")

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call and return its JSON answer; a problem raises `CallRefused`."""
        answer = await self.request(method, path, body)
        if answer.status >= 300:
            raise _refusal(answer)
        return answer.json() if answer.body else None

    async def request(self, method: str, path: str, body: Any = None) -> Answer:
        """Make a call and return the response, whatever its status. Bytes are sent as they are."""
        if body is not None and not isinstance(body, bytes):
            body = msgspec.json.encode(body)
        tries = self._tries
        while True:
            address = self._route.address
            try:
                stream = await (self._dial if address == self._home else address.dial())()
            except OSError:
                # Nothing was sent, so it can be sent to another node.
                self._route.turn_back()
                tries -= address in self._route.known
                if tries <= 0:
                    raise
                continue
            answer = await self._send(stream, address, method, path, body)
            url = _moved_to(answer)
            if url is None:
                self._route.arrived()
                return answer
            if not self._route.follow(url):
                return answer

    async def _send(
        self, stream: trio.abc.Stream, address: Address, method: str, path: str, body: bytes | None
    ) -> Answer:
        headers = {"Host": address.authority, "Connection": "close"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        url = httpx.URL(f"{'https' if address.secure else 'http'}://{address.authority}")
        # The path is sent as it is given: `httpx.URL` would normalize it.
        request = httpx.Request(
            method, url, headers=headers, content=body, extensions={"target": path.encode()}
        )

        async def opened() -> trio.abc.Stream:
            return stream

        try:
            response = await DialTransport(opened).handle_async_request(request)
            try:
                received = b"".join([part async for part in response.aiter_raw()])
            finally:
                await response.aclose()
        except httpx.RemoteProtocolError as error:
            raise ConnectionError(f"no complete response: {error}") from error
        found = dict(response.headers.multi_items())
        return Answer(response.status_code, found, received)


def _moved_to(answer: Answer) -> str | None:
    """The URL of the node that has to answer a call, if the response names one."""
    if answer.status != STATUS[Code.MOVED]:
        return None
    try:
        problem = answer.json()
        return str(problem["url"]) if problem["code"] == Code.MOVED else None
    except (msgspec.DecodeError, KeyError, TypeError):
        return None


def _refusal(answer: Answer) -> CallRefused:
    try:
        problem = answer.json()
        return CallRefused(answer.status, problem["code"], problem["detail"], problem)
    except (msgspec.DecodeError, KeyError, TypeError):
        # Not from the API: from a proxy, or from the server before it has read the request.
        text = answer.body[:200].decode(errors="replace").strip()
        return CallRefused(answer.status, "unknown", text)
