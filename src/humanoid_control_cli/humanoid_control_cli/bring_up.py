"""`hc up`: the processes of a bring-up, supervised."""

from __future__ import annotations

import os
import sys

from humanoid_bringup_prime.bringup import notes, plan
from humanoid_bringup_prime.executables import find_executable
from humanoid_bringup_prime.machine.ready import require_machine
from humanoid_bringup_prime.options import Options, Process
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.output import Output, wants_colour
from humanoid_control_cli.processes import Command, Guard
from humanoid_control_cli.signals import StopSignals
from humanoid_control_cli.supervisor import OWN_LABEL, Supervisor
from humanoid_controller_manager.domain_lock import take_domain_lock


def bring_up(options: Options) -> int:
    """Run Prime until it is stopped or a process ends. Returns the exit code.

    Raises ConfigError, before anything is started, for whatever is wrong.
    """
    domain = ros_domain()
    with StopSignals() as signals, Guard() as guard:
        # Refused here, before the robot of the other one is mistaken for ours.
        take_domain_lock().close()
        commands = [*map(_command, plan(options, guard.folder)), _ready(options)]
        warnings = require_machine(options)
        output = Output(
            sys.stdout.fileno(),
            OWN_LABEL,
            [command.label for command in commands],
            colour=wants_colour(sys.stdout),
        )
        output.say(f"bringing up Prime ({options.backend.value}) on ROS_DOMAIN_ID {domain}")
        for note in [*notes(options), *warnings]:
            output.say(note)
        return Supervisor(output, signals, guard).run(commands, environment())


def _ready(options: Options) -> Command:
    """What says when the robot is up, and what to do then."""
    next_command = ["hc calibrate"] if options.calibrate else []
    words = (sys.executable, "-m", "humanoid_control_cli.ready", *next_command)
    return Command("ready", words, required=False)


def _command(process: Process) -> Command:
    program = str(find_executable(process.package, process.executable))
    files = [word for file in process.parameter_files for word in ("--params-file", str(file))]
    arguments = process.arguments or ("--ros-args", *files)
    words = (program, *arguments)
    return Command(process.label, words, process.required, process.ready, process.outlives)


def environment() -> dict[str, str]:
    """The environment of the processes. What the user has set stays."""
    defaults = {
        "RCUTILS_COLORIZED_OUTPUT": "1" if wants_colour(sys.stdout) else "0",  # as ours
        "PYTHONUNBUFFERED": "1",
    }
    return defaults | os.environ
