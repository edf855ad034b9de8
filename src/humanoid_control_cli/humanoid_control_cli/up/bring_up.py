"""`hc up`: the processes of a bring-up, supervised."""

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from humanoid_bringup import virtual_robot
from humanoid_bringup.early_processes import early_processes
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import BACKGROUND, Backend, Options, Process
from humanoid_bringup.supervision.early_start import EarlyStart
from humanoid_bringup.supervision.output import Output, supports_colour
from humanoid_bringup.supervision.processes import Command, OrphanReaper
from humanoid_bringup.supervision.supervisor import OWN_LABEL, Supervisor
from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.domain import robot_in_words
from humanoid_control_common.robot.domain_lock import take_domain_lock


def bring_up(options: Options) -> int:
    """Run the robot until it is stopped or a process ends. Returns the exit code.

    Raises ConfigError for whatever is wrong. No program has read or done anything then: some are
    loaded already, and end.
    """
    where = robot_in_words()
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        reaper = stack.enter_context(OrphanReaper())
        # Refused here: otherwise "ready" could report the robot of another bring-up.
        take_domain_lock(namespace=options.namespace).close()
        # Of two that begin at once each could get some of the locks of their processes: the robot
        # that remains would lack its black box or its impedance manager.
        stack.enter_context(take_domain_lock("bring-up", options.namespace))
        if options.backend is Backend.TWIN:
            stack.callback(virtual_robot.remove_remains, options.namespace)
        first = list(map(_command, early_processes(options, reaper.folder)))
        with EarlyStart(first, reaper, _environment()) as early:
            # While these programs load.
            from humanoid_bringup.plan import notes, plan
            from humanoid_bringup.preflight.ready import require_machine

            commands = [*map(_command, plan(options, reaper.folder)), _ready(options)]
            warnings = require_machine(options)
            banner = f"bringing up {options.robot.title} ({options.backend.value}) on {where}"
            texts = [banner, *notes(options), *warnings]
            return supervise(commands, texts, signals, reaper, early)


def supervise(
    commands: Sequence[Command],
    lines: Sequence[str],
    signals: StopSignals,
    reaper: OrphanReaper,
    early: EarlyStart | None = None,
) -> int:
    """Print `lines` and run the commands until all have ended. Returns the exit code."""
    labels = [command.label for command in commands]
    output = Output(sys.stdout.fileno(), OWN_LABEL, labels, colour=supports_colour(sys.stdout))
    for line in lines:
        output.say(line)
    return Supervisor(output, signals, reaper, early=early).run(commands, _environment())


def _ready(options: Options) -> Command:
    """Return the process that reports when the robot is up, and the next command."""
    next_command = ["hc calibrate"] if options.calibrate else []
    title = options.robot.title
    program = (sys.executable, "-m", "humanoid_control_cli.up.wait_until_up")
    # In the background: the robot is up sooner.
    words = title, "joint stream" if options.joint_stream else "", *next_command
    return Command("ready", (*BACKGROUND, *program, *words), required=False)


def _command(process: Process) -> Command:
    words = (*(BACKGROUND if process.background else ()), *command_line(process))
    it = process
    return Command(it.label, words, it.required, it.ready, it.outlives, it.restarts)


def _environment() -> dict[str, str]:
    """Return the environment of the processes. What the user has set stays."""
    defaults = {
        "RCUTILS_COLORIZED_OUTPUT": "1" if supports_colour(sys.stdout) else "0",  # as ours
        "PYTHONUNBUFFERED": "1",
    }
    return defaults | os.environ
