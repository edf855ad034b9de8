"""The steps of docs/add_a_robot.md: from an exported description to a moving robot."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/add_a_robot.md").read_text()
COMPONENT_PAGE = (ROOT / "docs/add_a_hardware_component.md").read_text()
# Commands of the page that need more than this workspace, or have a variable. Other tests of
# descriptions bring Prime up with such a folder.
ELSEWHERE = {
    "source env.sh",
    "ros2 launch humanoid_bringup_prime mujoco.launch.py description:=FOLDER",
    "hc up mujoco --description FOLDER",
}
BUILD = ["cd ~/my_ws", "colcon build", "source install/local_setup.bash"]
NEW = "hc new-robot mine docs/examples/mesh_arm --into ~/my_ws/src"
UP = "hc up mujoco --robot mine --initial-mode damping"
SRDF = "hc srdf --robot mine --output ~/my_ws/src/mine_bringup/description/mine.srdf"
AGAIN = f"{UP} --description WS/docs/examples/mesh_arm"
LOAD = "hc mode load --wait"
STATUS = "hc status"
DOWN = "hc down"


def words(command: str, home: Path) -> list[str]:
    """Return a command of the page without `hc`, for a user with the home `home`."""
    return shlex.split(command.replace("~", str(home)).replace("WS/", f"{ROOT}/"))[1:]


def built(home: Path) -> dict[str, str]:
    """Build the user's workspace; return the environment after sourcing it."""
    lines = " && ".join(line.replace("~", str(home)) for line in BUILD)
    script = lines.replace("colcon build", f"{sys.executable} -m colcon build >&2") + " && env -0"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    pairs = (line.partition("=") for line in result.stdout.split("\0") if line)
    keep = {"PWD", "OLDPWD", "SHLVL", "_"}
    found = {name: value for name, _, value in pairs if name not in keep}
    return {name: value for name, value in found.items() if os.environ.get(name) != value}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a user after step 2."""
    folder = tmp_path_factory.mktemp("home")
    hc = [sys.executable, "-c", "from humanoid_control_cli.main import main; main()"]
    subprocess.run([*hc, *words(NEW, folder)], cwd=ROOT, check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def environment(home: Path, start_once: Starter) -> dict[str, str]:
    """The environment of a user who has changed the poses and added the SRDF."""
    poses = home / "my_ws/src/mine_bringup/config/mine_controllers.yaml"
    old, new = re.findall(r"`(positions: [^`]+)`", PAGE)
    text = poses.read_text()
    assert old in text
    poses.write_text(text.replace(old, new))
    srdf = start_once.hc_anew(*words(SRDF, home), **built(home))
    assert srdf.finish() == 0, srdf.text
    name_the_srdf(home)
    return built(home)


def test_every_command_of_the_page_is_run_here() -> None:
    blocks = re.findall(r"^    (.*)$", PAGE, flags=re.MULTILINE)
    assert set(blocks) - ELSEWHERE == {NEW, *BUILD, UP, LOAD, STATUS, DOWN, SRDF, AGAIN}


def name_the_srdf(home: Path) -> None:
    """Add the page's line to the robot's file, below `xacro:`."""
    (line,) = re.findall(r"add `(srdf: [^`]+)` below `xacro:`", PAGE)
    file = home / "my_ws/src/mine_bringup/config/robot.yaml"
    text, count = re.subn(r"^( *)(xacro: .*)$", rf"\1\2\n\1{line}", file.read_text(), flags=re.M)
    assert count == 1
    file.write_text(text)


def wait_until_at(pose: list[float], hc: Any, home: Path) -> None:
    """Wait until both joints have arrived: a busy machine simulates more slowly."""
    deadline = time.monotonic() + 30.0
    angles: list[float] = []
    while angles != pytest.approx(pose, abs=0.15):
        assert time.monotonic() < deadline, angles
        status = hc(*words(STATUS, home))
        status.finish()  # not 0 if a busy machine made the loop late
        found = re.findall(r"(?:shoulder|elbow)_pitch +([+-][\d.]+)", status.text)
        angles = [float(angle) for angle in found]


def test_the_arm_comes_up_reaches_its_pose_and_goes_down(
    hc_anew: Any, hc: Any, home: Path, environment: dict[str, str]
) -> None:
    for command in (UP, AGAIN):
        up = hc_anew(*words(command, home), "--port", "0", **environment)
        up.wait_for("Mine is up: DAMPING")
        up.wait_for("viewer: http://")
        if command == UP:
            load = hc(*words(LOAD, home))
            assert load.finish() == 0, load.text
            wait_until_at([0.5, -1.0], hc, home)
        values = hc(*words(STATUS, home), "--all")
        values.finish()  # not 0 if a busy machine made the loop late
        assert ("the robot has no SRDF" in values.text) == (command == AGAIN)
        assert hc(*words(DOWN, home)).finish() == 0
        assert up.finish() == 0, up.text
        assert "overlap" not in up.text
        assert "not drawn" not in up.text


def test_new_robot_without_drives_is_refused_by_hc_up_real(
    hc_anew: Any, environment: dict[str, str]
) -> None:
    up = hc_anew("up", "real", "--robot", "mine", **environment)
    assert up.finish() == 1
    assert "Mine has no drives, so it is for mujoco and mock only: add 'buses'" in up.text


def test_a_component_of_one_s_own_comes_up_as_the_real_robot(
    hc_anew: Any, hc: Any, home: Path, environment: dict[str, str]
) -> None:
    """Mock hardware plays the component: it is one whose drives are on no EtherCAT and no CAN."""
    package = home / "my_ws/src/mine_bringup"
    robot, xacro = package / "config/robot.yaml", package / "description/mine.urdf.xacro"
    lines = re.findall(r"^ {7}((?:buses:|  drives:).*)$", COMPONENT_PAGE, flags=re.MULTILINE)
    robot.write_text("\n".join([robot.read_text(), *lines, ""]))
    plugin = "<plugin>mock_components/GenericSystem</plugin>"
    text, count = re.subn(r"\$\{xacro\.fatal\(.*\)\}", plugin, xacro.read_text())
    assert count == 1
    xacro.write_text(text)
    up = hc_anew("up", "real", "--robot", "mine", "--port", "0", **built(home))
    up.wait_for("bringing up Mine (real)")
    up.wait_for("Mine is up: ZERO_TORQUE")
    down = hc(*words(DOWN, home))
    assert down.finish() == 0, down.text
    assert "Drives (deactivated)" in down.text
    assert up.finish() == 0, up.text
