"""The launch files check their arguments before anything is started."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory
from test_support.ros.ros_domains import on_reserved_domain

MISSING = not all(importlib.util.find_spec(name) for name in ("launch", "launch_ros"))
REQUIRED = os.environ.get("HUMANOID_REQUIRE_LAUNCH") == "1"
pytestmark = pytest.mark.skipif(
    MISSING and not REQUIRED, reason="the launch system is not installed (launch, launch_ros)"
)
FOLDERS = {
    robot: Path(get_package_share_directory(f"humanoid_bringup_{robot}")) / "launch"
    for robot in ("prime", "lite", "hand")
}
FOLDER = FOLDERS["prime"]
FILES = [
    pytest.param(path, id=f"{robot}-{path.name}")
    for robot, folder in FOLDERS.items()
    for path in sorted(folder.glob("*.launch.py"))
]
BRING_UPS = ["calibrate", "mock", "mujoco", "real", "twin"]

# As `ros2 launch FILE NAME:=VALUE ...`, in a separate process: launch installs signal handlers.
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource as Source
words = [word.split(":=", 1) for word in sys.argv[2:]]
service = LaunchService(argv=sys.argv[2:], noninteractive=True)
file = IncludeLaunchDescription(Source(sys.argv[1]), launch_arguments=words)
service.include_launch_description(LaunchDescription([file]))
sys.exit(service.run())
"""


@pytest.fixture(autouse=True)
def _elsewhere() -> Iterator[None]:
    with on_reserved_domain():
        yield


def launched(name: str, *arguments: str, robot: str = "prime") -> tuple[int, list[str]]:
    """Exit code and error messages."""
    file = str(FOLDERS[robot] / name)
    words = [sys.executable, "-W", "ignore", "-c", LAUNCH, file, *arguments]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    errors = [line for line in (run.stdout + run.stderr).splitlines() if "[ERROR]" in line]
    assert "Traceback" not in run.stdout + run.stderr
    assert "process started" not in run.stdout + run.stderr
    return run.returncode, errors


def arguments_of(file: Path) -> dict[str, Any]:
    """The declared arguments of a launch file, by their names."""
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(file))
    return {argument.name: argument for argument in description.get_launch_arguments()}


@pytest.mark.parametrize("robot", FOLDERS)
def test_every_launch_file_is_looked_at(robot: str) -> None:
    files = sorted(path.name for path in FOLDERS[robot].glob("*.launch.py"))
    assert [file.partition(".")[0] for file in files] == sorted([*BRING_UPS, "view", "viz"])


@pytest.mark.parametrize("file", FILES)
def test_every_argument_is_described_and_has_a_default(file: Path) -> None:
    arguments = arguments_of(file)
    assert arguments
    for argument in arguments.values():
        assert argument.description.strip(" .") not in ("", "no description given")
        assert argument.default_value is not None


@pytest.mark.parametrize("file", FILES)
def test_no_argument_sets_a_rate(file: Path) -> None:
    """SYNC0 follows the loop, whose rate only the controllers file defines."""
    names = arguments_of(file)
    assert not [name for name in names if "rate" in name or "frequency" in name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ethercat_interface:=eth0"], "real.launch.py has no argument ethercat_interface"),
        (["backends:=can"], "backends is 'can'; Lite has all, left_can, right_can"),
        (["can_channel:=can2"], "the CAN buses of Lite are left_can, right_can"),
        (
            ["backends:=left_can", "can_interface:=slcan", "can_channel:=left_can=/no"],
            "CAN slcan /no:",
        ),
    ],
)
def test_lite_has_its_own_buses(arguments: list[str], message: str) -> None:
    code, errors = launched("real.launch.py", *arguments, robot="lite")
    assert code == 1
    assert message in errors[-1]


@pytest.mark.parametrize(
    ("file", "arguments", "message"),
    [
        ("mock", ["viewer:=maybe"], "Valid options are: ['true', 'false']"),
        ("mock", ["viewr:=false"], "mock.launch.py has no argument viewr; it has black_box,"),
        ("real", ["control_frequency:=100"], "real.launch.py has no argument control_frequency"),
        ("mock", ["controllers_file:=no.yaml"], "controllers_file:=no.yaml: there is no such file"),
        ("real", ["srdf:=no.srdf"], "srdf:=no.srdf: there is no such file"),
        ("mujoco", ["real_time_factor:=fast"], "real_time_factor:=fast: expected a number"),
        ("mujoco", ["real_time_factor:=-1"], "real-time factor is -1, expected 0 or more"),
        ("mock", ["enable_gamepad:=true", "joystick:=js99"], "/dev/input/js99: there is none; joy"),
        ("mock", ["enable_gamepad:=true", "joystick:=pad"], "joystick is 'pad', expected js0"),
        ("real", ["backends:=ec", "ethercat_interface:=no_if"], "interface no_if: does not"),
        ("real", ["backends:=can", "can_interface:=slcan", "can_channel:=/no"], "CAN slcan /no:"),
        ("viz", ["viewer:=false", "rviz:=false"], "nothing to show the robot with"),
        ("viz", ["viewer_port:=http"], "viewer_port:=http: expected a whole number from 0 to"),
    ],
)  # fmt: skip
def test_an_error_is_reported_at_once_and_nothing_is_started(
    file: str, arguments: list[str], message: str
) -> None:
    code, errors = launched(f"{file}.launch.py", *arguments)
    assert code == 1
    assert message in errors[-1]


def test_a_bad_file_is_named_with_the_line(tmp_path: Path) -> None:
    config = FOLDER.parent / "config/prime_hardware.yaml"
    hardware = yaml.safe_load(config.read_text())
    hardware["joints"]["erob_slaves"]["left_elbow_pitch"]["position"] = "three"
    file = tmp_path / "hardware.yaml"
    file.write_text(yaml.safe_dump(hardware))
    code, errors = launched("real.launch.py", f"hardware_config:={file}")
    assert code == 1
    assert "left_elbow_pitch" in errors[-1]
