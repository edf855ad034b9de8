"""Nodes are complete after a start, and destroyed before the process ends."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
from pathlib import Path
from humanoid_controller_manager.ros.process.ros_session import ros_session

def middleware():
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    # The watchdog of shared memory belongs to no participant.
    return [name for name in names if name.startswith("dds") and name != "dds.shm.wdog"]

with ros_session([]) as ros:
    first = ros.node("first", services=True)
    ros.node("second", services=False).destroy_node()
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


EXECUTOR = """
from rclpy.executors import ShutdownException
from humanoid_controller_manager.ros.process.ros_session import ros_session

with ros_session([]) as ros:
    executor = ros.executor()
    executor.add_node(ros.node("first", services=False))
try:
    executor.wait_for_ready_callbacks(timeout_sec=0.0)
except ShutdownException:
    print("shut down")
"""


def test_an_executor_is_shut_down_when_its_session_has_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXECUTOR], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "shut down\n"


# A manager on mock hardware that prints when it has power; one part of it fails.
MANAGER = """
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager import plugins
from humanoid_controller_manager.controller import Controller
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_controller_manager.ros.process.ros_session import ros_session

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
with ros_session(arguments) as ros:
    manager = ControllerManagerNode(parameter_files(arguments), ros)
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


def started(folder: Path, *arguments: str) -> list[str]:
    """Return the output of a manager with one failing part of its start."""
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
    tmp_path: Path, part: str
) -> None:
    lines = started(tmp_path, part)
    assert lines == ["powered", "without torque", "no memory", "stopped", "[]"]


def test_a_start_that_fails_names_the_joints_that_may_still_have_torque(
    tmp_path: Path,
) -> None:
    *_, notes = started(tmp_path, "reports", "stuck")
    assert notes == "['joints may still be powered: arm: no answer']"


# Sections of a file that rcl passes to a node, and those that `Section.is_for` names.
SECTIONS = """
import sys
from pathlib import Path
from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.configuration.parameter_files import sections
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_controller_manager.ros.process.ros_session import parameters_of, ros_session

with ros_session(sys.argv) as ros:
    node = ros.node("arm", services=False)
    own, name = checked_namespace(node.get_namespace()), node.get_fully_qualified_name()
    file = read_yaml(Path(sys.argv[-1]))
    ours = [s for s in sections(file, own) if s.is_for(name)]
    print({n for n in parameters_of(node) if n.startswith("in_")})
    print({f"in_{file.where(s.key).rpartition(':')[2]}" for s in ours})
"""
FILE = """
arm: {ros__parameters: {in_2: 1}}
/arm: {ros__parameters: {in_3: 1}}
/left/arm: {ros__parameters: {in_4: 1}}
left/arm: {ros__parameters: {in_5: 1}}
left: {arm: {ros__parameters: {in_6: 1}}}
/**: {ros__parameters: {in_7: 1}}
/**/arm: {ros__parameters: {in_8: 1}}
/*/arm: {ros__parameters: {in_9: 1}}
/*/*/arm: {ros__parameters: {in_10: 1}}
/left/*: {ros__parameters: {in_11: 1}}
/left/**: {ros__parameters: {in_12: 1}}
/left/warm: {ros__parameters: {in_13: 1}}
"""


@pytest.mark.parametrize("rule", [(), ("-r", "__ns:=/left"), ("-r", "__ns:=/a/b")])
def test_a_node_gets_the_sections_that_rcl_gives_it(tmp_path: Path, rule: tuple[str, ...]) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE)
    command = [sys.executable, "-c", SECTIONS, "--ros-args", *rule, "--params-file", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    rcls, ours = map(ast.literal_eval, done.stdout.splitlines())
    assert rcls == ours
    assert "in_2" in rcls, "a name without a slash is for the node wherever it is"
