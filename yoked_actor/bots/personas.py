"""How guests behave. A persona is an async function that plays one bot until it goes home."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

import trio

from yoked_actor.bots.bot import Bot

Persona = Callable[[Bot], Awaitable[None]]


async def yes(bot: Bot) -> None:
    """Likes everybody."""
    await bot.mingle(lambda partner: "yes")


async def picky(bot: Bot) -> None:
    """Likes a third of all people, and would like the same ones again."""

    def choose(partner: str) -> str:
        return "yes" if Random(f"{bot.user_id}:{partner}").random() < 1 / 3 else "pass"

    await bot.mingle(choose)


async def idle(bot: Bot) -> None:
    """Looks at the match, and more often than not never votes."""
    await bot.mingle(lambda partner: "yes" if bot.random.random() < 0.4 else None)


async def drops(bot: Bot) -> None:
    """Loses the socket at any moment, comes back, and takes up the session."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_lose_the_socket_now_and_then, bot)
        await bot.mingle(lambda partner: "yes" if bot.random.random() < 0.6 else "pass")
        nursery.cancel_scope.cancel()


async def slow_reader(bot: Bot) -> None:
    """Stops reading its socket for long times, though it goes on beating."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_reading_now_and_then, bot)
        await bot.mingle(lambda partner: "yes")
        nursery.cancel_scope.cancel()


async def _lose_the_socket_now_and_then(bot: Bot) -> None:
    while True:
        await trio.sleep(bot.random.uniform(2, 15))
        if bot.random.random() < 0.7:
            await bot.client.drop()
        else:
            # Long enough, at times, to be given up by the server.
            await bot.client.drop(stay_away=True)
            await trio.sleep(bot.random.uniform(1, 12))
            await bot.client.come_back()


async def _stop_reading_now_and_then(bot: Bot) -> None:
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
    """The persona of that name; for `mix`, one of them by lot."""
    if name == MIX:
        [name] = random.choices(list(_SHARES), list(_SHARES.values()))
    return PERSONAS[name]
