"""The operator's selections, flips and sweeps lead to the file's values."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_bringup.calibration.formulas import JointCalibration
from humanoid_bringup.calibration.limp_drive import LimpDrives
from humanoid_bringup.calibration.robot import Robot, read_robot
from humanoid_bringup.calibration.session import CalibrationSession, JointRow
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.values import ModeInForce
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from prime_description import expand


@pytest.fixture(scope="module")
def robot() -> Robot:
    return read_robot(expand({}))


@pytest.fixture
def session(robot: Robot) -> CalibrationSession:
    """A session with all of Prime in ZERO_TORQUE and no selected joint; no drive answers."""
    gate = JointStatesGate(list(robot.drives), robot.period)
    session = CalibrationSession(robot, LimpDrives(robot.drives.values(), gate, timeout=1.0))
    session.mode_in_force = ModeInForce(Mode.ZERO_TORQUE, 1)
    return session


def move(session: CalibrationSession, joint: str, *positions: float) -> None:
    names = list(session.robot.joints.names)
    for now, position in enumerate(positions):
        row = [position if name == joint else 0.0 for name in names]
        session.joints_seen(names, row, now * 0.02)


def row(session: CalibrationSession, joint: str) -> JointRow:
    (found,) = (row for row in session.rows() if row.result.joint == joint)
    return found


def test_a_wrist_is_limp_by_itself_and_is_calibrated_by_moving_it(session: Any) -> None:
    session.select("left_wrist_roll")
    move(session, "left_wrist_roll", 0.0, 1.0, -0.4)
    found = row(session, "left_wrist_roll")
    assert found.loose
    # Between -0.4 and 1.0: 0.3 in the middle of ±0.7.
    assert found.result.calibration.homing_offset == pytest.approx(0.3)
    assert found.raw == -0.4
    assert not row(session, "right_wrist_roll").result.changed


def test_a_wrist_that_swings_while_another_joint_is_calibrated_keeps_its_values(
    session: Any,
) -> None:
    session.select("left_wrist_pitch")
    move(session, "left_wrist_roll", 0.0, 0.7, -0.1)
    found = row(session, "left_wrist_roll")
    assert found.loose
    assert not found.result.changed
    assert found.result.sweep is None


@pytest.mark.parametrize("mode", [Mode.STANDBY, Mode.LOCOMOTION, Mode.REMOTE])
def test_a_wrist_that_a_mode_moves_is_not_calibrated_by_that(session: Any, mode: Mode) -> None:
    session.select("left_wrist_roll")
    session.mode_in_force = ModeInForce(mode, 3)
    move(session, "left_wrist_roll", 0.0, 0.7, -0.1)
    found = row(session, "left_wrist_roll")
    assert not found.loose
    assert found.result.sweep is None
    session.mode_in_force = ModeInForce(Mode.DAMPING, 4)
    move(session, "left_wrist_roll", 0.0, 1.0, -0.4)
    assert row(session, "left_wrist_roll").result.calibration.homing_offset == pytest.approx(0.3)


def test_a_wrist_is_not_calibrated_before_the_mode_is_known(session: Any) -> None:
    session.select("left_wrist_roll")
    session.mode_in_force = None
    move(session, "left_wrist_roll", 0.0, 0.7, -0.1)
    assert row(session, "left_wrist_roll").result.sweep is None
    assert session.obstacle_of("left_wrist_roll") == "waiting for a statement on /control_mode"


def test_an_erob_that_is_held_is_not_calibrated_by_its_sag(session: Any) -> None:
    session.select("left_shoulder_pitch")
    move(session, "left_shoulder_pitch", 0.0, 3.0)
    found = row(session, "left_shoulder_pitch")
    assert found.selected
    assert not found.loose
    assert found.result.sweep is None
    assert found.result.calibration == JointCalibration(1, 0.0)


def test_flipping_twice_is_not_flipping(session: Any) -> None:
    session.flip("left_elbow_pitch")
    assert row(session, "left_elbow_pitch").result.calibration.direction == -1
    session.flip("left_elbow_pitch")
    assert row(session, "left_elbow_pitch").result.calibration == JointCalibration(1, 0.0)


def test_a_sweep_can_be_discarded(session: Any) -> None:
    session.select("left_wrist_roll")
    move(session, "left_wrist_roll", 0.7, -0.7)
    session.forget("left_wrist_roll")
    assert not row(session, "left_wrist_roll").result.changed


def test_steps_go_round_all_joints_in_both_directions(session: Any) -> None:
    names = session.robot.joints.names
    seen = []
    for _ in range(15):
        session.select_next(1)
        seen.append(session.selected)
    assert seen == [*names, names[0]]
    session.select_next(-1)
    assert session.selected == names[-1]
    session.select("")
    assert session.selected == ""
    session.select_next(-1)
    assert session.selected == names[-1]


@pytest.mark.parametrize("action", ["select", "flip", "forget"])
def test_an_unknown_joint_is_refused(session: Any, action: str) -> None:
    with pytest.raises(ConfigError, match="unknown joint left_knee; known: left_shoulder_pitch"):
        getattr(session, action)("left_knee")
