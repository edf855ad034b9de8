"""Check that programs with ROS can make their log files: without them no robot starts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from humanoid_bringup.preflight.findings import Finding, missing, ok

SUBJECT: Final = "ROS log files"
OTHER_FOLDER: Final = "`export ROS_LOG_DIR=FOLDER`"


def log_folder(environment: Mapping[str, str]) -> Finding:
    """Check the folder in which rcl makes its log files."""
    folder = _folder(environment)
    if folder is None:
        return missing(SUBJECT, "neither HOME nor ROS_LOG_DIR is set", OTHER_FOLDER)
    there = next(it for it in (folder, *folder.parents) if it.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return ok(SUBJECT, str(folder))
    why = "cannot be written" if there.is_dir() else "is no folder"
    return missing(
        SUBJECT,
        f"{folder}: {there} {why}, so no robot starts",
        f"make it a folder that this user may write, or give another one: {OTHER_FOLDER}",
    )


def _folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder by the rules of rcl; None if it finds none."""
    if chosen := environment.get("ROS_LOG_DIR"):
        return Path(_with_home(chosen, environment)).absolute()
    if of_ros := environment.get("ROS_HOME"):
        return Path(_with_home(of_ros, environment), "log").absolute()
    home = environment.get("HOME")
    return Path(home, ".ros/log").absolute() if home else None


def _with_home(path: str, environment: Mapping[str, str]) -> str:
    return environment.get("HOME", "") + path[1:] if path.startswith("~") else path
