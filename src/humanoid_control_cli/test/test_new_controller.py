"""The package that `hc new-controller` writes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from humanoid_bringup.robot_package import find_robot
from humanoid_control_cli.app import app
from humanoid_control_cli.new_controller.package_files import package_files
from humanoid_control_common.errors import ConfigError

SHIPPED = yaml.safe_load(find_robot().controllers_file.read_text())


def test_every_place_has_the_new_name() -> None:
    found = package_files("slow_sway_controller", SHIPPED)
    everything = "".join(map(str, found)) + "".join(found.values())
    for words in ("Hold the pose", "holds the pose", "hold_stiffness", "hold_damping"):
        everything = everything.replace(words, "")
    assert "hold" not in everything
    assert (
        "class SlowSwayController(Controller):" in found[Path("slow_sway_controller/slow_sway.py")]
    )
    assert "slow_sway_controller/SlowSwayController = " in found[Path("setup.py")]


def test_python_files_are_python_and_yaml_files_are_yaml() -> None:
    for path, text in package_files("sway_controller", SHIPPED).items():
        if path.suffix == ".py":
            ast.parse(text)
        if path.suffix == ".yaml":
            assert yaml.safe_load(text)


def test_new_controller_replaces_standby_in_the_controllers_file() -> None:
    text = package_files("sway_controller", SHIPPED)[Path("config/controllers.yaml")]
    found = yaml.safe_load(text)
    manager = found["controller_manager"]["ros__parameters"]
    before = list(SHIPPED["controller_manager"]["ros__parameters"])
    assert list(manager) == [
        "sway_controller" if it == "standby_controller" else it for it in before
    ]
    assert manager["sway_controller"]["type"] == "sway_controller/SwayController"
    assert found["sway_controller"]["ros__parameters"] == {"stiffness": 20.0, "damping": 2.0}
    assert "standby_controller" not in found


def test_test_of_a_new_controller_passes_and_detects_a_change(tmp_path: Path) -> None:
    words = ["new-controller", "slow_sway_controller", "--into", str(tmp_path / "ws/src")]
    assert CliRunner().invoke(app, words).exit_code == 0
    package = tmp_path / "ws/src/slow_sway_controller"
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test"]

    def run() -> int:
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=package, env=environment, check=False).returncode

    assert run() == 0
    source = package / "slow_sway_controller/slow_sway.py"
    source.write_text(source.read_text().replace("= state.position", "= 0.0"))
    assert run() == 1


BAD_NAMES = (
    "controller _controller Sway_controller sway a__b_controller 1_controller ../x_controller"
)


@pytest.mark.parametrize("name", ["", *BAD_NAMES.split()])
def test_invalid_name_of_a_new_controller_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="expected small letters"):
        package_files(name, SHIPPED)


def test_new_controller_overwrites_no_file(tmp_path: Path) -> None:
    words = ["new-controller", "sway_controller", "--into", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    (tmp_path / "sway_controller/setup.py").write_text("mine")
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "exists already" in again.output
    assert (tmp_path / "sway_controller/setup.py").read_text() == "mine"


def test_a_package_that_cannot_be_made_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["new-controller", "sway_controller", "--into", "/proc"])
    with pytest.raises(ConfigError, match=r"^/proc/sway_controller: cannot be made: "):
        raise result.exception


def test_a_word_of_python_is_refused_as_a_name() -> None:
    with pytest.raises(ConfigError, match=r"a module of Python cannot be called 'class'"):
        package_files("class_controller", SHIPPED)


def test_the_name_of_another_controller_of_the_robot_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'damping_controller' is one of the robot's"):
        package_files("damping_controller", SHIPPED)
    assert package_files("standby_controller", SHIPPED)  # it takes the place of that one anyway
