"""The description of a running robot."""

from typing import Final
from xml.etree import ElementTree

from std_msgs.msg import String

from humanoid_control_cli.client import Client
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controller_manager.ros.topics.qos_profiles import LATCHED

TOPIC: Final = "robot_description"
ANY_RATE: Final = 1.0  # [Hz]: the limits of the joints do not depend on it


def robot_description(client: Client) -> str:
    """Return the URDF. Raises NoAnswerError without a control process."""
    found: list[str] = []
    client.subscribe(String, TOPIC, lambda message: found.append(message.data), LATCHED)
    if not client.wait(lambda: found, client.timeout):
        raise client.no_control_process()
    return found[-1]


def parsed(urdf: str) -> RobotDescription:
    """Return the joints in `urdf`, with their limits. Raises ConfigError."""
    return parse_robot_description(urdf, ANY_RATE)


def robot_name(urdf: str) -> str:
    """Return the name of the robot in `urdf`."""
    return ElementTree.fromstring(urdf).get("name", "")
