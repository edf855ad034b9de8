"""The address of the joint stream of a robot on this machine."""

import os
import stat
from pathlib import Path
from typing import Final

from humanoid_joint_client.errors import NoAnswerError

FOLDER_MODE: Final = 0o700  # only the user of the robot's programs gets in


def socket_folder() -> Path:
    """Return the folder of this user's sockets."""
    return Path("/tmp") / f"humanoid_control_{os.getuid()}_joint_stream"


def socket_path(domain: int | None = None, namespace: str = "") -> Path:
    """Return the socket of the robot of a ROS domain (None: ROS_DOMAIN_ID) and namespace.

    Raises NoAnswerError for a ROS_DOMAIN_ID that is no number.
    """
    number = _own_domain() if domain is None else domain
    mark = namespace.strip("/").replace("/", ".")
    return socket_folder() / f"domain_{number}{f'_{mark}' if mark else ''}.sock"


def _own_domain() -> int:
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not text.isdecimal():
        raise NoAnswerError(f"ROS_DOMAIN_ID is '{text}', expected a number")
    return int(text)


def is_private(folder: Path) -> bool:
    """Return whether `folder` is this user's, and no other user can enter it."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return own and stat.S_IMODE(status.st_mode) & 0o077 == 0


def local_address(domain: int | None = None, namespace: str = "") -> str:
    """Return the address of this user's robot on this machine, for gRPC.

    Raises NoAnswerError if there is none.
    """
    path = socket_path(domain, namespace)
    if path.parent.exists() and not is_private(path.parent):
        raise NoAnswerError(f"{path.parent}: expected a folder of this user with mode 0700")
    if not path.is_socket():
        raise NoAnswerError(
            f"{path}: no joint stream of this user on this machine (`hc up … --joint-stream`)"
        )
    return f"unix:{path}"
