"""A token bucket: a rate limit with bursts.

Time is an argument, in seconds of a monotonic clock.
"""

from __future__ import annotations


class TokenBucket:
    """Allows `rate_per_s` on average and `burst` at once."""

    __slots__ = ("_burst", "_rate_per_s", "_tokens", "_updated_s")

    def __init__(self, rate_per_s: float, burst: float, now_s: float) -> None:
        if rate_per_s <= 0 or burst < 1:
            raise ValueError("a bucket needs a positive rate and room for one token")
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._tokens = float(burst)
        self._updated_s = now_s

    def take(self, now_s: float, tokens: float = 1.0) -> bool:
        """Take tokens if there are enough; a refusal takes none."""
        self._refill(now_s)
        if self._tokens < tokens:
            return False
        self._tokens -= tokens
        return True

    def is_full(self, now_s: float) -> bool:
        """Whether the bucket is full: it can be dropped without effect."""
        self._refill(now_s)
        return self._tokens >= self._burst

    def wait_s(self, now_s: float, tokens: float = 1.0) -> float:
        """The seconds until so many tokens are available."""
        self._refill(now_s)
        return max(0.0, (tokens - self._tokens) / self._rate_per_s)

    def _refill(self, now_s: float) -> None:
        # A clock that steps back must not add tokens when it catches up.
        elapsed_s = now_s - self._updated_s
        if elapsed_s > 0:
            self._tokens = min(self._burst, self._tokens + elapsed_s * self._rate_per_s)
            self._updated_s = now_s
