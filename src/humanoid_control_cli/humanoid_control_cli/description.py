"""The description of a running robot."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import RefusedError
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description

TOPIC: Final = "robot_description"
_ANY_RATE: Final = 1.0  # [Hz]: joints and limits do not depend on it


def robot_description(client: Client) -> str:
    """Return the URDF. Raises NoAnswerError without a control process."""
    found: list[str] = []
    client.subscribe(String, TOPIC, lambda message: found.append(message.data), LATCHED)
    if not client.wait(lambda: found, client.timeout):
        raise client.no_control_process()
    return found[-1]


def described_robot(client: Client) -> RobotDescription:
    """Return joints and limits of the robot. Raises NoAnswerError without a control process."""
    return parse_robot_description(robot_description(client), _ANY_RATE)


def require_measured(robot: RobotDescription, chain: NDArray[np.bool_], what: str) -> None:
    """Raise RefusedError if joints of `chain` (n,) are mocked: the weight of `what` is unknown."""
    names = np.array(robot.joints.names)
    mocked = names[chain & np.isin(names, robot.mocked)]
    if mocked.size:
        raise RefusedError(
            f"{what}: its weight depends on the pose of mocked joints, which nobody measures: "
            f"{', '.join(mocked)}; bring the robot up with all of its buses"
        )
