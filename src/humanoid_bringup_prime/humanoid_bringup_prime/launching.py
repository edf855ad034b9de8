"""The processes of a bring-up as launch actions. Only what is native: nothing else imports this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ament_index_python.packages import get_package_prefix
from launch.actions import ExecuteProcess, LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessIO
from launch_ros.actions import Node

from humanoid_bringup_prime.bringup import notes, plan
from humanoid_bringup_prime.options import Backend, Backends, Options, Process
from launch import Action

# A drive's ordered exit takes longer than launch's own patience in the worst case.
_PATIENCE: Final = "10"  # [s] from SIGINT to SIGTERM


def real_options(chosen: Mapping[str, str], **more: Any) -> Options:
    """The real robot, from the launch arguments that all its launch files have; and `more`."""

    def file(name: str) -> Path | None:
        return Path(chosen[name]).resolve() if chosen[name] else None

    return Options(
        backend=Backend.REAL,
        backends=Backends(chosen["backends"]),
        ethercat_interface=chosen["ethercat_interface"],
        can_interface=chosen["can_interface"],
        can_channel=chosen["can_channel"],
        viewer=chosen["viewer"] == "true",
        hardware_config=file("hardware_config"),
        calibration_file=file("calibration_file"),
        **more,
    )


def actions(options: Options, folder: Path) -> list[Action]:
    """One action for each process; when a required one ends, the launch is shut down."""
    said = [LogInfo(msg=note) for note in notes(options)]
    return [*said, *_in_order(plan(options, folder))]


def _in_order(processes: Sequence[Process]) -> list[Action]:
    """Start `processes`; those behind one that has to be ready first are started when it is."""
    started: list[Action] = []
    for number, process in enumerate(processes):
        action = _action(process)
        started.append(action)
        if process.ready:
            others = _in_order(processes[number + 1 :])
            return [_when_ready(action, process.ready, others), *started]
    return started


def _action(process: Process) -> ExecuteProcess:
    on_exit = Shutdown(reason=f"{process.label} ended") if process.required else None
    if process.arguments:
        folder = Path(get_package_prefix(process.package)) / "lib" / process.package
        return ExecuteProcess(
            cmd=[str(folder / process.executable), *process.arguments],
            name=process.label,
            output="screen",
            on_exit=on_exit,
            sigterm_timeout=_PATIENCE,
        )
    return Node(
        package=process.package,
        executable=process.executable,
        parameters=[str(file) for file in process.parameter_files],
        output="screen",
        on_exit=on_exit,
    )


def _when_ready(action: ExecuteProcess, sign: str, others: list[Action]) -> Action:
    waiting = [others]

    def look(event: ProcessIO) -> list[Action] | None:
        said = event.text.decode(errors="replace")
        if waiting and any(line.startswith(sign) for line in said.splitlines()):
            return waiting.pop()
        return None

    return RegisterEventHandler(OnProcessIO(target_action=action, on_stdout=look))
