"""Controllers are loaded and unloaded on a running robot: services that wait for other threads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.srv import LoadController, UnloadController
from test_support.stepped.stack import Stack

from humanoid_bringup.robot_package import find_robot
from humanoid_control_cli.new_controller.package_files import package_files
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.plugins import forget_plugins

TRAJECTORIES = {
    "trajectory_controller": {
        "ros__parameters": {
            "type": "humanoid_control/JointTrajectoryController",
            "fallback_controllers": ["damping_controller", "zero_torque_controller"],
            "stiffness": 20.0,
            "damping": 2.0,
        }
    }
}


def _asked(stack: Stack, kind: Any, service: str, **fields: Any) -> Any:
    client = stack.client.node.create_client(kind, f"/controller_manager/{service}")
    call = client.call_async(kind.Request(**fields))
    stack.client.until(call.done, f"the answer of {service}")
    return call.result()


def test_a_controller_is_loaded_runs_and_is_unloaded(any_robot: Stack, tmp_path: Path) -> None:
    file = tmp_path / "trajectory.yaml"
    file.write_text(yaml.safe_dump(TRAJECTORIES))
    answer = _asked(any_robot, LoadController, "load_file", file=str(file))
    assert (answer.success, answer.mode) == (True, int(Mode.REMOTE)), answer.message
    any_robot.enter(Mode.STANDBY)
    any_robot.client.until(any_robot.has_finished_standby, "the ready pose")
    any_robot.enter(Mode.REMOTE)
    assert any_robot.client.now.controller_name == "trajectory_controller"
    refused = _asked(any_robot, UnloadController, "unload", name="trajectory_controller")
    assert not refused.success
    assert "REMOTE is in force" in refused.message
    any_robot.enter(Mode.DAMPING)
    answer = _asked(any_robot, UnloadController, "unload", name="trajectory_controller")
    assert "REMOTE is remote_policy_controller" in answer.message


def test_the_shipped_trajectory_controller_is_put_in_charge_by_its_name(prime: Stack) -> None:
    prime.damped()
    for name in ("trajectory_controller", "remote_policy_controller"):
        assert _asked(prime, LoadController, "load_file", file=name).success
        prime.enter(Mode.STANDBY)
        prime.client.until(prime.has_finished_standby, "the ready pose")
        prime.enter(Mode.REMOTE)
        assert prime.client.now.controller_name == name
        refused = _asked(prime, LoadController, "load_file", file="trajectory_controller")
        assert "REMOTE is in force" in refused.message
        prime.damped()
    assert not _asked(prime, LoadController, "load_file", file="nobody").success


HASTY = """
from asyncio import CancelledError
from humanoid_controllers.standby import StandbyController

class Hasty(StandbyController): pass

def attach(context, controller):
    def at_once():
        raise CancelledError
    context.node.create_guard_condition(at_once).trigger()
"""
POINTS = """
[humanoid_control.controllers]
hasty/Hasty = hasty:Hasty
[humanoid_control.ros]
hasty/Hasty = hasty:attach
"""


def test_a_callback_that_raises_while_its_controller_is_loaded_does_not_end_the_robot(
    prime: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    information = tmp_path / "hasty-1.dist-info"
    information.mkdir()
    (tmp_path / "hasty.py").write_text(HASTY)
    (information / "METADATA").write_text("Name: hasty\nVersion: 1\n")
    (information / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_plugins()
    content = yaml.safe_load(find_robot().controllers_file.read_text())
    own = content["standby_controller"]["ros__parameters"] | {"type": "hasty/Hasty"}
    file = tmp_path / "hasty.yaml"
    file.write_text(yaml.safe_dump({"hasty_controller": {"ros__parameters": own}}))
    answer = _asked(prime, LoadController, "load_file", file=str(file))
    assert answer.success, answer.message
    reason = "of node 'hasty_controller' raised CancelledError()"
    prime.client.until(lambda: reason in prime.client.now.status_message, "the fall")
    assert prime.client.now.mode == Mode.DAMPING
    assert _asked(prime, UnloadController, "unload", name="hasty_controller").success
    prime.damped()
    prime.enter(Mode.STANDBY)
    assert prime.client.now.controller_name == "standby_controller"


def test_a_plugin_is_loaded_that_was_written_after_the_start(prime: Stack, tmp_path: Path) -> None:
    package = tmp_path / "late_controller"
    shipped = yaml.safe_load(find_robot().controllers_file.read_text())
    for path, text in package_files("late_controller", shipped).items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text)
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info"], cwd=package, check=True)
    file = str(package / "config/late_controller.yaml")
    for mode, folders in ((0o755, []), (0o777, [str(package)])):
        package.chmod(mode)
        answer = _asked(prime, LoadController, "load_file", file=file, python_folders=folders)
        assert not answer.success
        assert str(package) not in sys.path
    package.chmod(0o755)
    answer = _asked(prime, LoadController, "load_file", file=file, python_folders=[str(package)])
    assert answer.success, answer.message
    assert sys.path[-1] == str(package), "it hides no module"
    prime.enter(Mode.STANDBY)
    assert prime.client.now.controller_name == "late_controller"


def test_a_file_that_is_wrong_is_refused_and_the_robot_goes_on(any_robot: Stack) -> None:
    answer = _asked(any_robot, LoadController, "load_file", file="/nowhere/controller.yaml")
    assert not answer.success
    assert "/nowhere/controller.yaml" in answer.message
    any_robot.pass_time(0.5)
    assert any_robot.client.now.mode == Mode.DAMPING


def test_a_missing_key_is_reported_at_its_place_in_the_loaded_file(
    prime: Stack, tmp_path: Path
) -> None:
    """Also of a controller of which the robot's own file has this key."""
    file = tmp_path / "remote.yaml"
    file.write_text(
        "remote_policy_controller:\n"
        "  ros__parameters:\n"
        "    type: humanoid_control/RemotePolicyController\n"
        "    fallback_controllers: [damping_controller, zero_torque_controller]\n"
        "    stiffness: 20.0\n"
    )
    answer = _asked(prime, LoadController, "load_file", file=str(file))
    assert not answer.success
    assert f"{file}:2: 'damping' is missing" in answer.message


def test_a_loaded_policy_does_not_follow_the_motion_of_the_robots_own(
    prime: Stack, tmp_path: Path
) -> None:
    own = {
        "type": "humanoid_control/RlPolicyController",
        "fallback_controllers": ["damping_controller", "zero_torque_controller"],
        "model": "package://humanoid_bringup_prime/policies/reaching.onnx",
    }
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump({"rl_policy_controller": {"ros__parameters": own}}))
    answer = _asked(prime, LoadController, "load_file", file=str(file))
    assert not answer.success
    assert "motion: is missing; the model needs it for" in answer.message


@pytest.mark.parametrize("kind", ["Effort", "Velocity", "Position", "MixedPositionVelocity"])
def test_joints_without_effort_in_every_tick_are_refused_by_name(
    prime: Stack, tmp_path: Path, kind: str
) -> None:
    gains = {} if kind == "Effort" else {"gains": {"p": 1.0}}
    own = {
        "type": f"humanoid_control/{kind}Controller",
        "joints": ["left_elbow_pitch", "left_wrist_roll"],
        **gains,
    }
    file = tmp_path / "servo.yaml"
    file.write_text(yaml.safe_dump({"servo_controller": {"ros__parameters": own}}))
    answer = _asked(prime, LoadController, "load_file", file=str(file))
    assert not answer.success
    assert "effort per_tick not offered by left_elbow_pitch" in answer.message
    assert "left_wrist_roll" not in answer.message
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.enter(Mode.REMOTE)
    assert prime.client.now.controller_name == "remote_policy_controller"
