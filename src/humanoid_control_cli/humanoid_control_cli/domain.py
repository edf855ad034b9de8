"""The ROS domain and the namespace of the robot that `hc` commands or starts."""

import os
from collections.abc import Sequence
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import checked_namespace, in_words
from humanoid_control_common.robot.ros_domain import own_domain

NAMESPACE: Final = "HC_NAMESPACE"  # environment variable, for a shell of one robot


def ros_domain() -> int:
    """Return ROS_DOMAIN_ID, 0 if it is not set.

    Raises ConfigError for a domain that ROS can't use. Raises it also if other machines are named
    although discovery is limited to this machine: the robot would answer them over links whose loss
    stops it.
    """
    if os.environ.get("ROS_STATIC_PEERS") and (
        os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") == "LOCALHOST"
    ):
        raise ConfigError(
            "ROS_STATIC_PEERS names other machines, but ROS_AUTOMATIC_DISCOVERY_RANGE is "
            "LOCALHOST: set it to SUBNET (docs/two_machines.md)"
        )
    return own_domain()


def robot_namespace() -> str:
    """Return the robot's namespace, "/left"; empty for the root.

    Raises ConfigError if the environment names none that ROS accepts.
    """
    try:
        return checked_namespace(os.environ.get(NAMESPACE, ""))
    except ConfigError as error:
        raise ConfigError(f"{NAMESPACE}: {error}") from None


def choose_namespace(text: str) -> None:
    """Use a namespace in this process and in those that it starts. Raises ConfigError."""
    os.environ[NAMESPACE] = checked_namespace(text)


def others_in_words(others: Sequence[str]) -> str:
    """Return where the robots in the namespaces `others` are, of which there is at least one."""
    return f"robots run in {', '.join(others)}: choose one with `hc --namespace {others[0]} …`"


def robot_in_words() -> str:
    """Return ROS domain and namespace, for messages. Raises ConfigError for bad ones."""
    return in_words(f"ROS_DOMAIN_ID {ros_domain()}", robot_namespace())
