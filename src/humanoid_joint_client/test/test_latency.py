"""The times of a stream."""

from __future__ import annotations

from typing import Final

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.latency import LatencyTracker
from humanoid_joint_client.state import JointStates, state_of

SECOND: Final = 1_000_000_000  # [ns]
MS: Final = 1_000_000  # [ns]


def state(arrived: int, key: int, received: int, applied: int) -> JointStates:
    """A state with the same key received and applied."""
    message = pb.State(acquired=arrived)
    echo = message.last_command
    echo.user_command_key = echo.applied_key = key
    echo.received, echo.applied = received, applied
    return state_of(message, arrived)


def test_an_echo_counts_once_with_its_times() -> None:
    """The tick may have begun before the update was sent."""
    tracker = LatencyTracker()
    tracker.sent(1, SECOND)
    for _ in range(2):
        tracker.arrived(state(SECOND + 4 * MS, 1, SECOND + MS, SECOND - MS))
    report = tracker.report()
    assert (report.one_way.count, report.echo.count) == (1, 1)


def test_the_same_key_of_an_earlier_client_is_no_echo() -> None:
    tracker = LatencyTracker()
    tracker.sent(1, 30 * SECOND)
    tracker.arrived(state(30 * SECOND + MS, 1, 10 * SECOND, 10 * SECOND))
    assert tracker.report().one_way.count == tracker.report().echo.count == 0
    tracker.arrived(state(30 * SECOND + 4 * MS, 1, 30 * SECOND + MS, 30 * SECOND + 2 * MS))
    assert tracker.report().one_way.count == tracker.report().echo.count == 1
