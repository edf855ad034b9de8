"""The ROS domain of `hc` and of the processes that it starts."""

import os
from typing import Final

from humanoid_control_common.errors import ConfigError

LARGEST: Final = 232  # beyond it the port numbers of DDS run out


def ros_domain() -> int:
    """ROS_DOMAIN_ID, 0 if it is not set.

    Raises ConfigError for a domain that ROS can't use, and for other machines named although
    discovery is limited to this one: the robot would answer them over links whose loss stops it.
    """
    if os.environ.get("ROS_STATIC_PEERS") and (
        os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") == "LOCALHOST"
    ):
        raise ConfigError(
            "ROS_STATIC_PEERS names other machines, but ROS_AUTOMATIC_DISCOVERY_RANGE is "
            "LOCALHOST: set it to SUBNET (docs/two_machines.md)"
        )
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not text.isdecimal() or int(text) > LARGEST:
        raise ConfigError(f"ROS_DOMAIN_ID is '{text}', expected a number from 0 to {LARGEST}")
    return int(text)
