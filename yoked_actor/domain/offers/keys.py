"""Keys: a score and a candidate as one integer, whose order is that of the offers (R43)."""

from __future__ import annotations

import numpy as np

from yoked_actor.domain.offers.scoring import Ints

BITS = 32
"""A key is the score, shifted by so many bits, and the key part of the candidate."""
LAST = (1 << BITS) - 1
"""The highest number of a person. Their key part is the difference to it."""


def keys_of(scores: Ints, numbers: Ints) -> Ints:
    """Keys that order candidates: by score, then by the lowest number, which is the lowest id."""
    keys: Ints = (scores.astype(np.int64) << BITS) + (LAST - numbers)
    return keys


def read_key(key: int) -> tuple[int, int]:
    """The number and the score of a key."""
    return LAST - (key & LAST), key >> BITS


def best_keys(keys: Ints, count: int) -> Ints:
    """The highest keys of each row, the highest first. All keys of a row differ."""
    length = keys.shape[-1]
    if length > count:
        keys = np.partition(keys, length - count)[..., length - count :]
    best: Ints = np.sort(keys)[..., ::-1]
    return best
