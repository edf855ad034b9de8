"""Capabilities of this process, and the commands that grant missing ones."""

import os
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError

PROC: Final = Path("/proc")


class Capability(IntEnum):
    """The capabilities that a robot's processes can use (linux/capability.h)."""

    NET_ADMIN = 12
    NET_RAW = 13
    IPC_LOCK = 14
    SYS_NICE = 23

    def __str__(self) -> str:
        return f"CAP_{self.name}"


RAW_ETHERNET: Final = (Capability.NET_RAW, Capability.NET_ADMIN)  # socket, promiscuous mode
VETH: Final = (Capability.NET_ADMIN,)

_WANTED: Final = "+net_raw,+net_admin,+sys_nice,+ipc_lock"
# Ambient capabilities, not those of a file: with the latter the dynamic loader runs in its secure
# mode, forgets LD_LIBRARY_PATH, and ROS 2 isn't found any more.
GRANT: Final = (
    'sudo setpriv --reuid="$(id -u)" --regid="$(id -g)" --init-groups --reset-env '
    f"--inh-caps={_WANTED} --ambient-caps={_WANTED} bash"
)


class MissingRightsError(RobotError):
    """A capability is missing; the message names it and the remedy."""


def held_capabilities(proc: Path = PROC) -> frozenset[Capability]:
    """Return the effective capabilities of this process."""
    for line in (proc / "self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            mask = int(line.split()[1], 16)
            return frozenset(one for one in Capability if mask >> one & 1)
    return frozenset()  # without the line none counts as granted


def remedy() -> str:
    """Return the command that grants the rights to this user."""
    if os.geteuid() == 0:
        return (
            "root lacks them in a container: start it with `--cap-add NET_RAW --cap-add NET_ADMIN`"
        )
    return f"open a shell that has them with `{GRANT}`, then `source env.sh` in it"


def require_capabilities(purpose: str, needed: Iterable[Capability]) -> None:
    """Check that this process may do what `purpose` names. Raises MissingRightsError."""
    missing = sorted(set(needed) - held_capabilities())
    if missing:
        names = " and ".join(map(str, missing))
        raise MissingRightsError(
            f"{purpose} needs {names}, which this process lacks: {remedy()} (docs/rights.md)"
        )
