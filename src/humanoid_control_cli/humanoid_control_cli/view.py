"""The viewer beside something that `hc` did not bring up: a robot elsewhere, or a recording."""

from __future__ import annotations

import sys

from humanoid_bringup_prime.executables import find_executable
from humanoid_control_cli.bring_up import environment
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.output import Output, wants_colour
from humanoid_control_cli.processes import Command, Guard
from humanoid_control_cli.signals import StopSignals
from humanoid_control_cli.supervisor import OWN_LABEL, Supervisor


def show(host: str, port: int, *beside: Command) -> int:
    """Run the viewer, and what is to run beside it, until one ends. Returns the exit code.

    Raises ConfigError if the viewer is not installed.
    """
    domain = ros_domain()
    program = str(find_executable("humanoid_viz", "viewer"))
    parameters = ("-p", f"host:='{host}'", "-p", f"port:={port}")
    commands = [Command("viewer", (program, "--ros-args", *parameters)), *beside]
    with StopSignals() as signals, Guard() as guard:
        labels = [command.label for command in commands]
        output = Output(sys.stdout.fileno(), OWN_LABEL, labels, colour=wants_colour(sys.stdout))
        output.say(f"showing the robot on ROS_DOMAIN_ID {domain}")
        return Supervisor(output, signals, guard).run(commands, environment())
