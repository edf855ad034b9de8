"""The messages of /control_mode that the impedance manager accepts."""

from __future__ import annotations

import logging

import pytest
from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import ControlMode
from std_msgs.msg import Header

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.statements import StatementFilter
from humanoid_devices_erob.impedance.values import ModeInForce


@pytest.mark.parametrize("age", [0.0, 0.02, 0.9, -3.0, None])
@pytest.mark.parametrize("mode", Mode)
def test_live_statements_are_followed(mode: Mode, age: float | None) -> None:
    found = StatementFilter(follow_requests=False).mode_in_force(mode, "controller", 7, age)
    assert found == ModeInForce(mode, 7)


@pytest.mark.parametrize(
    ("stamp", "found"),
    [(Time(), 7), (Time(sec=999, nanosec=500_000_000), 7), (Time(sec=998), None)],
    ids=["none", "live", "recorded"],
)
def test_the_age_of_a_message_is_that_of_its_stamp(stamp: Time, found: int | None) -> None:
    message = ControlMode(
        header=Header(stamp=stamp), mode=2, controller_name="controller", switch_number=7
    )
    in_force = StatementFilter(follow_requests=False).of_message(message, 1000.0)
    assert (in_force and in_force.number) == found


@pytest.mark.parametrize("age", [1.1, 3600.0, 1e9])
def test_a_recording_is_ignored_and_reported_once(
    age: float, caplog: pytest.LogCaptureFixture
) -> None:
    statements = StatementFilter(follow_requests=False)
    with caplog.at_level(logging.WARNING):
        for step in range(100):
            assert (
                statements.mode_in_force(Mode.STANDBY, "standby_controller", 3, age + step * 0.02)
                is None
            )
    assert len(caplog.messages) == 1
    assert "a recording" in caplog.messages[0]


def test_requests_are_ignored_unless_the_parameter_enables_them() -> None:
    assert StatementFilter(follow_requests=False).mode_in_force(Mode.STANDBY, "", 0, 0.0) is None
    alone = StatementFilter(follow_requests=True)
    assert alone.mode_in_force(Mode.STANDBY, "", 0, 1e9) == ModeInForce(Mode.STANDBY, 0)
    assert alone.mode_in_force(Mode.DAMPING, "damping_controller", 2, 0.0) == ModeInForce(
        Mode.DAMPING, 2
    )


@pytest.mark.parametrize("name", ["", "another_controller"])
def test_a_mode_that_does_not_exist_is_ignored(name: str) -> None:
    assert StatementFilter(follow_requests=True).mode_in_force(5, name, 1, 0.0) is None
