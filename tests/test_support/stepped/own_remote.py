"""A robot with another controller for REMOTE, on one simulated clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from humanoid_control_common.rules.modes import Mode
from test_support.controllers import write_controllers
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

NAME: Final = "/own_controller"
GAINS: Final = {"stiffness": 20.0, "damping": 2.0}


def in_remote(folder: Path, kind: str, robot: str = "prime", **parameters: Any) -> Stack:
    """A robot whose REMOTE is a controller of class `kind`, in REMOTE."""
    file = write_controllers(folder, 1.0, robot)
    content = yaml.safe_load(file.read_text())
    entry = content["controller_manager"]["ros__parameters"].pop("remote_policy_controller")
    entry["type"] = f"humanoid_control/{kind}"
    content["controller_manager"]["ros__parameters"]["own_controller"] = entry
    content["own_controller"] = {"ros__parameters": GAINS | parameters}
    del content["remote_policy_controller"]
    file.write_text(yaml.safe_dump(content))
    stack = (
        Prime(folder, controllers_file=file)
        if robot == "prime"
        else Stack(folder, robot=robot, controllers_file=file)
    )
    stack.up()
    stack.damped()
    stack.enter(Mode.STANDBY)
    stack.client.until(stack.has_finished_standby, "the ready pose")
    stack.enter(Mode.REMOTE)
    stack.pass_time(1.5)
    return stack


def trajectories(folder: Path, *, compensates: bool) -> Stack:
    """Prime following trajectories, with or without gravity compensation."""
    parameters: Any = {"allow_partial_joints_goal": True, "gravity_compensation": compensates}
    return in_remote(folder, "JointTrajectoryController", **parameters)


def ask(stack: Stack, kind: Any, service: str, request: Any) -> Any:
    """Return the answer of a service."""
    call = stack.client.node.create_client(kind, service).call_async(request)
    stack.client.until(call.done, "the answer")
    return call.result()
