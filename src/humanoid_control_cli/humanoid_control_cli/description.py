"""The description of a running robot."""

from xml.etree import ElementTree

from std_msgs.msg import String

from humanoid_control_cli.client import Client
from humanoid_controller_manager.ros.topics.qos_profiles import LATCHED

TOPIC = "robot_description"


def robot_description(client: Client) -> str:
    """Return the URDF. Raises NoAnswerError without a control process."""
    found: list[str] = []
    client.subscribe(String, TOPIC, lambda message: found.append(message.data), LATCHED)
    if not client.wait(lambda: found, client.timeout):
        raise client.no_control_process()
    return found[-1]


def robot_name(urdf: str) -> str:
    """Return the name of the robot in `urdf`."""
    return ElementTree.fromstring(urdf).get("name", "")
