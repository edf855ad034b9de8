"""The processes of a bring-up as launch actions. Only what is native: nothing else imports this."""

from __future__ import annotations

from pathlib import Path

from launch.actions import LogInfo, Shutdown
from launch_ros.actions import Node

from humanoid_bringup_prime.bringup import Options, notes, plan
from launch import Action


def actions(options: Options, folder: Path) -> list[Action]:
    """One Node action for each process; when a required one ends, the launch is shut down."""
    nodes = [
        Node(
            package=process.package,
            executable=process.executable,
            parameters=[str(file) for file in process.parameter_files],
            output="screen",
            on_exit=Shutdown(reason=f"{process.label} ended") if process.required else None,
        )
        for process in plan(options, folder)
    ]
    return [*(LogInfo(msg=note) for note in notes(options)), *nodes]
