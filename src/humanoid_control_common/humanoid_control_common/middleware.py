"""What our processes ask of the middleware: to stay out of the way, and to find each other soon.

Fast DDS by shared memory waits up to 0.3 s for a newcomer's port (measured: `hc mode`, started
while the machine is busy), with a lock held that everything else of the process needs: publishing,
with the interpreter held, and so the control loop; the drives then miss their frames. By UDP it
waits for nobody.

A newcomer announces itself before it listens: what is there already answers in vain, and only its
next announcement tells the newcomer of it. That is every 3 s by default (2 s lost at half of all
starts, measured), here every 0.3 s. So it is the one that was there first who must be tuned:
tools that wait for the robot, too.

On a network, a pulled cable must not be felt by the robot. For each machine that no longer answers
the kernel keeps 208 KiB of packets (net.ipv4.neigh.*.unres_qlen_bytes), as much as a socket may
have under way by default: then every send waits, up to 3 s (measured: the loop stood still), or, if
it may not wait, what is meant for this machine is lost, too. So sends don't wait, and sockets may
have more than that under way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PROFILE_VARIABLES: Final = (
    "FASTRTPS_DEFAULT_PROFILES_FILE",  # Fast DDS 2, of Jazzy
    "FASTDDS_DEFAULT_PROFILES_FILE",  # Fast DDS 3
)
_RANGE: Final = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCALHOST_ONLY: Final = "ROS_LOCALHOST_ONLY"  # its predecessor, which goes before it
_PEERS: Final = "ROS_STATIC_PEERS"


def tune_middleware(implementation: str) -> None:
    """Choose how Fast DDS works in this process; call it before `rclpy.init`.

    Who can be talked to stays what the environment says. A profile of the user's own stays, and
    so does any middleware but Fast DDS: `implementation` is rclpy's name of the one in use.
    """
    if untuned(implementation, os.environ):
        return
    profile = "fastdds_network.xml"
    if _stays_here(os.environ):
        # ROS would put its own transports, shared memory among them, in place of a profile's.
        profile = "fastdds_localhost.xml"
        os.environ[_RANGE] = "SYSTEM_DEFAULT"
        os.environ.pop(_LOCALHOST_ONLY, None)
    for name in PROFILE_VARIABLES:
        os.environ[name] = str(Path(__file__).with_name(profile))


def untuned(implementation: str, environment: Mapping[str, str]) -> str:
    """Why the middleware works in its own way, in words; empty if it is tuned."""
    if "fastrtps" not in implementation:
        return "only Fast DDS is tuned"
    for name in PROFILE_VARIABLES:
        if name in environment:
            return f"{name} names a profile of its own"
    if _stays_here(environment) and environment.get(_PEERS):
        # This machine and others: only ROS's own transports do that.
        return f"{_PEERS} adds machines to this one"
    return ""


def _stays_here(environment: Mapping[str, str]) -> bool:
    return environment.get(_LOCALHOST_ONLY) == "1" or environment.get(_RANGE) == "LOCALHOST"


@contextmanager
def tuned_middleware(implementation: str) -> Iterator[None]:
    """The same for what is initialized inside only: the environment is as before at the end.

    For programs that start others, which choose for themselves.
    """
    before = dict(os.environ)
    tune_middleware(implementation)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
