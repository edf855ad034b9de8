"""The lock that allows one process of a role per ROS domain and machine."""

import fcntl
import os
from pathlib import Path
from typing import IO

from humanoid_control_common.errors import ConfigError

# Not TMPDIR: two stacks with different ones would not find each other's lock.
FOLDER = Path("/tmp")


def take_domain_lock(role: str = "control") -> IO[str]:
    """Lock this machine's ROS domain until the returned file is closed or the process ends.

    Two processes of one `role` would command the same topics; other roles may run beside it.

    Raises ConfigError naming the process that holds the lock.
    """
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not domain.isdecimal():
        raise ConfigError(f"ROS_DOMAIN_ID is '{domain}', expected a whole number from 0 to 232")
    suffix = "" if role == "control" else f"_{role}"
    path = FOLDER / f"humanoid_control_{os.getuid()}_domain_{domain}{suffix}.lock"
    try:
        file = path.open("a+", encoding="ascii")
    except OSError as error:
        raise ConfigError(f"cannot lock the ROS domain: {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise ConfigError(
            f"a {role} process is already running on ROS domain {domain} (pid {owner}); "
            "stop it, or give this one another ROS_DOMAIN_ID"
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
