"""The ROS domain that `hc` and what it starts are in."""

from __future__ import annotations

import os
from typing import Final

from humanoid_control_common.errors import ConfigError

LARGEST: Final = 232  # beyond it the port numbers of DDS run out


def ros_domain() -> int:
    """ROS_DOMAIN_ID, 0 if it is not set.

    Raises ConfigError for what ROS would choke on, and for other machines that are named although
    the robot keeps to this one: it would answer them by ways on which a pulled cable stops it.
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
