"""Controllers of the campaign: the robot's own, a quicker STANDBY, and a REMOTE that can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from humanoid_bringup.robot_package import RobotPackage

PLUGIN: Final = Path(__file__).with_name("plugin")  # a folder for PYTHONPATH
REMOTE: Final = "remote_policy_controller"
DAMPING: Final = "damping_controller"
_DURATIONS: Final = {"clear": 0.6, "ready": 0.5}  # [s]


def write_controllers(folder: Path, robot: RobotPackage) -> Path:
    """Write the controllers' file of `robot` into `folder`."""
    content = yaml.safe_load(robot.controllers_file.read_text(encoding="utf-8"))
    content["controller_manager"]["ros__parameters"][REMOTE]["type"] = (
        "faults/FaultyRemoteController"
    )
    controllers = content["controller_manager"]["ros__parameters"]
    controllers[DAMPING] = {"type": "faults/FaultyDampingController"}  # the default fallbacks
    poses = content["standby_controller"]["ros__parameters"]["poses"]
    for pose, seconds in _DURATIONS.items():
        poses[pose]["duration"] = seconds
    # The disk they are on is small; each is removed when it was read, which may take its time.
    content["black_box"] = {"ros__parameters": {"most_files": 8, "most_megabytes": 40.0}}
    file = folder / "campaign_controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
