"""The topics and services of a servo controller, over real messages."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from humanoid_control_msgs.msg import ServoState
from humanoid_control_msgs.srv import SetServoGains, SetVelocityCurve
from std_msgs.msg import Float64, Float64MultiArray, MultiArrayLayout
from std_srvs.srv import Trigger
from test_support.lone_node import LoneNode

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.bounded_topic import MessageRefusedError, refusal_log
from humanoid_servo_controllers.controllers import (
    MixedPositionVelocityController,
    PositionController,
    ServoController,
)
from humanoid_servo_controllers.ros import attach_servo

NAMES = ("knuckle", "tip")
STAMPED = 1000  # [s], the ROS time of every tick


class LateMachine(LinuxMachine):
    """Messages are looked at late: the system's time is ahead of their sending."""

    late = 0  # [ns]

    def system_time_ns(self) -> int:
        return super().system_time_ns() + self.late


class Side(LoneNode):
    """A servo controller with its ROS side; the test ticks the loop."""

    def __init__(self, kind: type[ServoController], **parameters: float) -> None:
        super().__init__("servo_controller")
        limit = np.ones(2)
        robot = RobotFacts(JointSet(NAMES), JointLimits(-limit, limit, limit, 5 * limit), 1000.0)
        self.controller = kind()
        raw = {"gains": {"p": 2.0}, "deadband": 0.0, **parameters}
        self.controller.on_configure(kind.Parameters.model_validate(raw), robot)
        self.state, self.command, self.now = JointState(2), JointCommand(2), 5.0
        self.state.array.fill(0.0)
        self.state.velocity[0] = 0.125
        self.controller.on_activate(self.state, JointCommand(2), self.now)
        self.machine = LateMachine()
        self.plugin_context = PluginContext(
            self.node,
            robot,
            lambda: self.now,
            lambda _: STAMPED * 1_000_000_000,
            machine=self.machine,
        )
        self._listener = attach_servo(self.plugin_context, self.controller)
        self.states: list[ServoState] = []
        create = self.node.create_subscription
        create(ServoState, "~/state", self.states.append, 10)
        self.commands = self.node.create_publisher(Float64MultiArray, "~/commands", 4)
        self.factors = self.node.create_publisher(Float64, "~/max_force_factor", 4)
        for topic in (self.commands, self.factors):
            self.spin_until(lambda topic=topic: topic.get_subscription_count() > 0)

    def tick(self) -> list[float]:
        self.now += 0.001
        self.controller.update(self.state, self.command, self.now, 0.001)
        self._listener(SimpleNamespace(now=self.now))
        return list(self.command.effort)

    def efforts(self, expected: list[float]) -> None:
        """Tick until these efforts are commanded."""
        self.spin_until(lambda: np.allclose(self.tick(), expected))


@pytest.fixture
def side() -> Iterator[Side]:
    yield from started(PositionController)


@pytest.fixture
def travelling() -> Iterator[Side]:
    yield from started(MixedPositionVelocityController)


@pytest.fixture
def timed() -> Iterator[Side]:
    yield from started(PositionController, command_timeout=10.0)


def started(kind: type[ServoController], **parameters: float) -> Iterator[Side]:
    found = Side(kind, **parameters)
    yield found
    found.close()


def test_commands_and_factors_arrive_and_are_in_the_published_state(side: Side) -> None:
    side.commands.publish(Float64MultiArray(data=[0.5, -1.0]))
    side.efforts([1.0, -2.0])
    padded = MultiArrayLayout(data_offset=1)
    side.commands.publish(Float64MultiArray(layout=padded, data=[9.0, 0.25, -1.0]))
    side.efforts([0.5, -2.0])
    side.commands.publish(Float64MultiArray(data=[0.5, -1.0]))
    side.factors.publish(Float64(data=0.2))
    side.efforts([1.0, -1.0])
    side.spin_until(
        lambda: bool(side.tick()) and side.states[-1:] and side.states[-1].max_force_factor == 0.2
    )
    state = side.states[-1]
    assert state.joint_names == list(NAMES)
    assert list(state.set_point) == [0.5, -1.0]
    assert list(state.effort) == [1.0, -1.0]
    assert list(state.holds) == [False, False]
    assert list(state.process_value_dot) == [0.125, 0.0]
    assert (list(state.p), list(state.i_clamp_max)) == ([2.0, 2.0], [0.0, 0.0])
    assert state.time_step == 0.001
    assert state.header.stamp.sec == STAMPED


def test_a_command_that_was_held_back_on_its_way_is_no_fresh_one(timed: Side) -> None:
    timed.commands.publish(Float64MultiArray(data=[0.5, -1.0]))
    timed.efforts([1.0, -2.0])
    timed.machine.late = 9_900_000_000
    timed.commands.publish(Float64MultiArray(data=[0.25, 0.0]))
    timed.efforts([0.5, 0.0])
    timed.now += 0.2
    assert timed.tick() == [0.0, 0.0]
    assert timed.controller.remark.startswith("stale commands")


def test_a_flood_of_commands_that_are_too_large_does_not_fill_the_log(
    side: Side, capfd: pytest.CaptureFixture[str]
) -> None:
    refuse = refusal_log(side.node, "refused")
    for count in range(1000):
        refuse(MessageRefusedError(f"too large; {count} refused"))
    assert 1 <= capfd.readouterr().err.count("refused: too large") < 100


def test_a_wrong_command_changes_nothing(side: Side) -> None:
    side.commands.publish(Float64MultiArray(data=[0.5, -1.0]))
    side.efforts([1.0, -2.0])
    for wrong in ([float("nan"), 0.0], [0.1], []):
        side.commands.publish(Float64MultiArray(data=wrong))
    side.factors.publish(Float64(data=7.0))
    side.commands.publish(Float64MultiArray(data=[0.25, 0.0]))
    seen = set()

    def arrived() -> bool:
        efforts = side.tick()
        seen.add(tuple(efforts))
        return bool(np.allclose(efforts, [0.5, 0.0]))

    side.spin_until(arrived)
    assert seen <= {(1.0, -2.0), (0.5, 0.0)}  # the last command may arrive before a tick


def test_gains_are_set_by_joint_and_reset(side: Side) -> None:
    side.commands.publish(Float64MultiArray(data=[0.5, 0.5]))
    side.efforts([1.0, 1.0])
    assert side.call(SetServoGains, "set_gains", SetServoGains.Request(joint="tip", p=4.0)).success
    side.efforts([1.0, 2.0])
    wrong = side.call(SetServoGains, "set_gains", SetServoGains.Request(joint="tip", p=-4.0))
    assert not wrong.success
    assert wrong.message == "p: Input should be greater than or equal to 0 (found -4.0)"
    unknown = side.call(SetServoGains, "set_gains", SetServoGains.Request(joint="toe", p=4.0))
    assert unknown.message == "unknown joint 'toe', expected one of knuckle, tip"
    side.efforts([1.0, 2.0])
    assert side.call(Trigger, "reset_gains", Trigger.Request()).success
    side.efforts([1.0, 1.0])


def test_the_speed_of_travel_is_set_by_joint(travelling: Side) -> None:
    travelling.commands.publish(Float64MultiArray(data=[1.0, 1.0]))
    travelling.efforts([2.0 * 0.875, 2.0])
    request = SetVelocityCurve.Request(joint="tip", slope=10.0, max_velocity=0.5)
    assert travelling.call(SetVelocityCurve, "set_velocity_curve", request).success
    travelling.efforts([2.0 * 0.875, 1.0])
    for wrong, text in (
        (SetVelocityCurve.Request(joint="toe", slope=1.0, max_velocity=1.0), "unknown joint 'toe'"),
        (SetVelocityCurve.Request(joint="tip", slope=0.0), "velocity_slope: Input should be"),
        (SetVelocityCurve.Request(joint="tip", slope=1.0), "nothing would move"),
    ):
        answer = travelling.call(SetVelocityCurve, "set_velocity_curve", wrong)
        assert not answer.success
        assert text in answer.message
    travelling.efforts([2.0 * 0.875, 1.0])
