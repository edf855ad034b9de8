"""Settings of Fast DDS: no waiting in the control process, and fast discovery.

Transport. With shared memory Fast DDS waits up to 0.3 s for the port of a new process (measured:
`hc mode`, started while the machine is busy). It holds a lock meanwhile that publishing needs, and
publishing holds the interpreter: the control loop stops and the drives miss their frames. UDP does
not wait.

Discovery. A new process announces itself before it listens, so the answers to its announcement are
lost; it discovers the others by their next announcements. These come every 3 s by default (2 s lost
at half of all starts, measured), here every 0.3 s. So the processes that were started first must be
tuned, including tools that wait for the robot.

Network. A pulled cable must not disturb the robot. For each machine that no longer answers, the
kernel keeps 208 KiB of packets (net.ipv4.neigh.*.unres_qlen_bytes), as much as the default send
buffer of a socket: then every send waits up to 3 s (measured: the loop stood still), or, if it must
not wait, packets for this machine are lost, too. So sends do not wait, and the send buffers are
larger.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PROFILE_VARIABLES: Final = (
    "FASTRTPS_DEFAULT_PROFILES_FILE",  # Fast DDS 2, of Jazzy
    "FASTDDS_DEFAULT_PROFILES_FILE",  # Fast DDS 3
)
_RANGE: Final = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCALHOST_ONLY: Final = "ROS_LOCALHOST_ONLY"  # its predecessor, which takes precedence
_PEERS: Final = "ROS_STATIC_PEERS"


def tune_middleware(implementation: str) -> None:
    """Set the profile of Fast DDS for this process; call it before `rclpy.init`.

    The range of communication stays that of the environment. A profile of the user and any other
    middleware stay as they are; `implementation` is rclpy's name of the middleware.
    """
    if untuned(implementation, os.environ):
        return
    profile = "fastdds_network.xml"
    if _stays_here(os.environ):
        # ROS would replace the profile's transports by its own, with shared memory.
        profile = "fastdds_localhost.xml"
        os.environ[_RANGE] = "SYSTEM_DEFAULT"
        os.environ.pop(_LOCALHOST_ONLY, None)
    for name in PROFILE_VARIABLES:
        os.environ[name] = str(Path(__file__).with_name(profile))


def untuned(implementation: str, environment: Mapping[str, str]) -> str:
    """Return why the middleware is not tuned; empty if it is."""
    if "fastrtps" not in implementation:
        return "only Fast DDS is tuned"
    for name in PROFILE_VARIABLES:
        if name in environment:
            return f"{name} names a profile of its own"
    if _stays_here(environment) and environment.get(_PEERS):
        # Only ROS's own transports connect this machine and others.
        return f"{_PEERS} adds machines to this one"
    return ""


def _stays_here(environment: Mapping[str, str]) -> bool:
    return environment.get(_LOCALHOST_ONLY) == "1" or environment.get(_RANGE) == "LOCALHOST"
