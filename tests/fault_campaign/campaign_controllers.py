"""Controllers of the campaign: those of the robot, a quicker STANDBY, and some that can fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from test_support.policies import policy_model

from fault_campaign.robot_joints import RobotJoints

PLUGIN: Final = Path(__file__).with_name("plugin")  # folder of the plug-in, for PYTHONPATH
REMOTE: Final = "remote_policy_controller"
DAMPING: Final = "damping_controller"
POLICY: Final = "rl_policy_controller"
TRAJECTORY: Final = "trajectory_controller"
# Robots without a trajectory controller load this one for trials that begin in REMOTE by
# trajectories.
TRAJECTORY_FILE: Final = Path(__file__).parents[2] / "docs/examples/trajectory.yaml"
# The same for the joint stream, on the stepped robot.
JOINT_STREAM_FILE: Final = PLUGIN / "joint_stream.yaml"
_POLICY_PERIOD: Final = 0.02  # [s]
_SWAY, _SWAY_TIME, _SWAYS = -0.08, 1.0, 20  # [rad], [s] of each way, and their number
_DURATIONS: Final = (0.6, 0.5)  # [s] of each of the two motions of STANDBY


def write_controllers(folder: Path, robot: RobotJoints) -> Path:
    """Write the controllers' file of `robot` into `folder`."""
    content = yaml.safe_load(robot.package.controllers_file.read_text(encoding="utf-8"))
    content["controller_manager"]["ros__parameters"][REMOTE]["type"] = (
        "faults/FaultyRemoteController"
    )
    controllers = content["controller_manager"]["ros__parameters"]
    controllers[DAMPING] = {"type": "faults/FaultyDampingController"}  # the default fallbacks
    controllers[POLICY] = {"type": "faults/FaultyPolicyController"}
    standby = content["standby_controller"]["ros__parameters"]
    content[POLICY] = {"ros__parameters": _policy(folder, robot.in_loop, standby)}
    poses = standby["poses"]
    for pose, seconds in zip(standby["sequence"], _DURATIONS, strict=True):
        poses[pose]["duration"] = seconds
    # The disk is small. Each file is removed after it was read, which may take a while.
    content["black_box"] = {"ros__parameters": {"most_files": 8, "most_megabytes": 40.0}}
    file = folder / "campaign_controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file


def _policy(folder: Path, joints: Sequence[str], standby: dict[str, Any]) -> dict[str, Any]:
    """Write a policy that follows a slow motion around the ready pose; return the parameters."""
    ready = np.array(standby["poses"][standby["sequence"][-1]]["positions"])
    count = len(joints)

    def listed(values: Iterable[object]) -> str:
        return ",".join(str(value) for value in values)

    properties = {
        "task": "sway",
        "joint_names": listed(joints),
        "joint_stiffness": listed([standby["stiffness"]] * count),
        "joint_damping": listed([standby["damping"]] * count),
        "default_joint_pos": listed(ready.tolist()),
        "action_joint_names": listed(joints),
        "action_kind": "residuals",
        "action_scale": "0.1",
        "observation_names": "joint_pos_error",
        "policy_period": str(_POLICY_PERIOD),
    }
    model = folder / "policy.onnx"
    model.write_bytes(policy_model(properties, np.eye(count)))
    ways = np.array([(-1) ** i * _SWAY for i in range(_SWAYS)])[:, None]
    motion = {
        "joints": list(joints),
        "times": [_SWAY_TIME * (i + 1) for i in range(_SWAYS)],
        "positions": (ready + ways).ravel().tolist(),
    }
    return {"model": str(model), "motion": motion}
