"""A robot's controllers with a quick STANDBY."""

from pathlib import Path

import yaml

from humanoid_bringup.robot_package import DEFAULT, find_robot


def write_controllers(folder: Path, duration: float, robot: str = DEFAULT) -> Path:
    """The controllers of a robot; each of the two ways of STANDBY takes `duration` [s]."""
    content = yaml.safe_load(find_robot(robot).controllers_file.read_text())
    for pose in content["standby_controller"]["ros__parameters"]["poses"].values():
        pose["duration"] = duration
    path = folder / "controllers.yaml"
    path.write_text(yaml.safe_dump(content))
    return path
