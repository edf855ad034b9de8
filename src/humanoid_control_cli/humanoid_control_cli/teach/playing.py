"""Play a motion file on a running robot."""

from pathlib import Path

import numpy as np
from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.description import parsed, robot_description, robot_name
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.motion.trajectory_client import TrajectoryClient
from humanoid_control_common.errors import ConfigError
from humanoid_motion.motion_file.motion import FILE, MotionFile, read_motion
from humanoid_motion.motion_file.playing import played
from humanoid_recording.topics import JOINT_STATES


class Player:
    """A motion that was checked for the robot. Nothing has moved.

    Args:
        client: of the robot.
        path: of the motion's folder, or its file.
        speed: times that of the file.

    Raises ConfigError naming file, line and joint; RobotError without a trajectory controller;
    NoAnswerError.
    """

    def __init__(self, client: Client, path: Path, speed: float) -> None:
        file = path / FILE if path.is_dir() else path
        self._client, self._speed = client, speed
        self._found = _checked(read_motion(file), robot_description(client), speed)
        self._trajectories = TrajectoryClient(client)

    def start(self) -> float:
        """Begin; return how long it takes [s], with the way to its beginning.

        Raises RefusedError with the controller's reason; NoAnswerError.
        """
        motion = self._found.motion
        points = played(motion, self._present(), self._speed)
        try:
            return self._trajectories.follow(motion.joints, points)
        except RefusedError as error:
            text = f"{self._found.document.name}: {error} (point 1 is points[0] of the file)"
            raise RefusedError(text, error.codes) from error

    def wait_until_done(self, duration: float) -> None:
        """Wait for the end. Raises RefusedError if it ends otherwise."""
        self._trajectories.wait_until_done(duration)

    def stop(self) -> str:
        """Stop along the path; return so in words."""
        return self._trajectories.stop()

    def _present(self) -> np.ndarray:
        """Return where the joints of the motion are [rad]."""
        states: list[JointState] = []
        self._client.subscribe(JointState, JOINT_STATES, states.append)
        if not self._client.wait(lambda: states, self._client.timeout):
            raise self._client.no_control_process()
        by_name = dict(zip(states[-1].name, states[-1].position, strict=True))
        return np.array([by_name[name] for name in self._found.motion.joints])


def _checked(found: MotionFile, urdf: str, speed: float) -> MotionFile:
    robot = robot_name(urdf)
    if found.motion.robot != robot:
        where = found.document.where(("robot",))
        raise ConfigError(f"{where}: robot: '{found.motion.robot}', expected '{robot}'")
    known = parsed(urdf)
    found.check(known.joints, known.limits.target_lower, known.limits.target_upper, speed)
    return found
