"""Calibration of the running robot finds random mountings on both buses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import pi
from pathlib import Path
from random import Random

import pytest
from test_support.stepped.stack import Stack

from humanoid_bringup.calibration.calibration_node import CalibrationLink
from humanoid_bringup.calibration.files import file_text, replace_file
from humanoid_bringup.calibration.formulas import JointCalibration, flipped
from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.rules.modes import Mode
from humanoid_stepped.robot import CONTROL
from humanoid_twin.mounting import Mounting
from humanoid_twin.robot.actuators import load_actuators


@dataclass(frozen=True)
class Calibrated:
    """The joints of a robot that are swept."""

    robot: str
    counts: dict[str, float]  # [rad] of the encoder, by joint
    hands: dict[str, float]  # [Nm]


ELBOW, WRISTS = "left_elbow_pitch", ("left_wrist_pitch", "right_wrist_roll")  # joints of either bus
PRIME = Calibrated(
    "prime",
    {ELBOW: 2 * pi / 524288} | dict.fromkeys(WRISTS, 2 * pi / 65536),
    {ELBOW: 15.0} | dict.fromkeys(WRISTS, 4.0),
)
ARMS = (ELBOW, "right_wrist_roll")  # joints of either bus
LITE = Calibrated("lite", dict.fromkeys(ARMS, 4 * pi / 32767), dict.fromkeys(ARMS, 4.0))
SOFTEST = 0.03  # [rad] by which a stop may bend at the speed of this motion
AT_REST = 0.002  # [rad/s]
TRIALS = [
    pytest.param(that, seed, marks=[pytest.mark.soak] if seed else [], id=f"{that.robot}-{seed}")
    for that in (PRIME, LITE)
    for seed in range(10)
]


def old_copy(file: Path, folder: Path) -> Path:
    """A copy that is older than the simulated robot."""
    copy = folder / "before.yaml"
    shutil.copy(file, copy)
    os.utime(copy, (0, 0))
    return copy


def sweep(prime: Stack, session: CalibrationSession, joint: str, hand: float) -> None:
    """Move to both stops, with a pause at each: some joint states have to arrive."""
    session.select(joint)
    if joint in session.robot.drives:
        prime.client.until(
            lambda: session.limp_drives.limp_joint == joint, f"{joint} to become limp"
        )
    limits = session.robot.limits[joint]
    for stop, sign in ((limits.high, 1), (limits.low, -1)):
        prime.push(sign * hand, joint)
        resting: list[bool] = []

        def has_rested(s: float = stop, d: int = sign, rest: list[bool] = resting) -> bool:
            found = prime.control.joints()[joint]
            there = d * (found["position"] - s) > 0.0 and abs(found["velocity"]) < AT_REST
            rest.append(there)
            return len(rest) > 25 and all(rest[-25:])

        prime.client.until(has_rested, f"{joint} at {stop} rad")
    prime.push(0.0, joint)


def begin(prime: Stack) -> CalibrationSession:
    link = CalibrationLink(prime.client.node, prime.operator.machine)
    prime.client.until(lambda: link.described, "the description")
    assert not link.manager_beside
    return link.begin(link.robot())


def check(
    prime: Stack,
    session: CalibrationSession,
    joint: str,
    count: float,
    truth: JointCalibration,
    calibration: JointCalibration,
) -> None:  # fmt: skip
    """The error is within one count and half the bending of a stop, also if flipped."""
    limits, recording = session.robot.limits[joint], prime.control.recorded()
    angles = recording.position[:, recording.names.index(joint)]
    yielded = max(angles.max() - limits.high, limits.low - angles.min())
    assert yielded < SOFTEST, joint
    assert calibration.direction == truth.direction, joint
    for found, true in (
        (calibration, truth),
        (flipped(calibration, limits), flipped(truth, limits)),
    ):
        assert abs(found.homing_offset - true.homing_offset) <= count + yielded / 2, joint


def check_angles(prime: Stack, joints: Iterable[str]) -> None:
    """Check that the joint states have the true positions."""
    prime.client.joint_states.clear()
    prime.client.until(lambda: prime.client.joint_states, "joint states")
    message, truth = prime.client.joint_states[-1], prime.control.joints()
    angles = dict(zip(message.name, message.position, strict=True))
    for joint in joints:
        moved = 0.2 * abs(truth[joint]["velocity"])  # [rad] of motion since the message
        assert angles[joint] == pytest.approx(truth[joint]["position"], abs=0.02 + moved), joint


@pytest.mark.parametrize(("that", "seed"), TRIALS)
def test_robot_measures_true_angles_with_the_calibration_found_on_both_buses(
    tmp_path: Path, that: Calibrated, seed: int
) -> None:
    random, package = Random(seed), find_robot(that.robot)
    joints = load_actuators(package.drives.virtual_robot).joints
    truth = {it: JointCalibration(random.choice((-1, 1)), random.uniform(-pi, pi)) for it in joints}
    mounted = {it: Mounting(true.direction, true.homing_offset) for it, true in truth.items()}
    first = old_copy(package.drives.calibration, tmp_path)
    prime = Stack(tmp_path, mounted, that.robot, calibrate=True, calibration_file=first)
    prime.up()
    prime.client.reach(Mode.DAMPING)  # wrists have no damping in ZERO_TORQUE
    session = begin(prime)
    prime.control.record(90.0)
    for joint, hand in that.hands.items():
        sweep(prime, session, joint, hand)
    session.select("")
    prime.client.until(lambda: session.limp_drives.released, "the elbow to be as it was")
    if prime.robot.virtual.ring is not None:
        assert {drive["gate"] for drive in prime.control.drives()} == {0}

    for joint in that.counts:
        if truth[joint].direction == -1:
            session.flip(joint)
    found = {result.joint: result for result in session.results()}
    for joint, count in that.counts.items():
        check(prime, session, joint, count, truth[joint], found[joint].calibration)
    assert not any(found[joint].changed for joint in joints if joint not in that.counts)

    path, now = tmp_path / "calibration.yaml", datetime.now()
    replace_file(path, file_text(session.results(), session.robot.ids, now), now)
    calibrated = Stack(
        tmp_path, mounted, that.robot, calibration_file=path, initial_mode=Mode.DAMPING
    )
    calibrated.up(CONTROL)
    check_angles(calibrated, that.counts)
