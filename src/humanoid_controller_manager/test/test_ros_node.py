"""Nodes are complete after a start, and destroyed before the process ends."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from pathlib import Path
from humanoid_controller_manager.ros.ros_session import configured_node, ros_session

def middleware():
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    # The watchdog of shared memory belongs to no participant.
    return [name for name in names if name.startswith("dds") and name != "dds.shm.wdog"]

with ros_session([]):
    first = configured_node("first", services=True)
    configured_node("second", services=False).destroy_node()
    print(len(middleware()))
print(len(middleware()))
"""


def test_no_thread_of_the_middleware_is_left_when_a_session_has_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    before, after = map(int, done.stdout.split())
    assert before > 0
    assert after == 0


# A manager on mock hardware that says when it is powered, and one part of which fails.
MANAGER = """
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from humanoid_control_common.config import StrictModel
from humanoid_control_common.errors import HardwareError
from humanoid_control_common.modes import Mode
from humanoid_controller_manager import plugins
from humanoid_controller_manager.controller import Controller
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.ros.parameters import parameter_files
from humanoid_controller_manager.ros.ros_session import ros_session

class Arm(GenericSystem):
    def on_activate(self, state):
        super().on_activate(state)
        print("powered")

    def on_deactivate(self):
        super().on_deactivate()
        if stuck:
            raise HardwareError("no answer")
        print("without torque")

class Limp(Controller):
    class Parameters(StrictModel):
        pass

    mode, needs = Mode.ZERO_TORQUE, {}

    def _nothing(self, *_):
        pass

    on_configure = on_activate = on_deactivate = _nothing

    def update(self, state, command, now, period):
        command.array.fill(0.0)

def fail(*_, **__):
    raise OSError("no memory")

file, part, stuck = sys.argv[1], sys.argv[2], sys.argv[3:] == ["stuck"]
points = EntryPoints([
    EntryPoint("test/Arm", "__main__:Arm", plugins.HARDWARE),
    EntryPoint("test/Limp", "__main__:Limp", plugins.CONTROLLERS),
])
plugins.entry_points = lambda: points
arguments = ["--ros-args", "--params-file", file]
with ros_session(arguments):
    manager = ControllerManagerNode(parameter_files(arguments))
    if part == "reports":
        manager.publish_safety = fail
    else:
        manager.node.create_timer = fail
    try:
        manager.start()
    except OSError as error:
        print(error)
        print("running" if manager.loop_thread.is_running() else "stopped")
        print(getattr(error, "__notes__", []))
"""
PARAMETERS = """
controller_manager:
  ros__parameters:
    update_rate: 100
    initial_controller: limp
    safe_controllers: [limp]
    limp: {type: test/Limp}
    robot_description: >-
      <robot name="r"><joint name="a" type="revolute">
      <limit lower="-1" upper="2" velocity="3" effort="10"/></joint>
      <ros2_control name="arm" type="system"><hardware><plugin>test/Arm</plugin></hardware>
      <joint name="a"><command_interface name="position"/><command_interface name="velocity"/>
      <command_interface name="effort"/><command_interface name="stiffness"/>
      <command_interface name="damping"/><state_interface name="position"/>
      <state_interface name="velocity"/><state_interface name="effort"/></joint>
      </ros2_control></robot>
"""


def started(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """What a manager says of its start, one part of which fails."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(random.randint(1, 101)))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    file = folder / "parameters.yaml"
    file.write_text(PARAMETERS)
    done = subprocess.run(
        [sys.executable, "-c", MANAGER, str(file), *arguments],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("part", ["reports", "timer"])
def test_a_start_that_fails_once_the_joints_have_torque_takes_it_from_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    said = started(tmp_path, monkeypatch, part)
    assert said == ["powered", "without torque", "no memory", "stopped", "[]"]


def test_a_start_that_fails_says_which_joints_may_still_have_torque(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, notes = started(tmp_path, monkeypatch, "reports", "stuck")
    assert notes == "['joints may still be powered: arm: no answer']"
