"""A package that `hc new-controller` wrote is built in a separate workspace, found and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, StandbyState
from rclpy.qos import DurabilityPolicy, QoSProfile

NAME = "hold_controller"
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The new package, in the `src` of a workspace."""
    source = tmp_path_factory.mktemp("own_workspace") / "src"
    subprocess.run(["hc", "new-controller", NAME, "--into", source], check=True)
    return source / NAME


@pytest.fixture(scope="module")
def environment(package: Path) -> dict[str, str]:
    """Return the environment with the variables of the built workspace."""
    workspace = package.parents[1]
    build = [sys.executable, "-m", "colcon", "build"]
    result = subprocess.run(build, cwd=workspace, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    script = f"source {workspace}/install/local_setup.bash && env -0"
    listed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    pairs = (line.partition("=") for line in listed.stdout.split("\0") if line)
    return {name: value for name, _, value in pairs if os.environ.get(name) != value}


@pytest.fixture
def controllers(package: Path, tmp_path: Path) -> Path:
    """A copy of the controllers file of the package."""
    return shutil.copy(package / "config/controllers.yaml", tmp_path / "controllers.yaml")


def test_a_controller_of_another_workspace_is_run(
    environment: dict[str, str],
    controllers: Path,
    start_control_anew: Callable[..., Any],
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    running = start_control_anew(controllers_file=controllers)
    client.connect()
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)
    assert client.now.controller_name == "hold_controller"
    client.until(lambda: client.commands and client.commands[-1].stiffness[0] == 20.0, "its gains")
    assert list(client.commands[-1].position) == list(client.joint_states[-1].position)
    finished = []
    client.node.create_subscription(
        StandbyState, f"/{NAME}/state", lambda it: finished.append(it.is_finished), LATCHED
    )
    client.until(lambda: finished, "its progress")
    assert finished[-1]
    running.end()
    assert running.process.returncode == 0


def test_gains_that_the_robots_drives_don_t_get_are_refused_at_the_start(
    environment: dict[str, str],
    controllers: Path,
    start_control_anew: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    content = yaml.safe_load(controllers.read_text())
    content["hold_controller"]["ros__parameters"] |= {"stiffness": 15.0, "damping": 1.5}
    controllers.write_text(yaml.safe_dump(content, sort_keys=False))
    running = start_control_anew(controllers_file=controllers)
    assert running.wait() == 1
    output = running.text()
    assert "hold_controller: stiffness 15, damping 1.5, but in STANDBY" in output
    assert "stiffness 20, damping 2 (mode_kp and mode_kd, value 2)" in output
    assert str(controllers) in output


def test_without_its_workspace_the_missing_plugin_is_named(
    controllers: Path, start_control_anew: Callable[..., Any]
) -> None:
    running = start_control_anew(controllers_file=controllers)
    assert running.wait() == 1
    assert "unknown plugin 'hold_controller/HoldController'; known: humanoid" in running.text()
