"""The observer keeps the messages of ended processes apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from builtin_interfaces.msg import Time
from fault_campaign.judging import observer as observing
from fault_campaign.judging.observer import Observer
from humanoid_control_msgs.msg import ControlMode
from std_msgs.msg import Header
from test_support.ros.ros_domains import on_reserved_domain

BEFORE, AFTER = "of the process before", "of the process now"


@pytest.fixture
def observer() -> Iterator[Observer]:
    with on_reserved_domain(), observing.observer() as found:
        yield found


def _controllers(observer: Observer, anew: bool) -> list[str]:
    """Return the source of the report that the observer reads after a restart of a process."""
    # Within a participant a published sample is available at once.
    speaker = observer.node.create_publisher(ControlMode, "/control_mode", 10)
    stamped = Header(stamp=Time(sec=1))  # else it counts as forged
    speaker.publish(ControlMode(header=stamped, mode=1, controller_name=BEFORE))
    if anew:
        observer.listen_anew()
    speaker.publish(ControlMode(header=stamped, mode=0, controller_name=AFTER))
    stated = lambda: observer.statements and observer.now.controller_name == AFTER  # noqa: E731
    assert observer.within(20.0, stated)
    return [it.controller_name for it in observer.statements]


def test_output_before_the_end_of_a_process_is_kept_for_a_late_reader(
    observer: Observer,
) -> None:
    assert _controllers(observer, anew=False) == [BEFORE, AFTER]


def test_a_new_reader_gets_nothing_of_a_process_that_has_ended(observer: Observer) -> None:
    assert _controllers(observer, anew=True) == [AFTER]
    observer.listen_anew()
    assert observer.statements == []
