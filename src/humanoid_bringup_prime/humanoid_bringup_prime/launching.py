"""The processes of a bring-up as launch actions. Only what is native: nothing else imports this."""

from __future__ import annotations

from pathlib import Path

from launch.actions import Shutdown
from launch_ros.actions import Node

from humanoid_bringup_prime.bringup import Options, plan


def actions(options: Options, folder: Path) -> list[Node]:
    """One Node action for each process; when one ends, the launch is shut down."""
    return [
        Node(
            package=process.package,
            executable=process.executable,
            parameters=[str(file) for file in process.parameter_files],
            output="screen",
            on_exit=Shutdown(reason=f"{process.label} ended"),
        )
        for process in plan(options, folder)
    ]
