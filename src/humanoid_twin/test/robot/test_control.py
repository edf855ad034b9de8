"""The commands of a whole robot."""

import pytest
from test_support.twin.prime_actuators import JOINTS, RING_JOINTS

from humanoid_twin.errors import TwinError
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.testing import Robot


@pytest.fixture
def control(stepped: Robot) -> RobotControl:
    """Return the control channel of a robot at rest with hanging arms, without loads."""
    control = stepped.control
    control.no_obstacle()
    for name in JOINTS:
        control.external_torque(name, 0.0)
        control.set_joint(name, 0.0)
    return control


def test_the_truth_names_all_fourteen_joints(control):
    assert list(control.joints()) == list(JOINTS)
    assert all(abs(joint["position"]) < 0.05 for joint in control.joints().values())


def test_a_joint_is_selected_by_name_or_by_ring_position(control):
    for position, name in enumerate(RING_JOINTS):
        control.set_joint(name, 0.01 * position, 0.2)
        assert control.drives()[position]["joint_position"] == pytest.approx(0.01 * position)
        control.set_joint(position, -0.01, 0.1)
        truth = control.joints()[name]
        assert (truth["position"], truth["velocity"]) == (-0.01, 0.1)


def test_a_load_moves_the_joint_it_names(control):
    control.external_torque("left_wrist_yaw", 1.0)
    control.external_torque("right_wrist_pitch", -1.0)
    control.advance(0.1)
    truth = control.joints()
    assert truth["left_wrist_yaw"]["position"] > 0.05
    assert truth["right_wrist_pitch"]["position"] < -0.05
    assert truth["left_wrist_yaw"]["torque"] == 0.0  # of the drive
    assert abs(truth["right_wrist_yaw"]["position"]) < 0.01


@pytest.mark.parametrize("joint", ["left_elbow_pitch", "left_wrist_pitch"])
def test_an_encoder_sticks_jumps_and_is_right_again(control, joint):
    def measured() -> float:
        if joint in RING_JOINTS:
            counts = control.drives()[RING_JOINTS.index(joint)]["position"]
            return counts * 6.283185307 / 524288
        return next(d for d in control.can_drives().values() if d["id"] == 23)["position"]

    control.set_joint(joint, -0.2)
    control.advance(0.002)
    assert measured() == pytest.approx(-0.2, abs=0.01)
    control.stick_encoder(joint)
    control.set_joint(joint, -0.4)
    control.advance(0.002)
    assert measured() == pytest.approx(-0.2, abs=0.01)
    control.shift_encoder(joint, 0.5)
    control.advance(0.002)
    assert measured() == pytest.approx(0.1, abs=0.02)
    control.shift_encoder(joint, 0.0)
    control.advance(0.002)
    assert measured() == pytest.approx(control.joints()[joint]["position"], abs=0.01)


def test_drives_that_are_off_are_recorded_as_limp(control):
    control.record(0.01)
    control.advance(0.005)
    assert (control.recorded().stiffness == 0.0).all()


def test_a_push_on_the_forearm_moves_the_arm_until_it_ends(control):
    control.wrench("left_wrist_yaw_link", force=(20.0, 0.0, 0.0))
    control.advance(0.2)
    assert control.joints()["left_shoulder_pitch"]["position"] < -0.02
    control.wrench("left_wrist_yaw_link")
    control.payload("left_wrist_yaw_link", 2.0)
    control.payload("left_wrist_yaw_link", 0.0)


def test_a_forearm_does_not_fall_through_an_obstacle(control):
    def fallen_to() -> float:
        for name in JOINTS:
            control.set_joint(name, 0.0)
        control.set_joint("left_elbow_pitch", -1.5)  # forearm level, to the front
        control.advance(0.25)
        return control.joints()["left_elbow_pitch"]["position"]

    free = fallen_to()
    control.obstacle((0.35, 0.25, 0.7), (0.6, 0.3, 0.36))  # its top 2 cm below the forearm
    assert fallen_to() < free - 0.3


def test_every_millisecond_of_a_recording_is_there_once(control):
    control.record(0.02)
    control.set_joint("left_wrist_yaw", 0.0, 1.0)
    control.advance(0.05)
    found = control.recorded()
    assert found.names == JOINTS
    assert found.time.shape == (20,)
    steps = found.time[1:] - found.time[:-1]
    assert steps == pytest.approx(0.001, abs=1e-9)
    index = JOINTS.index("left_wrist_yaw")
    assert found.position[-1, index] == pytest.approx(0.02, rel=0.05)


REFUSALS = [
    (lambda control: control.external_torque("left_tail", 1.0), "no joint 'left_tail', there are"),
    (lambda control: control.set_joint("left_tail", 1.0), "no joint 'left_tail'"),
    (lambda control: control.stick_encoder("left_tail"), "no joint 'left_tail'"),
    (lambda control: control.shift_encoder("left_wrist_yaw", float("inf")), "angle is inf"),
    (lambda control: control.external_torque("left_wrist_yaw", float("nan")), "torque is nan"),
    (lambda control: control.shift_encoder("left_wrist_yaw", 1e308), "angle is 1e\\+308"),
    (lambda control: control.set_joint("left_wrist_yaw", 1e300), "position is 1e\\+300"),
    (lambda control: control.wrench("left_hand_link", (1e300, 0.0, 0.0)), "force is"),
    (lambda control: control.external_torque(10, 1.0), "no slave 10"),
    (lambda control: control.wrench("hand"), "no link 'hand' moves"),
    (lambda control: control.payload("left_wrist_yaw_link", -1.0), "expected 0 to 1000"),
    (lambda control: control.obstacle((0, 0, 0), (0, 1, 1)), "size"),
    (lambda control: control.record(-1.0), "can't record"),
    (lambda control: control.epoch(), "stepped clock has no epoch"),
    (lambda control: control.pauses(), "stepped clock has no epoch"),
    (lambda control: control.request("explode"), "no command 'explode'; there are advance, "),
]


def test_invalid_command_of_the_robot_is_refused_with_the_reason(control):
    for ask, why in REFUSALS:
        with pytest.raises(TwinError, match=why):
            ask(control)
