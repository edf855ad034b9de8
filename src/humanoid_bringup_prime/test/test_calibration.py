"""Calibration beside the running robot: both buses, ROS between, mounted at random, found out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from math import pi
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from sensor_msgs.msg import JointState

from humanoid_bringup.calibration.calibration_node import CalibrationLink
from humanoid_bringup.calibration.files import file_text, replace_file
from humanoid_bringup.calibration.formulas import Setting, flipped
from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_bringup.options import Backend, Backends, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.modes import Mode
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.prime import JOINTS
from humanoid_twin.testing import robot as virtual_robot
from prime_description import expand

ELBOW, WRISTS = "left_elbow_pitch", ("left_wrist_pitch", "right_wrist_roll")  # of either bus
COUNT = {ELBOW: 2 * pi / 524288} | dict.fromkeys(WRISTS, 2 * pi / 65536)  # [rad] of the encoder
SOFTEST = 0.03  # [rad] that a stop may yield when it is reached at the speed of these hands
HAND = {ELBOW: 15.0} | dict.fromkeys(WRISTS, 4.0)  # [Nm]
AT_REST = 0.002  # [rad/s]
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 10))]


class Prime:
    """The virtual robot, its real bring-up, and an operator."""

    def __init__(self, virtual: Any, client: Any, tools: Any, folder: Path) -> None:
        self.control, self.client = virtual.control, client
        self._virtual, self._folder = virtual, folder
        self._running_type, self._command_line = tools
        self.running: list[Any] = []

    def start(self, **options: Any) -> None:
        """The control process of a bring-up."""
        chosen = Options(
            backend=Backend.REAL,
            backends=Backends.ALL,
            ethercat_interface=self._virtual.interface,
            can_interface="slcan",
            can_channel=str(self._virtual.can),
            viewer=False,
            **options,
        )
        (control,) = (p for p in plan(chosen, self._folder) if p.label == "control")
        log = self._folder / f"output_{len(self.running)}.txt"
        self.running.append(self._running_type(self._command_line(control), log))
        self.fresh_joint_states()
        self.client.statements.clear()
        self.client.connect()

    def sweep(self, session: CalibrationSession, joint: str) -> None:
        """To both stops, with a while at each: some joint states have to arrive."""
        session.select(joint)
        if joint in session.robot.drives:
            self.client.until(lambda: session.limp.limp == joint, f"{joint} to become limp")
        limits = session.robot.limits[joint]
        for stop, sign in ((limits.high, 1), (limits.low, -1)):
            self.control.external_torque(joint, sign * HAND[joint])
            resting: list[bool] = []

            def has_rested(s: float = stop, d: int = sign, rest: list[bool] = resting) -> bool:
                found = self.control.joints()[joint]
                there = d * (found["position"] - s) > 0.0 and abs(found["velocity"]) < AT_REST
                rest.append(there)
                return len(rest) > 25 and all(rest[-25:])

            self.client.until(has_rested, f"{joint} at {stop} rad")
        self.control.external_torque(joint, 0.0)

    def fresh_joint_states(self) -> JointState:
        """A message that was made after now: others may still wait in the queue."""
        now = time.time()

        def has_come() -> bool:
            states = self.client.joint_states
            return bool(states) and _seconds(states[-1].header.stamp) > now

        self.client.until(has_come, "fresh joint states")
        return self.client.joint_states[-1]

    def check_angles(self) -> None:
        """The robot says where its joints are."""
        message, truth = self.fresh_joint_states(), self.control.joints()
        angles = dict(zip(message.name, message.position, strict=True))
        for joint in COUNT:
            moved = 0.2 * abs(truth[joint]["velocity"])  # [rad] since the message was made
            assert angles[joint] == pytest.approx(truth[joint]["position"], abs=0.02 + moved), joint


def _seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


@pytest.fixture(params=SEEDS)
def mountings(request: pytest.FixtureRequest) -> dict[str, Setting]:
    """The truth that is to be found."""
    random = Random(request.param)
    return {name: Setting(random.choice((-1, 1)), random.uniform(-pi, pi)) for name in JOINTS}


@pytest.fixture
def prime(
    client: Any, running_type: Any, command_line: Any, mountings: Any, tmp_path: Path
) -> Iterator[Prime]:
    urdf, truth = tmp_path / "virtual.urdf", tmp_path / "mountings.yaml"
    urdf.write_text(expand({}))
    rows = {n: {"direction": m.direction, "offset": m.homing_offset} for n, m in mountings.items()}
    truth.write_text(yaml.safe_dump(rows))
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


def begin(prime: Prime) -> CalibrationSession:
    link = CalibrationLink(prime.client.node)
    prime.client.until(lambda: link.described, "the description")
    assert not link.manager_beside
    return link.begin(link.robot())


def check(
    prime: Prime, session: CalibrationSession, joint: str, truth: Setting, setting: Setting
) -> None:
    """Within one count of the encoder, and half of what one stop has yielded; also if flipped."""
    limits, recording = session.robot.limits[joint], prime.control.recorded()
    angles = recording.position[:, recording.names.index(joint)]
    yielded = max(angles.max() - limits.high, limits.low - angles.min())
    assert yielded < SOFTEST, joint
    assert setting.direction == truth.direction, joint
    for found, true in ((setting, truth), (flipped(setting, limits), flipped(truth, limits))):
        assert abs(found.homing_offset - true.homing_offset) <= COUNT[joint] + yielded / 2, joint


def test_what_is_found_on_both_buses_is_the_truth_to_the_robot_that_is_started_with_it(
    prime: Prime, mountings: dict[str, Setting], tmp_path: Path
) -> None:
    prime.start(calibrate=True)
    prime.client.reach(Mode.DAMPING)  # nothing damps a wrist in ZERO_TORQUE
    session = begin(prime)
    prime.control.record(90.0)
    for joint in COUNT:
        prime.sweep(session, joint)
    session.select("")
    prime.client.until(lambda: session.limp.released, "the elbow to be as it was")
    assert {drive["gate"] for drive in prime.control.drives()} == {0}

    for joint in COUNT:
        if mountings[joint].direction == -1:
            session.flip(joint)
    found = {result.joint: result for result in session.results()}
    for joint in COUNT:
        check(prime, session, joint, mountings[joint], found[joint].setting)
    assert not any(found[joint].changed for joint in JOINTS if joint not in COUNT)

    path, now = tmp_path / "prime_calibration.yaml", datetime.now()
    replace_file(path, file_text(session.results(), session.robot.ids, now), now)
    prime.running[0].end()
    prime.start(calibration_file=path, initial_mode=Mode.DAMPING)
    prime.check_angles()
