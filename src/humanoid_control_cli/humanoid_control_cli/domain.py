"""The ROS domain that `hc` and what it starts are in."""

from __future__ import annotations

import os
from typing import Final

from humanoid_control_common.errors import ConfigError

LARGEST: Final = 232  # beyond it the port numbers of DDS run out


def ros_domain() -> int:
    """ROS_DOMAIN_ID, 0 if it is not set. Raises ConfigError for what ROS would choke on."""
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not text.isdecimal() or int(text) > LARGEST:
        raise ConfigError(f"ROS_DOMAIN_ID is '{text}', expected a number from 0 to {LARGEST}")
    return int(text)
