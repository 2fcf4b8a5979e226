"""Personas: async functions that decide what a bot does, until it leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

import trio

from yoked_actor.bots.bot import Bot

Persona = Callable[[Bot], Awaitable[None]]


async def yes(bot: Bot) -> None:
    """Votes yes on everyone."""
    await bot.mingle(lambda partner: "yes")


async def picky(bot: Bot) -> None:
    """Votes yes on a third of all users, always the same ones."""

    def choose(partner: str) -> str:
        return "yes" if Random(f"{bot.user_id}:{partner}").random() < 1 / 3 else "pass"

    await bot.mingle(choose)


async def idle(bot: Bot) -> None:
    """Acknowledges the match, and mostly does not vote."""
    await bot.mingle(lambda partner: "yes" if bot.random.random() < 0.4 else None)


async def drops(bot: Bot) -> None:
    """Loses the socket at random times, reconnects and resumes."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_drop_at_random, bot)
        await bot.mingle(lambda partner: "yes" if bot.random.random() < 0.6 else "pass")
        nursery.cancel_scope.cancel()


async def slow_reader(bot: Bot) -> None:
    """Does not read its socket for long periods, but sends heartbeats."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_reading_at_random, bot)
        await bot.mingle(lambda partner: "yes")
        nursery.cancel_scope.cancel()


async def _drop_at_random(bot: Bot) -> None:
    while True:
        await trio.sleep(bot.random.uniform(2, 15))
        if bot.random.random() < 0.7:
            await bot.client.drop()
        else:
            # Sometimes long enough for the server to end the session.
            await bot.client.drop(stay_away=True)
            await trio.sleep(bot.random.uniform(1, 12))
            await bot.client.come_back()


async def _stop_reading_at_random(bot: Bot) -> None:
    while True:
        await trio.sleep(bot.random.uniform(5, 20))
        bot.valve.shut()
        await trio.sleep(bot.random.uniform(2, 30))
        bot.valve.open()


PERSONAS: dict[str, Persona] = {
    "yes": yes,
    "picky": picky,
    "idle": idle,
    "drops": drops,
    "slow_reader": slow_reader,
}
MIX = "mix"
_SHARES = {"yes": 30, "picky": 40, "idle": 10, "drops": 12, "slow_reader": 8}


def persona_of(name: str, random: Random) -> Persona:
    """The persona of that name; for `mix`, a random one."""
    if name == MIX:
        [name] = random.choices(list(_SHARES), list(_SHARES.values()))
    return PERSONAS[name]
