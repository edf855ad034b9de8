"""What our processes ask of the middleware: to stay out of the way, and to find each other soon.

Fast DDS by shared memory waits up to 0.3 s for a newcomer's port (measured: `hc mode`, started
while the machine is busy), with a lock held that everything else of the process needs: publishing,
with the interpreter held, and so the control loop; the drives then miss their frames. By UDP it
waits for nobody.

A newcomer announces itself before it listens: what is there already answers in vain, and only its
next announcement tells the newcomer of it. That is every 3 s by default (2 s lost at half of all
starts, measured), here every 0.3 s. So it is the one that was there first who must be tuned:
tools that wait for the robot, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PROFILE_VARIABLES: Final = (
    "FASTRTPS_DEFAULT_PROFILES_FILE",  # Fast DDS 2, of Jazzy
    "FASTDDS_DEFAULT_PROFILES_FILE",  # Fast DDS 3
)
_RANGE: Final = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCALHOST_ONLY: Final = "ROS_LOCALHOST_ONLY"  # its predecessor, which goes before it


def tune_middleware(implementation: str) -> None:
    """Choose how Fast DDS works in this process; call it before `rclpy.init`.

    Who can be talked to stays what the environment says. A profile of the user's own stays, and
    so does any middleware but Fast DDS: `implementation` is rclpy's name of the one in use.
    """
    if "fastrtps" not in implementation:
        return
    if any(name in os.environ for name in PROFILE_VARIABLES):
        return
    profile = "fastdds_network.xml"
    if os.environ.get(_LOCALHOST_ONLY) == "1" or os.environ.get(_RANGE) == "LOCALHOST":
        # ROS would put its own transports, shared memory among them, in place of a profile's.
        profile = "fastdds_localhost.xml"
        os.environ[_RANGE] = "SYSTEM_DEFAULT"
        os.environ.pop(_LOCALHOST_ONLY, None)
    for name in PROFILE_VARIABLES:
        os.environ[name] = str(Path(__file__).with_name(profile))
