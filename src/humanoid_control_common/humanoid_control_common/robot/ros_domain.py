"""The ROS domain of this process."""

import os
from typing import Final

from humanoid_control_common.errors import ConfigError

LARGEST: Final = 232  # beyond it the port numbers of DDS run out


def own_domain() -> int:
    """Return ROS_DOMAIN_ID, 0 if it is not set. Raises ConfigError for one that ROS cannot use."""
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not text.isdecimal() or int(text) > LARGEST:
        raise ConfigError(f"ROS_DOMAIN_ID is '{text}', expected a number from 0 to {LARGEST}")
    return int(text)
