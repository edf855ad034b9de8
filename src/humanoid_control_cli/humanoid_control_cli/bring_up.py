"""`hc up`: the processes of a bring-up, supervised."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)

from humanoid_bringup_prime.bringup import notes, plan
from humanoid_bringup_prime.options import Options, Process
from humanoid_control_cli.bus_check import require_buses
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.output import Output, wants_colour
from humanoid_control_cli.processes import Command, Guard
from humanoid_control_cli.signals import StopSignals
from humanoid_control_cli.supervisor import OWN_LABEL, Supervisor
from humanoid_control_common.errors import ConfigError
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
        warnings = require_buses(options, _hardware_file(options))
        output = Output(
            sys.stdout.fileno(),
            OWN_LABEL,
            [command.label for command in commands],
            colour=wants_colour(sys.stdout),
        )
        output.say(f"bringing up Prime ({options.backend.value}) on ROS_DOMAIN_ID {domain}")
        for note in [*notes(options), *warnings]:
            output.say(note)
        return Supervisor(output, signals, guard).run(commands, _environment())


def _ready(options: Options) -> Command:
    """What says when the robot is up, and what to do then."""
    next_command = ["hc calibrate"] if options.calibrate else []
    words = (sys.executable, "-m", "humanoid_control_cli.ready", *next_command)
    return Command("ready", words, required=False)


def _command(process: Process) -> Command:
    program = str(find_executable(process.package, process.executable))
    files = [word for file in process.parameter_files for word in ("--params-file", str(file))]
    arguments = process.arguments or ("--ros-args", *files)
    return Command(process.label, (program, *arguments), process.required, process.ready)


def _hardware_file(options: Options) -> Path:
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    return options.hardware_config or share / "config/prime_hardware.yaml"


def find_executable(package: str, executable: str) -> Path:
    """Where `ros2 run` finds it too. Raises ConfigError with what to do if it isn't there."""
    remedy = "build the workspace (`make build`) and open it (`source env.sh`)"
    if not package.startswith("humanoid_"):
        remedy = f"it comes with ROS 2: `sudo apt install ros-$ROS_DISTRO-{package}`, not with PyPI"
    try:
        program = Path(get_package_prefix(package)) / "lib" / package / executable
    except PackageNotFoundError:
        raise ConfigError(f"package {package} is not installed: {remedy}") from None
    if not os.access(program, os.X_OK):
        raise ConfigError(f"{program}: no such executable: {remedy}")
    return program


def _environment() -> dict[str, str]:
    """The environment of the processes. What the user has set stays."""
    defaults = {
        "RCUTILS_COLORIZED_OUTPUT": "1" if wants_colour(sys.stdout) else "0",  # as ours
        "PYTHONUNBUFFERED": "1",
    }
    return defaults | os.environ
