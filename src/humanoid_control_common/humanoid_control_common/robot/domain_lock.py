"""The lock that allows one process of a role per robot (ROS domain, namespace) and machine."""

import fcntl
import os
from pathlib import Path
from stat import S_ISREG
from typing import IO, Final

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT, file_mark, in_words
from humanoid_control_common.robot.ros_domain import own_domain

# Not TMPDIR: two stacks with different ones would not find each other's lock.
FOLDER = Path("/tmp")
_LONGEST: Final = 16  # characters that are read: any user can write the file


def take_domain_lock(role: str = "control", namespace: str = ROOT) -> IO[str]:
    """Lock a namespace of this machine's ROS domain until the file is closed or the process ends.

    Two processes of one `role` would command the same topics. Processes of other roles, and robots
    in other namespaces, may run at the same time.

    Raises ConfigError naming the process that holds the lock.
    """
    domain = own_domain()
    suffix = "" if role == "control" else f"_{role}"
    mark = f"domain_{domain}{suffix}{file_mark(namespace)}"
    try:
        file = _open(FOLDER / f"humanoid_control_{mark}.lock")
    except OSError as error:
        raise ConfigError(f"cannot lock the ROS domain: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read(_LONGEST).strip()
        file.close()
        raise ConfigError(
            f"a {role} process is already running on {in_words(f'ROS domain {domain}', namespace)} "
            f"(pid {owner if owner.isdecimal() else 'unknown'}); "
            "stop it, or give this one another ROS_DOMAIN_ID or namespace"
        ) from None
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _open(path: Path) -> IO[str]:
    """Open the file of a lock, which all users share: their robots would hear the same commands."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)  # Linux refuses O_CREAT for another user's file in /tmp
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT)
        os.fchmod(descriptor, 0o666)  # whatever the umask is
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path}: no regular file: remove it")
    return os.fdopen(descriptor, "r+", encoding="ascii", errors="replace")
