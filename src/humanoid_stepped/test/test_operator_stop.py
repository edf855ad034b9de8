"""The operator's stop: its causes and its release."""

from __future__ import annotations

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_control_msgs.msg import SafetyStatus
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool
from test_support.operator import LATCHED
from test_support.stepped.prime import SOFT, Prime

from humanoid_control_common.rules.diagnosis import CODES
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.ros.topics.message_template import nanoseconds
from humanoid_controllers.mode_manager.mode_manager_node import DIAGNOSIS

STOP = "/emergency_stop"


@pytest.fixture(scope="module")
def stiff(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in STANDBY; it also takes a gamepad."""
    prime = Prime(tmp_path_factory.mktemp("stiff"), enable_gamepad=True)
    prime.up()
    prime.client.enter(Mode.DAMPING)
    prime.client.enter(Mode.STANDBY)
    return prime


def is_stopped(prime: Prime, why: str) -> None:
    """Check that the robot falls to DAMPING, is soft, and states the reason."""
    client = prime.client
    client.until(lambda: client.now.mode == Mode.DAMPING, "the fall")
    assert why in client.now.status_message
    client.until(lambda: prime.registers() == [SOFT] * 10, "soft drives")
    reports = client.latched(SafetyStatus, "/safety_status", 4)
    (report,) = [it for it in reports if it.source == "emergency_stop"]
    assert (report.level, report.message) == (SafetyStatus.CRITICAL, why)


def test_safety_report_of_another_program_does_not_release_the_stop(stiff: Prime) -> None:
    client = stiff.client
    client.node.create_publisher(Bool, STOP, 10).publish(Bool(data=True))
    is_stopped(stiff, "emergency stop (/emergency_stop)")
    forger = client.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)
    forger.publish(SafetyStatus(source="emergency_stop", level=SafetyStatus.OK))
    client.request(Mode.STANDBY)
    assert client.now.mode == Mode.DAMPING
    assert "call clear_fault" in client.now.status_message


def test_a_stop_is_not_pushed_out_by_messages_that_say_no_stop(stiff: Prime) -> None:
    """As of a program that repeats the state of a button, behind a busy executor."""
    button = stiff.client.node.create_publisher(Bool, STOP, 100)
    for pressed in (True, *[False] * 50):
        button.publish(Bool(data=pressed))
    is_stopped(stiff, "emergency stop (/emergency_stop)")


def test_a_stop_is_an_error_among_the_diagnoses_until_the_fault_is_cleared(stiff: Prime) -> None:
    client, found = stiff.client, []

    def note(message: DiagnosticArray) -> None:
        stamp = nanoseconds(message.header.stamp)
        found.extend((stamp, it) for it in message.status if it.name == DIAGNOSIS)

    def has(level: bytes) -> bool:
        return bool(found) and found[-1][1].level == level

    client.listen(DiagnosticArray, "/diagnostics", note)
    client.until(lambda: has(DiagnosticStatus.OK), "a diagnosis")
    client.node.create_publisher(Bool, STOP, 10).publish(Bool(data=True))
    client.until(lambda: client.now.mode == Mode.DAMPING, "the fall")
    fall = nanoseconds(client.now.header.stamp)
    client.until(lambda: has(DiagnosticStatus.ERROR), "an error")
    stamp, error = found[-1]
    assert stamp - fall < 0.15e9
    assert "emergency stop (/emergency_stop)" in error.message
    assert [it.value for it in error.values if it.key == CODES] == ["FELL_TO_SAFETY EMERGENCY_STOP"]
    client.clear_fault()
    client.until(lambda: has(DiagnosticStatus.OK), "the end of the error")


def test_a_report_of_another_program_in_its_name_stops_nothing(stiff: Prime) -> None:
    client = stiff.client
    forger = client.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)
    forger.publish(SafetyStatus(source="emergency_stop", level=SafetyStatus.CRITICAL))
    client.next_statements(10)
    assert client.now.mode == Mode.STANDBY


def test_start_on_the_gamepad_stops(stiff: Prime) -> None:
    pad = stiff.client.node.create_publisher(Joy, "/joy", 10)
    pad.publish(Joy(buttons=[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]))
    is_stopped(stiff, "emergency stop (gamepad)")
