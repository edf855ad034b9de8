"""The calibration of the virtual robot finds random mountings: hands move arms to their stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from test_support.stepped.stepped_time import RingTime
from test_support.twin.prime_actuators import RING_JOINTS

from humanoid_bringup.calibration.formulas import JointCalibration, flipped
from humanoid_bringup.calibration.limp_drive import LimpDrives
from humanoid_bringup.calibration.robot import read_robot
from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_erob.impedance.wiring import PLUGIN
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import robot
from prime_description import expand

RATE = 50.0  # [Hz]
COUNT = 2 * pi / 524288  # [rad] of an eRob's encoder
SOFTEST = 0.02  # [rad] by which a stop may bend at the speed of this motion
CLOSE = 0.3  # [rad] from the stop
AT_REST = 0.001  # [rad/s]
REST = 0.06  # [s] at a stop, until the session has its angle from the ring
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 20))]


@dataclass(frozen=True)
class Hand:
    """The torque of the hand [Nm]: between the stops, and close to one."""

    far: float
    near: float


# The weight and the drive's damping need this torque; a hit at higher speed would bend the stop.
ON_THE_ARM, ON_THE_HAND = Hand(35.0, 15.0), Hand(25.0, 4.0)


class Operator:
    """Moves one joint after another in simulated time."""

    def __init__(self, bench: Any, session: CalibrationSession) -> None:
        self.bench, self.session = bench, session
        self.control = bench.control
        self.yielded: dict[str, float] = {}  # [rad] largest distance of a joint beyond its stops
        bench.seen = session.joints_seen

    def sweep(self, joint: str, hand: Hand) -> None:
        """Move to both stops and back out of the way."""
        limits = self.session.robot.limits[joint]
        self.session.select(joint)
        self.bench.until(
            lambda: self.session.limp_drives.limp_joint == joint, f"{joint} to become limp"
        )
        self.control.record(60.0)
        for stop, sign in ((limits.high, 1), (limits.low, -1)):
            self.push(joint, sign * hand.far, lambda s=stop: abs(s - self.truth(joint)) < CLOSE)
            self.push(joint, sign * hand.near, lambda s=stop, d=sign: self.rests_at(joint, s, d))
            self.bench.run(REST)
        self.push(joint, hand.far, lambda: self.truth(joint) > min(0.0, limits.high) - CLOSE)
        self.push(joint, 0.0, lambda: True)
        recording = self.control.recorded()
        angles = recording.position[:, recording.names.index(joint)]
        self.yielded[joint] = max(angles.max() - limits.high, limits.low - angles.min())

    def push(self, joint: str, torque: float, until: Callable[[], object]) -> None:
        self.control.external_torque(joint, torque)
        self.bench.until(until, f"{joint}, pushed with {torque} Nm")

    def truth(self, joint: str) -> float:
        return float(self.control.joints()[joint]["position"])

    def rests_at(self, joint: str, stop: float, sign: int) -> bool:
        found = self.control.joints()[joint]
        return sign * (found["position"] - stop) > 0.0 and abs(found["velocity"]) < AT_REST


@pytest.fixture(params=SEEDS)
def mountings(request: pytest.FixtureRequest) -> dict[str, JointCalibration]:
    """The true mounting of each joint."""
    random = Random(request.param)
    return {
        joint: JointCalibration(random.choice((-1, 1)), random.uniform(-pi, pi))
        for joint in RING_JOINTS
    }


@pytest.fixture
def operator(
    ring_bench: Any, mountings: dict[str, JointCalibration], tmp_path: Path
) -> Iterator[Operator]:
    body, truth = tmp_path / "virtual.urdf", tmp_path / "mountings.yaml"
    body.write_text(expand({}))
    rows = {n: {"direction": m.direction, "offset": m.homing_offset} for n, m in mountings.items()}
    truth.write_text(yaml.safe_dump(rows))
    with ExitStack() as cleanup:
        try:
            virtual = cleanup.enter_context(robot(body, clock="stepped", mountings=truth))
        except VethError as error:
            pytest.skip(f"no virtual robot here: {error}")
        time = RingTime(virtual.control)
        cleanup.callback(time.close)
        urdf = expand({"ethercat_interface": virtual.interface, "backends": "ec"})
        prime = read_robot(urdf)
        gate = JointStatesGate(list(prime.drives), 1 / RATE)
        limp_drives = LimpDrives(prime.drives.values(), gate, timeout=1.0)
        (info,) = (b for b in parse_robot_description(urdf, RATE).blocks if b.plugin == PLUGIN)
        bench = ring_bench(virtual.control, time, info, limp_drives)
        cleanup.callback(bench.system.on_deactivate)
        yield Operator(bench, CalibrationSession(prime, limp_drives))


def test_sweeps_to_both_stops_find_random_directions_and_offsets_of_all_arm_joints(
    operator: Operator, mountings: dict[str, JointCalibration]
) -> None:
    bench, session = operator.bench, operator.session
    factory = bench.run(0.2).rows()
    for joint in RING_JOINTS:
        operator.sweep(joint, ON_THE_HAND if "wrist" in joint else ON_THE_ARM)
    session.select("")
    bench.until(lambda: session.limp_drives.released, "the drives to be as they were")
    assert bench.rows() == factory
    assert not any(drive["error"] for drive in bench.control.drives())

    def check(truth_in: Callable[[str], JointCalibration]) -> None:
        """The error is within one count of the encoder and half the bending of one stop."""
        found = {result.joint: result for result in session.results()}
        for joint in RING_JOINTS:
            truth, calibration = truth_in(joint), found[joint].calibration
            assert 0.0 <= operator.yielded[joint] < SOFTEST, joint
            assert calibration.direction == truth.direction, joint
            error = abs(calibration.homing_offset - truth.homing_offset)
            assert error <= COUNT + operator.yielded[joint] / 2, joint

    # With the assumed direction the result is right or needs one flip.
    limits = session.robot.limits
    wrong = [joint for joint in RING_JOINTS if mountings[joint].direction == -1]
    assert 0 < len(wrong) < len(RING_JOINTS)
    check(lambda joint: flipped(mountings[joint], limits[joint]) if joint in wrong
          else mountings[joint])  # fmt: skip
    for joint in wrong:
        session.flip(joint)
    check(lambda joint: mountings[joint])
    for joint in RING_JOINTS:
        session.flip(joint)
    check(lambda joint: flipped(mountings[joint], limits[joint]))
