"""Supervises the commands given as JSON, as `hc up` does: {"label": ["program", "argument"]}."""

import json
import os
import signal
import sys

from humanoid_bringup.supervision import processes
from humanoid_bringup.supervision.early_start import EarlyStart
from humanoid_bringup.supervision.output import Output, supports_colour
from humanoid_bringup.supervision.processes import Command, OrphanReaper
from humanoid_bringup.supervision.supervisor import OWN_LABEL, StopTimeouts, Supervisor
from humanoid_bringup.supervision.terminal_signals import StopSignals


def main() -> int:
    # See `interrupts_wait`: Python's start and these imports could lose an interrupt.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    asked = json.loads(sys.argv[1])
    commands = [
        Command(
            label,
            tuple(arguments),
            required=label not in asked.get("optional", []),
            ready=asked.get("ready", {}).get(label, ""),
            outlives=label in asked.get("outlives", []),
            restarts=label in asked.get("restarts", []),
        )
        for label, arguments in asked["commands"].items()
    ]
    vars(processes).update({"LEAST_LIFE": asked.get("least_life", processes.LEAST_LIFE)})
    with StopSignals() as signals, OrphanReaper(asked.get("guard_timeout", 5.0)) as reaper:
        if "note" in asked:
            with open(asked["note"], "w", encoding="utf-8") as file:
                file.write(str(reaper.folder))
        labels = [command.label for command in commands]
        colour = supports_colour(sys.stdout)
        output = Output(sys.stdout.fileno(), OWN_LABEL, labels, colour=colour)
        interrupt, terminate = asked.get("timeouts", [5.0, 3.0])
        timeouts = StopTimeouts(interrupt, terminate, asked.get("again", 0.0))
        first = [command for command in commands if command.label in asked.get("early", [])]
        with EarlyStart(first, reaper, os.environ) as early:
            supervisor = Supervisor(output, signals, reaper, timeouts, early)
            return supervisor.run(commands, os.environ)


if __name__ == "__main__":
    sys.exit(main())
