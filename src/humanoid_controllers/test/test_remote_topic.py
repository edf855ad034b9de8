"""Commands over a real topic: their age counts from their arrival."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import MITCommand
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header
from test_support.lone_node import LoneNode

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics import bounded_topic, message_age
from humanoid_controller_manager.ros.topics.message_age import (
    LONGEST_WAIT,
    MessageAge,
    waiting_time,
)
from humanoid_controllers import ros
from humanoid_controllers.remote import RemotePolicyController

NOW = 100.0  # [s] of the loop
PERIOD = 0.01  # [s]
TIMEOUT = 0.1  # [s] of REMOTE_PARAMETERS
BUSY = 180_000_000  # [ns] the executor has no time for what arrives


class Inbox(RemotePolicyController):
    """Remembers when commands arrived."""

    def __init__(self) -> None:
        self.arrivals: list[float] = []
        self.commands: list[Any] = []

    def receive(self, command: Any) -> None:
        self.arrivals.append(command.arrival)
        self.commands.append(command.array.tolist())
        super().receive(command)


class LateMachine(LinuxMachine):
    """The executor looks at messages late: the system's time is ahead of their reception."""

    busy = 0  # [ns]

    def system_time_ns(self) -> int:
        return time.time_ns() + self.busy


class Remote(LoneNode):
    """A REMOTE controller with its topic, in a context of its own; the loop's time stands still."""

    def __init__(self, facts: RobotFacts, parameters: Any) -> None:
        super().__init__("remote_policy_controller")
        self.facts, self.machine = facts, LateMachine()
        self.controller = Inbox()
        self.controller.on_configure(parameters, facts)
        self._commands = self.node.create_publisher(MITCommand, "~/command", 4)

    def attach(self, *, simulated: bool) -> None:
        host = PluginContext(
            self.node,
            self.facts,
            lambda: NOW,
            lambda _: 7 * 1_000_000_000,
            simulated=simulated,
            machine=self.machine,
        )
        self.listener = ros.attach_remote(host, self.controller)
        self.spin_until(lambda: self._commands.get_subscription_count() > 0)

    def send_wrong(self) -> None:
        """Publish a command for another robot."""
        self._commands.publish(MITCommand(joint_names=["knee"]))

    def send_huge(self) -> None:
        """Publish a command for far too many joints."""
        self._commands.publish(MITCommand(joint_names=["knee"] * 10_000))

    def send(self) -> None:
        """Publish a command, and have it received."""
        self.publish(0.1)
        self.spin_until(lambda: bool(self.controller.arrivals))

    def publish(self, *values: float, frame_id: str = "", sec: int = 0) -> None:
        """Publish a command with `values` in every interface; one value is that of all joints."""
        names = list(self.facts.joints.names)
        header = Header(stamp=Time(sec=sec), frame_id=frame_id)
        command = MITCommand(header=header, joint_names=names)
        for interface in ("position", "velocity", "effort", "stiffness", "damping"):
            setattr(command, interface, values if len(values) > 1 else list(values) * len(names))
        self._commands.publish(command)


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch, make: Any, facts: RobotFacts) -> Iterator[Remote]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    remote = Remote(facts, make(RemotePolicyController)._parameters)
    yield remote
    remote.close()


def test_a_command_that_waited_for_the_executor_is_as_old_as_that(
    remote: Remote, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sender may be dead: it must not bring stiffness and motion back."""
    remote.attach(simulated=False)
    state, command = at(0.5), JointCommand(3)
    remote.controller.on_activate(state, command, NOW)
    remote.machine.busy = BUSY
    remote.send()
    assert NOW - LONGEST_WAIT <= remote.controller.arrivals[0] <= NOW - BUSY * 1e-9
    remote.controller.update(state, command, NOW, PERIOD)
    assert remote.controller.remark
    assert not command.array[1:].any()


def test_a_command_for_a_simulated_robot_arrives_when_it_is_looked_at(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The elapsed time of the simulator is unknown."""
    remote.attach(simulated=True)
    remote.machine.busy = BUSY
    remote.send()
    assert remote.controller.arrivals == [NOW]


def test_the_time_a_message_waits_counts_from_its_reception() -> None:
    assert waiting_time(5_000_000_000, 5_180_000_000) == pytest.approx(0.18)
    assert waiting_time(5_000_000_000, 5_000_000_000) == 0.0


def test_a_message_without_a_reception_time_has_not_waited() -> None:
    assert waiting_time(0, time.time_ns()) == 0.0


@given(received=st.integers(1, 2**62), now=st.integers(0, 2**62))
def test_a_clock_that_is_set_meanwhile_makes_no_command_come_later_or_much_earlier(
    received: int, now: int
) -> None:
    assert 0.0 <= waiting_time(received, now) <= LONGEST_WAIT


def test_a_command_is_old_by_its_sending_where_the_middleware_stamps_it_when_it_is_looked_at(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Cyclone DDS does: the reception is the moment of taking."""
    transits: list[int] = []  # [ns]; the first one is as long as the machine takes for it

    def lateness(self: MessageAge, sender: Any, sent: int, now: int, monotonic: float) -> float:
        transits.append(now - sent)
        return measured(self, sender, sent, now, monotonic)

    measured = MessageAge.lateness
    monkeypatch.setattr(MessageAge, "lateness", lateness)
    monkeypatch.setattr(message_age, "waiting_time", lambda received, now: 0.0)
    remote.attach(simulated=False)
    remote.send()
    first = remote.controller.arrivals.pop()
    assert first == NOW
    remote.machine.busy = 10 * BUSY
    remote.send()
    late = max(transits[1] - transits[0], 0) * 1e-9
    assert remote.controller.arrivals == [pytest.approx(NOW - late)]
    assert transits[1] >= 10 * BUSY


def test_diagnostics_contain_the_state_of_remote_and_the_latest_refused_command(
    remote: Remote, at: Any
) -> None:
    messages: list[str] = []

    def listen(message: DiagnosticArray) -> None:
        messages.extend(status.message for status in message.status)

    remote.attach(simulated=False)
    remote.node.create_subscription(DiagnosticArray, "/diagnostics", listen, 10)
    in_charge = SimpleNamespace(controller="remote_policy_controller")

    def reported(text: str, snapshot: Any) -> bool:
        remote.listener(snapshot)
        return any(text in it for it in messages)

    damping = SimpleNamespace(controller="damping", mode=Mode.DAMPING)
    remote.spin_until(lambda: reported("remote_policy_controller is not in charge", damping))
    remote.controller.on_activate(at(0.5), JointCommand(3), NOW)
    remote.spin_until(lambda: reported("never commanded", in_charge))
    remote.send()
    remote.controller.update(at(0.5), JointCommand(3), NOW, PERIOD)
    remote.spin_until(lambda: reported("follows commands", in_charge))
    remote.send_wrong()
    refused = "follows commands; 1 refused, the latest (number 2): joints unknown: knee; missing: "
    remote.spin_until(lambda: reported(refused, in_charge))
    remote.publish(0.1, float("nan"), 0.1)
    remote.spin_until(lambda: reported("(number 3): not finite, absurdly large, or a", in_charge))
    remote.send_huge()
    remote.spin_until(lambda: reported("a MITCommand of", in_charge))


def test_commands_that_differ_in_numbers_only_are_not_decoded(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []

    def decode(data: bytes, kind: Any) -> Any:
        decoded.append(data)
        return deserialize_message(data, kind)

    monkeypatch.setattr(bounded_topic, "deserialize_message", decode)
    remote.attach(simulated=False)
    for i, frame_id in enumerate(["", "policy", "policy", "policy", "", ""]):
        remote.publish(0.1 * i, 0.2, 0.3, frame_id=frame_id)
        remote.spin_until(lambda count=i + 1: len(remote.controller.commands) == count)
    assert remote.controller.commands == [[[0.1 * i, 0.2, 0.3]] * 5 for i in range(6)]
    assert len(decoded) == 2  # the first of each other frame


@pytest.mark.parametrize("frame_id", ["", "policy"])
def test_a_stamp_before_1970_does_not_stop_a_command(remote: Remote, frame_id: str) -> None:
    remote.attach(simulated=False)
    remote.publish(0.1, frame_id=frame_id, sec=-7)
    remote.spin_until(lambda: remote.controller.commands)
    assert remote.controller.commands == [[[0.1] * 3] * 5]
