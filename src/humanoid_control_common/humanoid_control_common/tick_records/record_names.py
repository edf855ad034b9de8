"""The names of the tick recorder's files."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from humanoid_control_common.memory_file import FOLDER
from humanoid_control_common.robot.robot_namespace import ROOT, file_mark
from humanoid_control_common.robot.ros_domain import own_domain

_PREFIX: Final = f"humanoid_control_{os.getuid()}_domain_"
OF_ALL_DOMAINS: Final = f"{_PREFIX}*.flight"  # pattern of this user's files


def files_of_robot(folder: Path = FOLDER, namespace: str = ROOT) -> list[Path]:
    """Return the files of this user's control processes of one robot, oldest first.

    The robot is that of this ROS domain in `namespace`.
    """
    found = oldest_first(folder, record_name("*", namespace))
    # `*` may also stand for the rest of a longer namespace.
    return [path for path in found if path.name == record_name(_pid_of(path), namespace)]


def record_name(pid: int | str, namespace: str) -> str:
    """Return the name of the file of control process `pid` on this ROS domain; it may be `*`."""
    return f"{_PREFIX}{own_domain()}{file_mark(namespace)}_{pid}.flight"


def _pid_of(path: Path) -> str:
    return path.stem.rpartition("_")[2]


def oldest_first(folder: Path, pattern: str) -> list[Path]:
    """Return the files in `folder` whose names match `pattern`."""
    dated = []
    for path in folder.glob(pattern):
        with suppress(OSError):
            dated.append((path.lstat().st_mtime_ns, path))
    return [path for _, path in sorted(dated)]
