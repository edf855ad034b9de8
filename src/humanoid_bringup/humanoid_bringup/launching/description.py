"""The processes of a bring-up as launch actions, for launch files. Needs ROS 2's launch system."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from launch.actions import ExecuteProcess, LogInfo, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from humanoid_bringup.executables import find_executable
from humanoid_bringup.launching.arguments import DESCRIPTION, Argument, read, refuse_unknown
from humanoid_bringup.launching.shutdown import (
    IGNORE_SIGINT,
    end_after,
    keep_interrupts_out,
    terminate_without_handler,
    when_ended,
)
from humanoid_bringup.options import BACKGROUND, Backend, Options, Process
from humanoid_bringup.plan import notes, plan
from humanoid_bringup.preflight.ready import require_machine
from humanoid_bringup.robot_package import RobotPackage, find_robot
from humanoid_control_common.ending_times import (
    LAST_TO_SIGTERM,
    SIGINT_TO_SIGTERM,
    SIGTERM_TO_SIGKILL,
)
from humanoid_control_common.machine.library_environment import ENVIRONMENT
from humanoid_control_common.robot.domain_lock import take_domain_lock
from launch import Action, LaunchContext, LaunchDescription

# Returns the processes to start and the notes to print first; may write files into the folder.
Start = Callable[[RobotPackage, dict[str, Any], Path], tuple[list[Process], list[str]]]


def bring_up(
    robot: str, backend: Backend, arguments: Sequence[Argument], **fixed: Any
) -> LaunchDescription:
    """Describe the bring-up of `robot`; `arguments` set some options, the others are `fixed`."""

    def start(
        package: RobotPackage, chosen: dict[str, Any], folder: Path
    ) -> tuple[list[Process], list[str]]:
        options = Options(backend=backend, robot=package, **chosen, **fixed)
        # Refuses to start while another robot of this name is up.
        take_domain_lock(namespace=options.namespace).close()
        processes = plan(options, folder)
        return processes, [*notes(options), *require_machine(options)]

    return launched(robot, arguments, start)


def launched(robot: str, arguments: Sequence[Argument], start: Start) -> LaunchDescription:
    """Describe a launch file: declare `arguments`, start the processes that `start` returns.

    A ConfigError of `start` ends the launch in one sentence, before anything is started.
    """

    def actions(context: LaunchContext) -> list[Action]:
        keep_interrupts_out(context)
        refuse_unknown(find_robot(robot), arguments, context)
        chosen = read(arguments, context.launch_configurations)
        package = find_robot(robot, chosen.pop(DESCRIPTION.name, ""))
        folder = Path(tempfile.mkdtemp(prefix="humanoid_control_"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        processes, notes = start(package, chosen, folder)
        for process in processes:
            find_executable(process.package, process.executable)
        return [*(LogInfo(msg=text) for text in notes), *_in_order(processes)]

    declared = [argument.declared() for argument in arguments]
    return LaunchDescription([*declared, OpaqueFunction(function=actions)])


def _in_order(processes: Sequence[Process]) -> list[Action]:
    """Start `processes`, each after the earlier ones that it has to wait for.

    They end in any order, except those that outlive the later ones.
    """
    return _chained([(process, _action(process)) for process in processes])


def _chained(processes: Sequence[tuple[Process, ExecuteProcess]]) -> list[Action]:
    """Return the actions that start `processes` in their order; see `_in_order`."""
    actions: list[Action] = []
    for number, (process, action) in enumerate(processes):
        if not (process.ready or process.outlives):
            at_shutdown = terminate_without_handler(action) if _is_of_workspace(process) else []
            actions += [*at_shutdown, action]
            continue
        rest = processes[number + 1 :]
        at_shutdown = end_after(action, [other for _, other in rest]) if process.outlives else []
        later = _chained(rest)
        if process.ready:
            return [*actions, _when_ready(action, process.ready, later), *at_shutdown, action]
        return [*actions, *at_shutdown, action, *later]
    return actions


def _is_of_workspace(process: Process) -> bool:
    return process.package.startswith("humanoid_")


def _action(process: Process) -> ExecuteProcess:
    common = {
        "output": "screen",
        "on_exit": when_ended(process),
        "prefix": _prefix(process) or None,
        # The way down, and the ordered exit of the drives, take longer than launch's default.
        "sigterm_timeout": str(LAST_TO_SIGTERM if process.outlives else SIGINT_TO_SIGTERM),
        "sigkill_timeout": str(SIGTERM_TO_SIGKILL),
        "additional_env": {
            name: os.environ.get(name, usual) for name, usual in ENVIRONMENT.items()
        },
    }
    if process.arguments:
        program = str(find_executable(process.package, process.executable))
        return ExecuteProcess(cmd=[program, *process.arguments], name=process.label, **common)
    return Node(
        package=process.package,
        executable=process.executable,
        namespace=process.namespace or None,
        exec_name=process.label,
        parameters=[str(file) for file in process.parameter_files],
        **common,
    )


def _prefix(process: Process) -> list[str | LaunchConfiguration]:
    """Return what stands before the program on its command line."""
    background = [f"{' '.join(BACKGROUND)} "] if process.background else []
    return [*background, *([IGNORE_SIGINT] if _is_of_workspace(process) else [])]


def _when_ready(action: ExecuteProcess, sign: str, later: list[Action]) -> Action:
    """Start `later` once, when `action` prints a line that begins with `sign`."""
    waiting = [later]

    def start_when_ready(event: ProcessIO) -> list[Action] | None:
        output = event.text.decode(errors="replace")
        if waiting and any(line.startswith(sign) for line in output.splitlines()):
            return waiting.pop()
        return None

    return RegisterEventHandler(OnProcessIO(target_action=action, on_stdout=start_when_ready))
