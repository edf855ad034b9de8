"""Run the viewer for a robot on another machine, or for a recording."""

import json

from humanoid_bringup.executables import find_executable
from humanoid_bringup.supervision.processes import Command, OrphanReaper
from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_bringup.viewers.viewer_processes import ViewerAddress
from humanoid_control_cli.domain import robot_in_words, robot_namespace
from humanoid_control_cli.up.bring_up import supervise
from humanoid_control_common.robot.robot_namespace import remapping


def show(address: ViewerAddress, *beside: Command) -> int:
    """Run the viewer and the commands `beside` until one ends. Returns the exit code.

    Raises ConfigError if the viewer is not installed.
    """
    banner = f"showing the robot on {robot_in_words()}"
    program = str(find_executable("humanoid_viz", "viewer"))
    # As YAML: an address without quotes would be a number.
    values = {name: json.dumps(value) for name, value in address.parameters.items()}
    parameters = [word for name in values for word in ("-p", f"{name}:={values[name]}")]
    words = (program, "--ros-args", *remapping(robot_namespace()), *parameters)
    commands = [Command("viewer", words), *beside]
    with StopSignals() as signals, OrphanReaper() as reaper:
        return supervise(commands, [banner], signals, reaper)
