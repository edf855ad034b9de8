"""The offset of the clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_joint_client.time_sync import USED, Exchange, synchronized

OFFSET = 5_000_000_000  # [ns]


def exchange(there: int, back: int, start: int = 0, held: int = 10) -> Exchange:
    """One exchange; times in [ns]."""
    arrived = start + there + OFFSET
    left = arrived + held
    return Exchange(start, arrived, left, left - OFFSET + back)


def test_a_symmetric_exchange_gives_the_offset() -> None:
    found = synchronized([exchange(100, 100)] * USED)
    assert found == (OFFSET, 200)


def test_slow_exchanges_do_not_count() -> None:
    slow = [exchange(10_000_000, 100)] * 4
    assert synchronized([*slow, *[exchange(100, 100)] * USED]).offset == OFFSET


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=5, max_size=20))
def test_the_error_is_at_most_half_of_the_largest_round_trip_used(
    ways: list[tuple[int, int]],
) -> None:
    exchanges = [exchange(*way) for way in ways]
    largest = sorted(it.round_trip for it in exchanges)[USED - 1]
    assert abs(synchronized(exchanges).offset - OFFSET) <= largest // 2 + 1


def test_too_few_exchanges_are_refused() -> None:
    with pytest.raises(ValueError, match="4 exchanges"):
        synchronized([exchange(1, 1)] * 4)
