"""A command of a dead sender never becomes fresh again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_controller_manager.ros.topics.message_age import MOST_SENDERS, WINDOW, MessageAge

SECOND = 1_000_000_000  # [ns]
DAY = 86_400 * SECOND
T = 1_000 * SECOND  # the receiver's clock


def _stream(age: MessageAge, offset: int, count: int = 10) -> None:
    """Messages every 20 ms that take 1 ms; the sender's clock is `offset` [ns] ahead."""
    for i in range(count):
        at = T + i * 20_000_000
        assert age.lateness("a", at - 1_000_000 + offset, at, at * 1e-9) == pytest.approx(0.0)


@given(offset=st.integers(-DAY, DAY), waited=st.integers(1_000_000, 5 * SECOND))
def test_a_message_that_waited_is_late_by_as_much_however_the_clocks_differ(
    offset: int, waited: int
) -> None:
    age = MessageAge()
    _stream(age, offset)
    sent = T + 200_000_000
    now = sent + 1_000_000 + waited
    assert age.lateness("a", sent + offset, now, now * 1e-9) == pytest.approx(waited * 1e-9)


def test_message_without_a_stamp_has_no_lateness() -> None:
    age = MessageAge()
    assert [age.lateness("a", 0, T + i * SECOND, float(i)) for i in range(3)] == [0.0] * 3


def test_senders_are_measured_apart_and_their_number_is_bounded() -> None:
    age = MessageAge()
    for i in range(3 * MOST_SENDERS):
        assert age.lateness(i, T + i * DAY, T, 0.0) == 0.0
    assert len(age._shortest) == MOST_SENDERS


@given(step=st.integers(-DAY, DAY))
def test_a_clock_that_was_set_is_learned_within_two_windows(step: int) -> None:
    age = MessageAge()
    _stream(age, 0)
    lateness = -1.0
    for i in range(int(2 * WINDOW * 50) + 60):
        at = T + SECOND + i * 20_000_000
        lateness = age.lateness("a", at - 1_000_000 + step, at, at * 1e-9)
        assert lateness >= 0.0
    assert lateness == pytest.approx(0.0)


def test_a_clock_that_was_set_back_makes_messages_late_for_20_s_at_most() -> None:
    age = MessageAge()
    _stream(age, 0)
    late = {}
    for i in range(25):
        at = T + (i + 1) * SECOND
        late[i] = age.lateness("a", at - 61 * SECOND, at, at * 1e-9)
    assert late[5] == pytest.approx(61.0, abs=0.01)
    assert late[22] == 0.0


def test_the_shortest_delay_is_kept_beyond_the_window_in_which_it_was_measured() -> None:
    age = MessageAge()
    _stream(age, 0)
    for late, later in ((1.5, 10.5), (0.5, 10.6)):
        at = T + int(later * SECOND)
        sent = at - 1_000_000 - int(late * SECOND)
        assert age.lateness("a", sent, at, at * 1e-9) == pytest.approx(late)
