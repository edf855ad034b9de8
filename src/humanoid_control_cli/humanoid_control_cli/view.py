"""The viewer beside something that `hc` did not bring up: a robot elsewhere, or a recording."""

from __future__ import annotations

import json
import sys

from humanoid_bringup_prime.desktop import ViewerAddress
from humanoid_bringup_prime.executables import find_executable
from humanoid_control_cli.bring_up import environment
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.output import Output, wants_colour
from humanoid_control_cli.processes import Command, Guard
from humanoid_control_cli.signals import StopSignals
from humanoid_control_cli.supervisor import OWN_LABEL, Supervisor


def show(address: ViewerAddress, *beside: Command) -> int:
    """Run the viewer, and what is to run beside it, until one ends. Returns the exit code.

    Raises ConfigError if the viewer is not installed.
    """
    domain = ros_domain()
    program = str(find_executable("humanoid_viz", "viewer"))
    # As YAML: an address without quotes would be a number.
    values = {name: json.dumps(value) for name, value in address.parameters.items()}
    parameters = [word for name in values for word in ("-p", f"{name}:={values[name]}")]
    commands = [Command("viewer", (program, "--ros-args", *parameters)), *beside]
    with StopSignals() as signals, Guard() as guard:
        labels = [command.label for command in commands]
        output = Output(sys.stdout.fileno(), OWN_LABEL, labels, colour=wants_colour(sys.stdout))
        output.say(f"showing the robot on ROS_DOMAIN_ID {domain}")
        return Supervisor(output, signals, guard).run(commands, environment())
