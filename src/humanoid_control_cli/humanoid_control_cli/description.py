"""The description of a running robot."""

from typing import Final

from std_msgs.msg import String

from humanoid_control_cli.client import Client
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
