"""LOCOMOTION on both buses follows a policy with its gains, and ends in the tick of an error."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from sensor_msgs.msg import Imu
from test_support.arm_joints import ARM
from test_support.controllers import add_policy, write_controllers
from test_support.policies import policy_model, prime_properties
from test_support.stepped.imports_in_ticks import ImportsInTicks
from test_support.stepped.prime import STIFF, Prime

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.ros.topics.message_template import nanoseconds
from humanoid_stepped.copies import in_copy
from humanoid_stepped.scheduler import NEVER

NAME = "/rl_policy_controller"
NAMES = [f"{side}_{joint}" for side in ("left", "right") for joint in ARM]
# Stiffness [Nm/rad] and damping [Nm s/rad] of each wrist on the CAN bus.
WRISTS = {
    "left_wrist_roll": (11.0, 0.5),
    "left_wrist_pitch": (8.0, 0.6),
    "right_wrist_roll": (13.0, 0.7),
    "right_wrist_pitch": (9.0, 0.8),
}
MOTION = {
    "joints": ["left_elbow_pitch", "right_elbow_pitch", "left_wrist_roll"],
    "times": [1.0, 2.0],
    "positions": [-0.9, -0.3, 0.4, -0.5, -0.5, 0.0],
}
INVALID = 1e4  # sum of squares of the observation above which the action is not finite
TICK = 0.02  # [s]


def model(properties: dict[str, str]) -> bytes:
    """Residuals of the arms that reduce the error; vx adds to the left elbow, wz makes NaN."""
    count = len(NAMES)
    weights = np.zeros((2 * count + 3, count))
    arms = np.diag([float(name not in WRISTS) for name in NAMES])
    weights[:count] = 0.6 * arms
    weights[count : 2 * count] = -0.2 * arms
    weights[2 * count, NAMES.index("left_elbow_pitch")] = 1.0
    return policy_model(properties, weights, invalid_for=INVALID)


def gains(index: int, other: str) -> str:
    return ",".join(str(WRISTS[name][index]) if name in WRISTS else other for name in NAMES)


PROPERTIES = prime_properties(
    action_kind="residuals",
    joint_stiffness=gains(0, "20.0"),
    joint_damping=gains(1, "2.0"),
    observation_names="joint_pos_error,joint_vel,velocity_commands",
)


@pytest.fixture(scope="module")
def walking(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in LOCOMOTION, with a quick STANDBY."""
    folder = tmp_path_factory.mktemp("policies")
    file = folder / "policy.onnx"
    file.write_bytes(model(PROPERTIES))
    controllers = add_policy(write_controllers(folder, 1.0), file, motion=MOTION)
    prime = Prime(folder, controllers_file=controllers)
    prime.up()
    prime.damped()
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.enter(Mode.LOCOMOTION)
    return prime


def row(values: Any, name: str) -> float:
    return float(values[NAMES.index(name)])


def send(prime: Prime, **linear_and_angular: float) -> None:
    """Publish a velocity command: vx, wz."""
    message = Twist()
    message.linear.x = linear_and_angular.get("vx", 0.0)
    message.angular.z = linear_and_angular.get("wz", 0.0)
    prime.client.node.create_publisher(Twist, f"{NAME}/velocity", 4).publish(message)


def ended(prime: Prime) -> tuple[str, ...]:
    """Return the codes of the fall; no stiff command follows the last one of LOCOMOTION."""
    prime.falls()
    prime.pass_time(0.1)
    stiff = [any(it.stiffness) for it in prime.client.commands]
    assert stiff.index(False) == sum(stiff), "stiff again after the fall"
    assert not any(stiffness for stiffness, _ in prime.wrist_gains().values())
    return tuple(prime.client.now.reason_codes)


def test_the_motion_is_followed_with_the_policys_gains_where_they_act(walking: Prime) -> None:
    walking.client.commands.clear()
    walking.pass_time(1.0)
    commands = walking.client.commands
    assert commands[0].joint_names == NAMES
    assert row(commands[-1].position, "left_elbow_pitch") < -0.7
    assert row(commands[-1].position, "right_elbow_pitch") > -0.45
    for name, (stiffness, damping) in WRISTS.items():
        assert row(commands[-1].stiffness, name) == stiffness
        found = walking.wrist_gains()[name]
        assert found == pytest.approx((stiffness, damping), rel=0.02)
    assert walking.registers() == [STIFF] * 10
    walking.pass_time(2.0)
    state = walking.client.joint_states[-1]
    for name in MOTION["joints"]:
        target = row(commands[-1].position, name)
        assert row(state.position, name) == pytest.approx(target, abs=0.16)  # load / stiffness
    assert walking.client.now.mode == Mode.LOCOMOTION


def test_no_tick_of_a_policy_imports_anything(
    walking: Prime, imports_in_ticks: ImportsInTicks
) -> None:
    walking.enter(Mode.DAMPING)
    walking.enter(Mode.STANDBY)
    walking.client.until(walking.has_finished_standby, "the ready pose")
    walking.enter(Mode.LOCOMOTION)
    walking.pass_time(1.0)
    assert imports_in_ticks.found == set()


@pytest.mark.parametrize("wrist", WRISTS)
def test_each_wrist_yields_by_its_own_stiffness(walking: Prime, wrist: str) -> None:
    walking.pass_time(3.0)

    def away() -> float:
        """Return the measured distance to the target [rad]."""
        state, command = walking.client.joint_states[-1], walking.client.commands[-1]
        return row(state.position, wrist) - row(command.position, wrist)

    before = away()
    walking.push(0.6, wrist)
    walking.pass_time(3.0)
    assert away() - before == pytest.approx(0.6 / WRISTS[wrist][0], rel=0.1)


def test_a_policy_without_a_processor_is_late_and_ends_at_its_deadline(walking: Prime) -> None:
    walking.pass_time(0.5)
    (task,) = (it for it in walking.robot.scheduler.tasks if it.name == "policy")
    walking.client.commands.clear()
    task.held_until = NEVER
    assert "POLICY_LATE" in ended(walking)
    assert "no action within 0.02 s" in walking.client.now.status_message
    stiff = sum(any(it.stiffness) for it in walking.client.commands)
    assert stiff <= 2, "one answer may have been there, one tick waits for the next"


def test_an_action_that_is_no_number_ends_the_policy(walking: Prime) -> None:
    walking.pass_time(0.5)
    walking.client.commands.clear()
    send(walking, wz=1000.0)
    assert "POLICY_NOT_FINITE" in ended(walking)
    assert "action nan, expected a finite number" in walking.client.now.status_message
    assert all(np.isfinite(it.position).all() for it in walking.client.commands)


def test_a_target_beyond_a_joints_range_ends_the_policy(walking: Prime) -> None:
    walking.pass_time(0.4)
    walking.client.commands.clear()
    walking.pass_time(0.1)  # the command comes within one or two ticks
    send(walking, vx=30.0)
    assert "POLICY_OUT_OF_LIMITS" in ended(walking)
    assert "left_elbow_pitch: position" in walking.client.now.status_message
    stiff = np.array([it.position for it in walking.client.commands if any(it.stiffness)])
    assert np.abs(np.diff(stiff, axis=0)).max() < 0.1, "the target never went there"


def test_a_velocity_command_that_is_no_number_is_ignored(walking: Prime) -> None:
    send(walking, wz=float("nan"))
    walking.pass_time(0.5)
    assert walking.client.now.mode == Mode.LOCOMOTION
    assert "velocity command refused: found [ 0.  0. nan]" in walking.text("control")


def test_the_same_seed_gives_the_same_run(request: pytest.FixtureRequest) -> None:
    walking: Prime = request.getfixturevalue("walking")

    def run() -> str:
        walking.client.commands.clear()
        walking.pass_time(1.5)
        stamps = [nanoseconds(it.header.stamp) for it in walking.client.commands]
        assert max(np.diff(stamps)) < 1.5e9 * TICK, "a command is missing"
        found: FloatArray = np.array([it.position for it in walking.client.commands])
        return f"{len(found)} {sha256(found.tobytes()).hexdigest()}"

    first = in_copy(run)
    assert first.startswith(("74 ", "75 ", "76 "))  # at 50 Hz; one may be on its way at each end
    assert in_copy(run) == first


@pytest.fixture(scope="module")
def balancing(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in a finished STANDBY, with a policy that observes the IMU."""
    folder = tmp_path_factory.mktemp("imu")
    file = folder / "policy.onnx"
    weights = np.zeros((6, len(NAMES)))
    weights[3, NAMES.index("left_elbow_pitch")] = 1.0  # gravity along x
    properties = prime_properties(observation_names="base_ang_vel,projected_gravity")
    file.write_bytes(policy_model(properties, weights))
    prime = Prime(folder, controllers_file=add_policy(write_controllers(folder, 1.0), file))
    prime.up()
    prime.damped()
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    return prime


def measure(prime: Prime, pitch: float, seconds: float, **changes: float) -> None:
    """Publish messages of the IMU of a base that leans forwards by `pitch` [rad]."""
    topic = prime.client.node.create_publisher(Imu, "/imu/data", 1)
    message = Imu()
    message.orientation.y, message.orientation.w = np.sin(pitch / 2), np.cos(pitch / 2)
    message.orientation_covariance[0] = changes.get("covariance", 0.0)
    for _ in range(round(seconds / TICK)):
        topic.publish(message)
        prime.pass_time(TICK)


def test_the_imu_is_observed_and_its_silence_ends_the_policy(balancing: Prime) -> None:
    balancing.client.node.create_publisher(Imu, "/imu/data", 1).publish(_upright())
    balancing.pass_time(0.01)
    balancing.enter(Mode.LOCOMOTION)
    measure(balancing, 0.4, 1.0)
    assert balancing.client.now.mode == Mode.LOCOMOTION
    elbow = row(balancing.client.commands[-1].position, "left_elbow_pitch")
    assert elbow == pytest.approx(-0.5 + 0.5 * np.sin(0.4), abs=1e-6)
    balancing.client.commands.clear()
    assert "POLICY_WITHOUT_INPUT" in ended(balancing)


def test_without_an_imu_locomotion_is_refused_and_standby_stays(balancing: Prime) -> None:
    measure(balancing, 0.4, 0.2, covariance=-1.0)
    before = balancing.client.now
    balancing.client.commands.clear()
    balancing.client.request(Mode.LOCOMOTION)
    balancing.pass_time(1.0)
    now = balancing.client.now
    assert (now.mode, now.switch_number) == (Mode.STANDBY, before.switch_number)
    assert "no valid message of the IMU for 0.1 s" in now.status_message
    assert "POLICY_WITHOUT_INPUT" in now.reason_codes
    assert len({tuple(it.position) for it in balancing.client.commands}) == 1
    assert "has no orientation or no angular velocity" in balancing.text("control")


def _upright() -> Imu:
    message = Imu()
    message.orientation.w = 1.0
    return message
