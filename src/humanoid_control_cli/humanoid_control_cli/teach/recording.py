"""Record a motion by hand, and keep it as a motion file."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from sensor_msgs.msg import JointState

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.client import Client
from humanoid_control_cli.description import described_robot
from humanoid_control_cli.domain import robot_namespace
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.teach.start import CONTROLLER
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import absolute
from humanoid_control_common.whole_file import replace_text
from humanoid_controller_manager.hardware.urdf import RobotDescription
from humanoid_motion.motion_file.motion import FILE, Motion, motion_text
from humanoid_motion.motion_file.smoothing import smoothed
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.node_recorder import NodeRecorder
from humanoid_recording.recording import Recording
from humanoid_recording.topics import JOINT_STATES
from humanoid_recording.writer import BagWriter

RECORDING: Final = "recording"  # the bag in the folder
SEARCH_PERIOD: Final = 0.1  # [s] between two searches for the topic
VELOCITY: Final = 2.0  # [rad/s] of a taught motion at most
ACCELERATION: Final = 3.5  # [rad/s^2]; a trajectory controller permits 4 by default


def teach(folder: Path, seconds: float, timeout: float, say: Callable[[str], None]) -> None:
    """Record until a signal comes, `seconds` have passed, or the mode is left; write the files.

    `folder` must not exist. Raises RefusedError unless the teach controller is in charge, BagError,
    and ConfigError for a recording without a motion: the recording stays then.
    """
    if folder.exists():
        raise BagError(f"{folder} exists already: choose another name for the motion")
    with StopSignals() as signals, Client(timeout) as client:
        modes = ModeClient(client)
        statement = modes.statement()
        if statement.controller != CONTROLLER:
            raise RefusedError(f"in force is {statement.in_force}: hc mode teach first")
        hand = _GuidedMotion(described_robot(client))
        client.subscribe(JointState, JOINT_STATES, hand.note)
        end = time.monotonic() + seconds

        def over() -> bool:
            return signals.count > 0 or time.monotonic() >= end or bool(_left(modes))

        say("move the arms; Ctrl-C ends it")
        size = _record(client, folder / RECORDING, over)
        if _left(modes):
            say(f"ended: in force is {_left(modes)}")
        motion = hand.motion()
    path = folder / FILE
    head = f"Play it: hc play {folder} [--speed 0.5]"
    try:
        replace_text(path, motion_text(motion, head))
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written: {error.strerror}; the recording stays in {folder}"
        ) from error
    say(
        f"{folder}: {len(motion.times)} points in {motion.duration:.1f} s, {FILE} "
        f"{path.stat().st_size / 1e3:.1f} kB, {RECORDING} {size / 1e3:.1f} kB"
    )


def _left(modes: ModeClient) -> str:
    """Return what is in force in the place of the teach controller; empty: nothing is."""
    latest = modes.latest
    return latest.in_force if latest is not None and latest.controller != CONTROLLER else ""


def _record(client: Client, folder: Path, over: Callable[[], bool]) -> int:
    """Record the joint states into the bag `folder` until `over`; return its size [bytes].

    Raises BagError.
    """
    with BagWriter(folder) as bag, Recording(bag) as recording:
        topic = absolute(robot_namespace(), JOINT_STATES)
        recorder = NodeRecorder(client.node, [topic], recording, lambda _: None)
        while not (over() or recording.error is not None):
            recorder.subscribe_new()
            client.wait(over, SEARCH_PERIOD)
    if not bag.summary.count:
        folder.parent.rmdir()  # empty, and its name can be used again
    if recording.error:
        raise recording.error
    return bag.size


class _GuidedMotion:
    """The measured joints while a hand guides them."""

    def __init__(self, description: RobotDescription) -> None:
        self._description = description
        self._times: list[float] = []
        self._positions: list[list[float]] = []

    def note(self, message: JointState) -> None:
        """Take a measurement of all joints, by the time it was made."""
        by_name = dict(zip(message.name, message.position, strict=False))
        row = [by_name.get(name) for name in self._description.joints.names]
        found = [value for value in row if value is not None]
        if len(found) == len(row):
            stamp = message.header.stamp
            self._times.append(stamp.sec + stamp.nanosec * 1e-9)
            self._positions.append(found)

    def motion(self) -> Motion:
        """Return the motion of the joints. Raises ConfigError if there is none."""
        joints, limits = self._description.joints, self._description.limits
        count = len(joints)
        allowed = MotionLimits(
            limits.target_lower,
            limits.target_upper,
            np.minimum(limits.velocity, VELOCITY),
            np.full(count, ACCELERATION),
            np.full(count, np.inf),
        )
        if not self._times:
            raise ConfigError(f"nothing was received on {JOINT_STATES}")
        # From 0 on: the digits of a system's time are used up by its seconds.
        times = np.array(self._times) - self._times[0]
        positions = np.array(self._positions)
        found = smoothed(times, positions, allowed, joints)
        recorded = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        velocity = float(allowed.velocity.max())  # the controller checks the limit of each joint
        name = self._description.name
        return Motion(name, recorded, velocity, ACCELERATION, joints.names, *found)
