"""The buckets: what they let through and what they remember."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.time import TokenBucket
from yoked_actor.edge.net import AddressLimiter
from yoked_actor.edge.net.limits import rate_key


def test_a_full_bucket_gives_its_burst_and_no_more() -> None:
    bucket = TokenBucket(rate_per_s=10, burst=3, now_s=0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]


def test_tokens_come_back_at_the_rate() -> None:
    bucket = TokenBucket(rate_per_s=10, burst=3, now_s=0.0)
    assert bucket.take(0.0, tokens=3)
    assert not bucket.take(0.05)
    assert bucket.wait_s(0.05) == pytest.approx(0.05)
    assert bucket.take(0.1)
    assert not bucket.take(0.1)


def test_a_refusal_takes_nothing() -> None:
    bucket = TokenBucket(rate_per_s=1, burst=2, now_s=0.0)
    assert not bucket.take(0.0, tokens=3)
    assert bucket.take(0.0, tokens=2)


def test_a_clock_that_steps_back_mints_nothing() -> None:
    bucket = TokenBucket(rate_per_s=1, burst=1, now_s=100.0)
    assert bucket.take(100.0)
    assert not bucket.take(50.0)
    assert not bucket.take(100.0)
    assert bucket.take(101.0)


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0)])
def test_a_bucket_that_could_never_give_is_refused(rate: float, burst: float) -> None:
    with pytest.raises(ValueError, match="bucket"):
        TokenBucket(rate, burst, 0.0)


@given(
    steps=st.lists(st.floats(min_value=0, max_value=5), max_size=200),
    rate=st.floats(min_value=0.1, max_value=50),
    burst=st.integers(min_value=1, max_value=20),
)
def test_no_window_ever_gets_more_than_burst_and_rate_allow(
    steps: list[float], rate: float, burst: int
) -> None:
    bucket = TokenBucket(rate, burst, 0.0)
    now, given_out = 0.0, 0
    for step in steps:
        now += step
        given_out += bucket.take(now)
    assert given_out <= burst + rate * now + 1e-6


def test_each_address_has_its_own_bucket() -> None:
    limiter = AddressLimiter(rate_per_s=1, burst=1, max_addresses=10)
    assert limiter.allow("192.0.2.1", 0.0)
    assert not limiter.allow("192.0.2.1", 0.0)
    assert limiter.allow("192.0.2.2", 0.0)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_exempt(address: str) -> None:
    limiter = AddressLimiter(rate_per_s=1, burst=1, max_addresses=10)
    assert all(limiter.allow(address, 0.0) for _ in range(100))
    assert len(limiter) == 0


def test_the_addresses_of_one_ipv6_network_share_a_bucket() -> None:
    assert rate_key("2001:db8:1:2::1") == rate_key("2001:db8:1:2:ffff::9%eth0")
    assert rate_key("2001:db8:1:2::1") != rate_key("2001:db8:1:3::1")
    assert rate_key("::ffff:192.0.2.1") == rate_key("192.0.2.1")


def test_the_address_seen_longest_ago_is_forgotten_first() -> None:
    limiter = AddressLimiter(rate_per_s=0.001, burst=1, max_addresses=2)
    assert limiter.allow("192.0.2.1", 0.0)
    assert limiter.allow("192.0.2.2", 0.0)
    assert not limiter.allow("192.0.2.1", 0.0)
    assert limiter.allow("192.0.2.3", 0.0)
    assert len(limiter) == 2
    assert not limiter.allow("192.0.2.1", 0.0)
    assert limiter.allow("192.0.2.2", 0.0)
