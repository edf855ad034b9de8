"""Gravity compensation on both buses: arms with a payload do not sag, and stay after guidance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from humanoid_control_msgs.msg import GravityState, Payload
from humanoid_control_msgs.srv import MoveJoints, SetPayload
from test_support.stepped.own_remote import NAME, ask, in_remote, trajectories
from test_support.stepped.stack import Stack

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload_identification import RestingPose, identify

HAND = "left_hand_link"
WRIST = "left_wrist_yaw_link"  # the link of the hand
MASS = 1.0  # [kg]
RAISED = {"left_shoulder_pitch": -0.8, "left_elbow_pitch": -0.6}  # [rad]
HOLD = 0.03  # of the effort limit: the teach controller's default
SLOWEST = 1e-3  # [rad/s] of a joint that stays


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime, guided by hand."""
    return in_remote(tmp_path_factory.mktemp("taught"), "TeachController")


@pytest.fixture(scope="module")
def taught_lite(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Lite, guided by hand: effort acts in every tick on all its joints."""
    return in_remote(tmp_path_factory.mktemp("lite"), "TeachController", "lite")


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime following trajectories, with gravity compensation."""
    return trajectories(tmp_path_factory.mktemp("held"), compensates=True)


@pytest.fixture(scope="module")
def sagging(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime following trajectories, without gravity compensation."""
    return trajectories(tmp_path_factory.mktemp("sagging"), compensates=False)


def true(stack: Stack, quantity: str = "position") -> FloatArray:
    return np.array([it[quantity] for it in stack.control.joints().values()])


def tell(stack: Stack, mass: float, link: str = HAND) -> Any:
    request = SetPayload.Request(payload=Payload(link=link, mass=mass))
    return ask(stack, SetPayload, "/controller_manager/set_payload", request)


def place_in(stack: Stack) -> FloatArray:
    """The point of a payload of the virtual robot's hand, in the axes of WRIST [m]."""
    place: FloatArray = stack.robot.virtual.plant.model.body(WRIST).ipos
    return place


def raise_arm(stack: Stack, **angles: float) -> None:
    wanted = RAISED | angles
    names, positions = list(wanted), list(wanted.values())
    request = MoveJoints.Request(joint_names=names, positions=positions, duration=2.0)
    assert ask(stack, MoveJoints, f"{NAME}/move", request).success
    stack.pass_time(6.0)


def sag(stack: Stack) -> float:
    """Return the largest error of the shoulder [rad] with a payload."""
    stack.control.payload(HAND, MASS)
    raise_arm(stack)
    joints = stack.control.joints()
    return max(abs(joints[name]["position"] - angle) for name, angle in RAISED.items())


def test_an_arm_with_a_payload_sags_without_compensation(sagging: Stack) -> None:
    assert sag(sagging) > 0.4


def test_an_arm_whose_payload_is_known_does_not_sag(held: Stack) -> None:
    assert tell(held, MASS).success
    assert sag(held) < 0.03


def test_an_arm_with_an_unknown_payload_sags_by_that_alone(held: Stack) -> None:
    before = sag(held)
    assert tell(held, MASS).success
    held.pass_time(4.0)
    joints = held.control.joints()
    after = max(abs(joints[name]["position"] - angle) for name, angle in RAISED.items())
    assert before > 0.2
    assert after < 0.03


@pytest.mark.parametrize(
    ("mass", "link", "text"),
    [
        (float("nan"), HAND, "mass is nan kg"),
        (-1.0, HAND, "mass is -1 kg"),
        (50.0, HAND, "50 kg, expected at most 3"),
        (1.0, "left_foot", "no link 'left_foot' moves"),
    ],
)
def test_an_invalid_payload_is_refused_and_changes_nothing(held, mass, link, text) -> None:
    before = true(held)
    answer = tell(held, mass, link)
    assert not answer.success
    assert text in answer.message
    held.pass_time(1.0)
    np.testing.assert_allclose(true(held), before, atol=0.005)


def push(stack: Stack, link: str, force: tuple[float, float, float]) -> float:
    """Push for 1 s; return the motion of a joint [rad]."""
    before = true(stack)
    stack.control.wrench(link, force=force)
    stack.pass_time(1.0)
    stack.control.wrench(link)
    return float(np.abs(true(stack) - before).max())


def assert_stays(stack: Stack, limit: float) -> None:
    """The joint comes to rest within the deflection of its stiffness."""
    left = true(stack)
    stack.pass_time(3.0)
    rest = true(stack)
    assert np.abs(rest - left).max() < limit
    stack.pass_time(5.0)
    assert np.abs(true(stack) - rest).max() < 5.0 * SLOWEST
    assert stack.client.now.mode == Mode.REMOTE


def test_a_push_moves_the_arm_and_it_stays_where_it_is_left(taught: Stack) -> None:
    assert push(taught, HAND, (12.0, 0.0, 6.0)) > 0.5
    taught.pass_time(0.5)  # the joint moves at the release
    # The deflection is 0.9 Nm / 20 Nm/rad in each direction.
    assert_stays(taught, 0.1)


@pytest.mark.parametrize(
    ("joint", "least"),
    [
        # 0.045 rad · 20.2 Nm/rad · 0.7: what docs/gravity.md states.
        ("left_shoulder_yaw", 0.64),
        ("left_wrist_roll", 0.27),
    ],
)
def test_a_joint_stays_below_the_torque_that_the_guide_states(
    taught: Stack, joint: str, least: float
) -> None:
    def creep(torque: float) -> float:
        """Return the motion in the third second of a torque [rad]."""
        taught.control.external_torque(joint, torque)
        taught.pass_time(2.0)
        before = float(taught.control.joints()[joint]["position"])
        taught.pass_time(1.0)
        return abs(float(taught.control.joints()[joint]["position"]) - before)

    taught.pass_time(2.0)
    assert creep(0.9 * least) < SLOWEST
    assert creep(1.1 * least) > 10.0 * SLOWEST
    taught.control.external_torque(joint, 0.0)
    taught.pass_time(2.0)


def test_a_load_moves_an_erob_by_its_torque_over_seven_tenths_of_the_nominal_stiffness(
    sagging: Stack,
) -> None:
    before = sagging.control.joints()["right_shoulder_yaw"]["position"]
    sagging.control.external_torque("right_shoulder_yaw", 3.0)
    sagging.pass_time(3.0)
    after = sagging.control.joints()["right_shoulder_yaw"]["position"]
    sagging.control.external_torque("right_shoulder_yaw", 0.0)
    assert after - before == pytest.approx(3.0 / (0.7 * 20.2), abs=0.01)


def test_a_light_touch_moves_nothing(taught: Stack) -> None:
    assert push(taught, HAND, (1.0, 0.0, 0.0)) < 0.06


def test_lite_is_guided_like_prime(taught_lite: Stack) -> None:
    assert push(taught_lite, "left_wrist_yaw_link", (12.0, 0.0, 6.0)) > 0.3
    taught_lite.pass_time(0.5)
    assert_stays(taught_lite, 0.1)


def test_a_wrench_on_both_hands_at_random_leads_to_no_fall(taught: Stack) -> None:
    random = np.random.default_rng(0)
    for _ in range(6):
        for side in ("left", "right"):
            force = random.uniform(-12.0, 12.0, 3).tolist()
            taught.control.wrench(f"{side}_hand_link", force=force)
        taught.pass_time(1.0)
    for side in ("left", "right"):
        taught.control.wrench(f"{side}_hand_link")
    taught.pass_time(1.0)
    assert_stays(taught, 0.15)


def test_damping_removes_the_compensation(taught: Stack) -> None:
    push(taught, HAND, (12.0, 0.0, 6.0))
    states: list[GravityState] = []
    taught.client.listen(GravityState, "/controller_manager/gravity", states.append)
    taught.pass_time(0.5)
    assert np.abs(states[-1].compensation).max() > 3.0
    taught.enter(Mode.DAMPING)
    taught.pass_time(0.3)
    assert not np.any(states[-1].compensation)
    taught.pass_time(3.0)
    assert taught.control.joints()["left_shoulder_pitch"]["position"] > -0.4  # the arm hangs again


def test_a_payload_is_identified_from_two_poses(held: Stack) -> None:
    states: list[GravityState] = []
    held.client.listen(GravityState, "/controller_manager/gravity", states.append)
    held.control.payload(HAND, MASS)
    poses = []
    for pose in ({}, {"left_elbow_pitch": -1.6}):
        raise_arm(held, **pose)
        poses.append(RestingPose(np.array(states[-1].position), np.array(states[-1].load)))
    model = GravityModel(held.robot.urdf, states[-1].joint_names)
    found = identify(model, WRIST, poses)
    assert found.payload.mass == pytest.approx(MASS, rel=0.03)
    np.testing.assert_allclose(found.payload.centre_of_mass, place_in(held), atol=0.01)
    assert found.residual < 0.05 * found.without
