"""The ROS side of the policy controller: real topics, and the thread of the inference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import Imu
from test_support.lone_node import LoneNode
from test_support.machine import TestMachine

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_control_common.machine.machine import Thread
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.message_age import MessageInfo
from humanoid_controllers.policy.ros import PolicyRosSide, attach_policy
from humanoid_policy.errors import PolicyFailedError

NOW = 100.0  # [s] of the loop
UNKNOWN_TIMES: MessageInfo = {"received_timestamp": 0, "source_timestamp": 0}
TERMS = "base_ang_vel,projected_gravity,velocity_commands"


class NotingMachine(LinuxMachine):
    """Notes the threads to start, and starts none."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        self.started.append(name)
        return None  # type: ignore[return-value]


class Side(LoneNode):
    """A configured controller with its topics, in a context of its own."""

    def __init__(self, bench: Any) -> None:
        super().__init__("rl_policy_controller")
        self.controller, self.machine = bench.controller, NotingMachine()

    def attach(self, *, simulated: bool = False) -> None:
        host = PluginContext(
            self.node,
            None,  # type: ignore[arg-type]  # not used
            lambda: NOW,
            lambda _: 0,
            simulated=simulated,
            machine=self.machine,
        )
        attach_policy(host, self.controller)

    def topics(self) -> set[str]:
        """Return the subscribed topics."""
        return {it.topic_name for it in self.node.subscriptions}


@pytest.fixture
def make_side(configured: Callable[..., Any]) -> Iterator[Callable[..., Side]]:
    made: list[Side] = []

    def make(terms: str = TERMS) -> Side:
        made.append(Side(configured(0.0, observation_names=terms)))
        return made[-1]

    yield make
    for side in made:
        side.close()


def test_controller_subscribes_only_to_topics_that_the_policy_observes(
    make_side: Callable[..., Side],
) -> None:
    side = make_side("joint_pos")
    side.attach()
    assert side.topics() == set()
    side = make_side("velocity_commands")
    side.attach()
    assert side.topics() == {"/rl_policy_controller/velocity"}
    side = make_side()
    side.attach()
    assert side.topics() == {"/imu/data", "/rl_policy_controller/velocity"}


def test_the_inference_has_a_thread_unless_time_is_simulated(
    make_side: Callable[..., Side],
) -> None:
    side = make_side()
    side.attach()
    assert side.machine.started == ["policy"]
    assert not side.controller.inference.at_once
    assert side.controller.inference.clock == side.machine.clock
    side = make_side()
    side.attach(simulated=True)
    assert side.machine.started == []
    assert side.controller.inference.at_once


@pytest.mark.parametrize("reliability", [ReliabilityPolicy.RELIABLE, ReliabilityPolicy.BEST_EFFORT])
def test_messages_arrive_with_any_reliability_of_the_imu(
    make_side: Callable[..., Side], reliability: ReliabilityPolicy
) -> None:
    side = make_side()
    side.attach()
    imu = side.node.create_publisher(Imu, "/imu/data", QoSProfile(depth=1, reliability=reliability))
    velocity = side.node.create_publisher(Twist, "~/velocity", 1)
    message, command = Imu(), Twist()
    message.orientation.w, message.angular_velocity.z = 1.0, 0.5
    command.linear.x, command.angular.z = 0.3, -0.2
    live = side.controller.live

    def both() -> bool:
        imu.publish(message)
        velocity.publish(command)
        try:
            return bool(live.present(NOW)[1].any())
        except PolicyFailedError:  # no message of the IMU yet
            return False

    side.spin_until(both)
    sample, wanted = live.present(NOW)
    assert sample.gravity == pytest.approx([0.0, 0.0, -1.0])
    assert sample.angular_velocity == pytest.approx([0.0, 0.0, 0.5])
    assert wanted == pytest.approx([0.3, 0.0, -0.2])


def wrong(**changes: Any) -> Imu:
    message = Imu()
    message.orientation.w = changes.get("w", 1.0)
    message.angular_velocity.x = changes.get("x", 0.0)
    message.angular_velocity_covariance[0] = changes.get("covariance", 0.0)
    return message


def test_the_first_of_several_wrong_messages_is_logged(configured: Callable[..., Any]) -> None:
    """An IMU sends hundreds in a second, each with other numbers."""
    lines: list[str] = []
    node = SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=lines.append))
    bench = configured(0.0, observation_names=TERMS)
    context = PluginContext(node, None, lambda: NOW, lambda _: 0)  # type: ignore[arg-type]
    side = PolicyRosSide(context, bench.controller)
    command = Twist()
    command.linear.x = np.nan
    for w in (0.5, 0.6, 1.0, 0.7):
        side.on_imu(wrong(w=w), UNKNOWN_TIMES)
        side.on_velocity(command, UNKNOWN_TIMES)
    assert [line.split(" refused")[0] for line in lines] == [
        "message of the IMU",
        "velocity command",
        "message of the IMU",
    ]


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e39, -1e300])
def test_numbers_of_which_no_observation_can_be_made_are_not_used(
    bench: Callable[..., Any], value: float
) -> None:
    """The action is the angular velocity of the command, in single precision."""
    weights = np.zeros((3, 2))
    weights[2, 0] = 1.0
    robot = bench(weights=weights, observation_names="velocity_commands")
    node = SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=lambda _: None))
    context = PluginContext(node, None, lambda: robot.now, lambda _: 0)  # type: ignore[arg-type]
    side = PolicyRosSide(context, robot.controller)
    command = Twist()
    command.angular.z = 0.4
    side.on_velocity(command, UNKNOWN_TIMES)
    command.angular.z = value
    side.on_velocity(command, UNKNOWN_TIMES)
    command.angular.z, command.linear.z = 0.1, 0.3  # no policy can follow it
    side.on_velocity(command, UNKNOWN_TIMES)
    assert robot.tick(20).position[1] == pytest.approx(-0.3)
    imu = Imu()
    imu.orientation.w, imu.angular_velocity.y = 1.0, value
    side.on_imu(imu, UNKNOWN_TIMES)
    assert robot.controller.live.imu.take() is None


@pytest.mark.parametrize("simulated", [False, True])
def test_messages_that_were_held_back_are_as_old_as_they_are(
    configured: Callable[..., Any], simulated: bool
) -> None:
    """After an interrupted connection the middleware sends again what the receiver has missed."""
    live = configured(0.0, observation_names=TERMS).controller
    node = SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=None))
    machine = TestMachine(lambda: 5.0, lambda: 10_000_000_000)
    context = PluginContext(
        node,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        lambda: NOW,
        lambda _: 0,
        simulated=simulated,
        machine=machine,
    )
    side = PolicyRosSide(context, live)
    command = Twist()
    command.linear.x = 0.3
    ages = []
    for waited in (0.0, 0.75):  # [s] since the sender sent it; it was received just now
        sent = 10_000_000_000 - round(waited * 1e9)
        info: MessageInfo = {"received_timestamp": 10_000_000_000, "source_timestamp": sent}
        side.on_imu(wrong(), info)
        side.on_velocity(command, info)
        imu, velocity = live.live.imu.take(), live.live.velocity.take()
        assert imu is not None and velocity is not None
        ages.append((NOW - imu.arrival, NOW - velocity.arrival))
    late = 0.0 if simulated else 0.75
    assert ages == pytest.approx([(0.0, 0.0), (late, late)])


@pytest.mark.parametrize(
    "message",
    [wrong(w=0.9), wrong(w=0.0), wrong(w=np.nan), wrong(x=np.inf), wrong(covariance=-1.0)],
)
def test_wrong_messages_of_the_imu_are_not_used(
    make_side: Callable[..., Side], message: Imu
) -> None:
    side = make_side()
    side.attach()
    topic = side.node.create_publisher(Imu, "/imu/data", qos_profile_sensor_data)
    heard: list[Imu] = []
    side.node.create_subscription(Imu, "/imu/data", heard.append, qos_profile_sensor_data)
    side.spin_until(lambda: topic.publish(message) is None and len(heard) > 3)
    assert side.controller.live.imu.take() is None
