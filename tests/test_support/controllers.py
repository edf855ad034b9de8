"""A robot's controllers with a quick STANDBY, and with a policy."""

from pathlib import Path
from typing import Any

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


def add_policy(controllers: Path, model: Path, **parameters: Any) -> Path:
    """Add the policy of `model` to a robot's controllers file; return the file."""
    name = "rl_policy_controller"
    content = yaml.safe_load(controllers.read_text())
    content["controller_manager"]["ros__parameters"][name] = {
        "type": "humanoid_control/RlPolicyController",
        "fallback_controllers": ["damping_controller", "zero_torque_controller"],
    }
    content[name] = {"ros__parameters": {"model": str(model), **parameters}}
    controllers.write_text(yaml.safe_dump(content, sort_keys=False))
    return controllers
