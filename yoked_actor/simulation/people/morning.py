"""Mornings: offers are pushed to a page that is open, or fetched later, and answered.

A look at the people whom one has met belongs to it.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import trio

from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.visit import Visit

Offers = list[dict[str, Any]]


class Morning(Visit):
    """A person with the page open when the offers of the day come."""

    def __init__(
        self, company: Company, user_id: str, random: Random, ends_s: float, accepts: float
    ) -> None:
        super().__init__(company, user_id, random, ends_s)
        self._accepts = accepts

    async def on_event(self, event: dict[str, Any]) -> None:
        """Answer the offers."""
        if event["type"] != "offers":
            return
        self.company.calls.saw_offers(self.user_id, event["date"], event["offers"])
        self.company.tally.count("offers pushed")
        for offer in event["offers"]:
            if offer.get("answer") is None and self.random.random() < 0.8:
                answer = "accept" if self.random.random() < self._accepts else "decline"
                fields = {"offer_id": offer["offer_id"], "answer": answer}
                self.soon(self.random.uniform(1, 60), partial(self.say, "answer_offer", **fields))


async def see_offers(company: Company, api: Api) -> Offers:
    """Fetch the offers of the day."""
    answer = await api.call("GET", "/api/offers")
    if answer is None or answer.status != 200:
        return []
    offers: Offers = answer.body["offers"]
    company.calls.saw_offers(api.user_id, answer.body["date"], offers)
    return offers


async def answer_offers(
    company: Company, api: Api, offers: Offers, random: Random, accepts: float
) -> None:
    """Answer some of them, and look at the connections."""
    for offer in offers:
        if offer.get("answer") is not None or random.random() < 0.3:
            continue
        choice = "accept" if random.random() < accepts else "decline"
        path = f"/api/offers/{offer['offer_id']}/answer"
        company.calls.answering_offer(api.user_id, offer["offer_id"], choice)
        answer = await api.call("POST", path, {"answer": choice}, tries=1)
        if answer is not None and answer.status == 200:
            company.calls.answered_offer(api.user_id, offer["offer_id"], choice)
    answer = await api.call("GET", "/api/connections")
    if answer is not None and answer.status == 200:
        company.calls.saw_connections(api.user_id, answer.body["connections"])


async def see_met(company: Company, api: Api, random: Random, accepts: float) -> None:
    """Look whom one has met, and say whether to stay in touch where that was not said yet."""
    asked_s = trio.current_time()
    answer = await api.call("GET", "/api/met", tries=1)
    if answer is None or answer.status != 200:
        return
    company.calls.saw_met(api.user_id, answer.body["met"], asked_s)
    for one in answer.body["met"]:
        if "touch_until" not in one or random.random() < 0.3:
            continue
        choice = "yes" if random.random() < accepts else "no"
        command = {"type": "stay_in_touch", "date_id": one["date_id"], "answer": choice}
        company.replies.sending(api.user_id, command)
        path = f"/api/dates/{one['date_id']}/stay_in_touch"
        reply = await api.call("POST", path, {"answer": choice}, tries=1)
        if reply is not None and reply.status < 500 and reply.code != "suspended":
            refusal = {"type": "error", "code": reply.code}
            body = {"type": "ok", **reply.body} if reply.status < 400 else refusal
            company.replies.replied(api.user_id, command, body)
