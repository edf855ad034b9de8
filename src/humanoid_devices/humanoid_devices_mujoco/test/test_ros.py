"""The ROS side, over real topics and services: /clock and /mujoco/reset."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger
from test_support.lone_node import LoneNode

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_devices_mujoco import ros
from humanoid_devices_mujoco.mujoco_system import MujocoSystem


@pytest.fixture
def ros_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoneNode]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_PYTHON_CHECK_FIELDS", "1")
    world = LoneNode("controller_manager")
    yield world
    world.close()


def host(world: LoneNode, simulation: Any) -> PluginContext:
    description = simulation.description
    facts = RobotFacts(description.joints, description.limits, 200.0)
    return PluginContext(
        node=world.node,
        robot=facts,
        now=lambda: simulation.system.time,
        stamp_ns=lambda snapshot: round(snapshot.now * 1e9),
    )


def tick(mode: Mode, now: float = 0.0) -> Any:
    """The parts of a snapshot that matter here."""
    return SimpleNamespace(mode=mode, now=now)


def test_every_published_snapshot_is_a_tick_of_the_clock(
    ros_world: LoneNode, simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint().urdf())
    publish = ros.attach(host(ros_world, simulation), simulation.system)
    received: list[Time] = []
    # As rclpy's own use_sim_time listens.
    quality = rclpy.qos.QoSProfile(depth=10, reliability=rclpy.qos.ReliabilityPolicy.BEST_EFFORT)
    ros_world.node.create_subscription(
        Clock, "/clock", lambda message: received.append(message.clock), quality
    )
    ros_world.spin_until(lambda: ros_world.node.count_subscribers("/clock") > 0)

    for count, now in enumerate((0.995, 1.0, 1.005), start=1):
        publish(tick(Mode.DAMPING, now))
        ros_world.spin_until(lambda expected=count: len(received) == expected)

    seconds = [time.sec + time.nanosec * 1e-9 for time in received]
    assert seconds == pytest.approx([0.995, 1.0, 1.005])


def test_the_reset_service_resets_in_the_next_tick(
    ros_world: LoneNode, simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint(initial=0.2).urdf())
    publish = ros.attach(host(ros_world, simulation), simulation.system)
    publish(tick(Mode.ZERO_TORQUE))
    simulation.command.effort[:] = 1.0
    simulation.run(0.3)
    moved = simulation.state.position[0]
    client = ros_world.node.create_client(Trigger, "/mujoco/reset")
    ros_world.spin_until(client.service_is_ready)

    answer = client.call_async(Trigger.Request())
    ros_world.spin_until(answer.done)

    assert answer.result().success
    assert "next tick" in answer.result().message
    assert simulation.system.data.qpos[0] == moved > 0.3  # the executor's thread changed nothing
    simulation.system.read(simulation.state, simulation.system.time, simulation.period)
    assert simulation.state.array[:, 0].tolist() == [0.2, 0.0, 0.0]


def test_a_stiff_robot_is_not_reset_under_its_controller(
    ros_world: LoneNode, simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint(initial=0.2).urdf())
    publish = ros.attach(host(ros_world, simulation), simulation.system)
    publish(tick(Mode.STANDBY))
    simulation.command.effort[:] = 1.0
    simulation.run(0.3)
    client = ros_world.node.create_client(Trigger, "/mujoco/reset")
    ros_world.spin_until(client.service_is_ready)

    answer = client.call_async(Trigger.Request())
    ros_world.spin_until(answer.done)

    assert not answer.result().success
    assert answer.result().message == "requires ZERO_TORQUE or DAMPING (currently STANDBY)"
    simulation.system.read(simulation.state, simulation.system.time, simulation.period)
    assert simulation.state.position[0] > 0.3


@pytest.mark.parametrize("upstream", ["MujocoSystem", "MujocoSystemInterface"])
def test_the_plugin_and_its_ros_side_are_found_under_the_names_of_a_urdf(upstream: str) -> None:
    name = f"mujoco_ros2_control/{upstream}"

    (hardware,) = entry_points(group="humanoid_control.hardware", name=name)
    (ros_side,) = entry_points(group="humanoid_control.ros", name=name)

    assert hardware.load() is MujocoSystem
    assert ros_side.load() is ros.attach
