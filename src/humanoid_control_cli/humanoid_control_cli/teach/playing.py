"""Play a motion file on a running robot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.description import described_robot
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.motion.trajectory_client import TrajectoryClient
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.motion_file.motion import FILE, MotionFile, read_motion
from humanoid_motion.motion_file.playing import played
from humanoid_recording.topics import JOINT_STATES


@dataclass(frozen=True, slots=True)
class PlayableMotion:
    """A motion that a robot can play."""

    file: MotionFile
    velocity: FloatArray  # limits of its joints on that robot [rad/s], (k,)


def playable(client: Client, path: Path, speed: float) -> PlayableMotion:
    """Return the motion at `path`, its folder or file, checked for the robot of `client`.

    `speed`: times that of the file.

    Raises ConfigError naming file, line and joint; NoAnswerError.
    """
    found = read_motion(path / FILE if path.is_dir() else path)
    known = described_robot(client)
    if found.motion.robot != known.name:
        where = found.document.where(("robot",))
        raise ConfigError(f"{where}: robot: '{found.motion.robot}', expected '{known.name}'")
    found.check(known.joints, known.limits.target_lower, known.limits.target_upper, speed)
    return PlayableMotion(found, known.limits.velocity[known.joints.indices(found.motion.joints)])


def begin(
    client: Client, trajectories: TrajectoryClient, found: PlayableMotion, speed: float
) -> float:
    """Begin to play a motion; return how long it takes [s], with the way to its beginning.

    Raises RefusedError with the controller's reason, and for a joint without a measurement;
    NoAnswerError.
    """
    motion = found.file.motion
    points = played(motion, _present(client, motion.joints), speed, found.velocity)
    try:
        return trajectories.follow(motion.joints, points)
    except RefusedError as error:
        numbers = " (point 1 is points[0] of the file)" if "point " in str(error) else ""
        text = f"{found.file.document.name}: {error}{numbers}"
        raise RefusedError(text, error.codes) from error


def _present(client: Client, joints: Sequence[str]) -> FloatArray:
    """Return where `joints` are [rad]. Raises RefusedError for one without a measurement."""
    states: list[JointState] = []
    client.subscribe(JointState, JOINT_STATES, states.append)
    if not client.wait(lambda: states, client.timeout):
        raise client.no_control_process()
    by_name = dict(zip(states[-1].name, states[-1].position, strict=True))
    found = np.array([by_name.get(name, np.nan) for name in joints])
    unknown = ~np.isfinite(found)
    if unknown.any():
        names = JointSet(tuple(joints)).named(unknown)
        raise RefusedError(f"{names}: no measured position: see `hc status --all`")
    return found
