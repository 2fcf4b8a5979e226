"""Why a process has ended, from the errors that it raised."""

from __future__ import annotations

from yoked_actor.store import StoreError


def leaves(error: BaseException) -> list[BaseException]:
    """The errors inside nested groups."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in leaves(one)]
    cause = error.__cause__
    if cause is None or isinstance(error, StoreError):
        return [error]
    return leaves(cause)


def describe(error: BaseException) -> str:
    """The errors inside nested groups, in one line."""
    return "; ".join(f"{type(one).__name__}: {one}".splitlines()[0] for one in leaves(error))
