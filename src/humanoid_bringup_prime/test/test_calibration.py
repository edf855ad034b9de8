"""Calibration from end to end: a virtual robot mounted at random, moved by hand, found out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup_prime.bringup import plan
from humanoid_bringup_prime.calibration.files import file_text, replace_file
from humanoid_bringup_prime.calibration.link import CalibrationLink
from humanoid_bringup_prime.calibration.offsets import Setting, flipped
from humanoid_bringup_prime.calibration.session import CalibrationSession
from humanoid_bringup_prime.options import Backend, Backends, Options
from humanoid_control_common.modes import Mode
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import robot as virtual_robot
from prime_description.description import expand

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"
COUNT = 2 * pi / 524288  # [rad] of an eRob's encoder
WRIST_COUNT = 2 * pi / 65536  # [rad] of a Sito's
SOFTEST = 0.03  # [rad] that a stop may yield when a joint bangs against it
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 10))]
CLOSE = 0.5  # [rad] from the stop
AT_REST = 0.002  # [rad/s]


@dataclass(frozen=True)
class Hand:
    """How hard it pushes [Nm]: on the way, and close to a stop."""

    far: float
    near: float


# As strong as the weight needs and the drive's damping allows: banging against a stop bends it.
ON_THE_ARM, ON_THE_HAND, ON_A_WRIST = Hand(35.0, 15.0), Hand(25.0, 5.0), Hand(3.0, 3.0)


class Prime:
    """The virtual robot, its real bring-up, and an operator with strong hands."""

    def __init__(self, virtual: Any, client: Any, tools: Any, folder: Path) -> None:
        self.control, self.client = virtual.control, client
        self._virtual, self._folder = virtual, folder
        self._running_type, self._command_line = tools
        self.running: list[Any] = []
        self.drives: set[str] = set()  # joints of eRobs
        self.yielded: dict[str, float] = {}  # [rad] how far a joint was beyond its stops

    def start(self, calibration: Path | None = None) -> CalibrationLink:
        """The bring-up for a calibration, and what follows it."""
        options = Options(
            backend=Backend.REAL,
            backends=Backends.ALL,
            ethercat_interface=self._virtual.interface,
            can_interface="slcan",
            can_channel=str(self._virtual.can),
            calibrate=True,
            viewer=False,
            calibration_file=calibration,
        )
        (process,) = plan(options, self._folder)
        log = self._folder / f"output_{len(self.running)}.txt"
        self.running.append(self._running_type(self._command_line(process), log))
        link = CalibrationLink(self.client.node)
        self.client.until(lambda: link.described, "the description")
        self.client.joint_states.clear()
        self.client.until(lambda: self.client.joint_states, "the joint states")
        return link

    def sweep(self, session: CalibrationSession, joints: Sequence[str], hand: Hand) -> None:
        """Push joints to both stops, and back to where they are in nobody's way."""
        self.control.record(30.0)
        limits = [session.robot.limits[joint] for joint in joints]
        for sign, stops in ((1, [it.high for it in limits]), (-1, [it.low for it in limits])):
            places = dict(zip(joints, stops, strict=True))
            self.push(joints, sign * hand.far, partial(self.are_close, places))
            self.push(joints, sign * hand.near, partial(self.rest_at, places, sign))
        self.push(joints, hand.far, lambda: min(map(self.truth, joints)) > -CLOSE)
        self.push(joints, 0.0, lambda: True)
        recording = self.control.recorded()
        for joint, limit in zip(joints, limits, strict=True):
            positions = recording.position[:, recording.names.index(joint)]
            self.yielded[joint] = max(positions.max() - limit.high, limit.low - positions.min())
            assert 0.0 <= self.yielded[joint] < SOFTEST, joint

    def push(self, joints: Sequence[str], torque: float, until: Callable[[], object]) -> None:
        for joint in joints:
            self.control.external_torque(joint, torque)
        self.client.until(until, f"{joints}, pushed with {torque} Nm")

    def are_close(self, stops: Mapping[str, float]) -> bool:
        return all(abs(stop - self.truth(joint)) < CLOSE for joint, stop in stops.items())

    def rest_at(self, stops: Mapping[str, float], sign: int) -> bool:
        """For as long as some joint states take to arrive."""
        for _ in range(10):
            self.client.executor.spin_once(timeout_sec=0.1)
            found = self.control.joints()
            for joint, stop in stops.items():
                beyond = sign * (found[joint]["position"] - stop)
                if beyond < 0.0 or abs(found[joint]["velocity"]) > AT_REST:
                    return False
        return True

    def truth(self, joint: str) -> float:
        """The true joint angle [rad]."""
        return float(self.control.joints()[joint]["position"])

    def check(self, joint: str, found: Setting, truth: Setting) -> None:
        """Within one count of the encoder, and half of what one stop has yielded."""
        count = COUNT if joint in self.drives else WRIST_COUNT
        error = abs(found.homing_offset - truth.homing_offset)
        assert found.direction == truth.direction, joint
        assert error <= count + self.yielded[joint] / 2, joint

    def check_angles(self) -> None:
        """The robot says where its joints are."""
        self.client.joint_states.clear()
        self.client.until(lambda: self.client.joint_states, "fresh joint states")
        message, truth = self.client.joint_states[-1], self.control.joints()
        for joint, position in zip(message.name, message.position, strict=True):
            swing = 0.2 * abs(truth[joint]["velocity"])  # [rad] since the message was made
            assert position == pytest.approx(truth[joint]["position"], abs=0.02 + swing), joint


def random_mountings(random: Random) -> dict[str, Setting]:
    joints = yaml.safe_load((CONFIG / "prime_hardware.yaml").read_text())["joints"]["all_joints"]
    return {name: Setting(random.choice((-1, 1)), random.uniform(-pi, pi)) for name in joints}


@pytest.fixture(params=SEEDS)
def mountings(request: pytest.FixtureRequest) -> dict[str, Setting]:
    """The truth that is to be found."""
    return random_mountings(Random(request.param))


@pytest.fixture
def prime(
    client: Any, running_type: Any, command_line: Any, mountings: Any, tmp_path: Path
) -> Iterator[Prime]:
    urdf, truth = tmp_path / "virtual.urdf", tmp_path / "mountings.yaml"
    urdf.write_text(expand({"use_sim": "true"}))
    truth.write_text(
        yaml.safe_dump(
            {n: {"direction": m.direction, "offset": m.homing_offset} for n, m in mountings.items()}
        )
    )
    with ExitStack() as cleanup:
        try:
            virtual = cleanup.enter_context(virtual_robot(urdf, mountings=truth))
        except VethError as error:
            pytest.skip(f"no pair of virtual network interfaces can be made: {error}")
        made = Prime(virtual, client, (running_type, command_line), tmp_path)
        yield made
        for running in made.running:
            running.end()
            sys.stdout.write(running.text())


def test_random_directions_and_offsets_are_found_by_moving_each_joint_to_both_stops(
    prime: Prime, mountings: dict[str, Setting], tmp_path: Path
) -> None:
    link = prime.start()
    session = link.begin(link.robot())
    limits, prime.drives = session.robot.limits, set(session.robot.drives)
    for joint in session.robot.drives:
        session.select(joint)
        prime.client.until(lambda j=joint: session.limp.limp == j, f"{joint} to become limp")
        prime.sweep(session, [joint], ON_THE_HAND if "wrist" in joint else ON_THE_ARM)
    session.select("")
    prime.client.until(lambda: session.limp.released, "the drives to be as they were")
    assert {drive["gate"] for drive in prime.control.drives()} == {0}
    assert len({(d["pos_reg"], d["vel_reg"]) for d in prime.control.drives()}) == 1

    # Wrists that nothing damps have swung and banged; in DAMPING they are moved with care.
    prime.client.reach(Mode.DAMPING)
    for joint in session.robot.loose:
        session.forget(joint)
    prime.sweep(session, sorted(session.robot.loose), ON_A_WRIST)

    # In the direction that is assumed: right where it is the true one, else one flip away from it.
    for result in session.results():
        truth = mountings[result.joint]
        expected = truth if truth.direction == 1 else flipped(truth, limits[result.joint])
        assert result.coverage == pytest.approx(1.0, abs=0.02), result
        prime.check(result.joint, result.setting, expected)
    for joint, truth in mountings.items():
        if truth.direction == -1:
            session.flip(joint)
    for result in session.results():
        prime.check(result.joint, result.setting, mountings[result.joint])

    path, now = tmp_path / "prime_calibration.yaml", datetime.now()
    replace_file(path, file_text(session.results(), session.robot.ids, now), now)
    prime.running[0].end()
    prime.start(path)
    prime.check_angles()
