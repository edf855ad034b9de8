"""Entry points. They import late, so that Ctrl-C works from the start."""

import signal
import sys
from collections.abc import Callable, Sequence

from humanoid_control_common.machine.stop_signals import STOP_SIGNALS, ignore_stop_signals
from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the robot in the browser until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.run_node import run

        return run(sleeper, arguments)

    return _until_stopped(run)


def status_marker() -> int:
    """Publish mode and safety as a marker until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.run_periodic import run_periodic
        from humanoid_viz.nodes.status_marker import StatusMarkerNode

        return run_periodic(StatusMarkerNode, sleeper)

    return _until_stopped(run)


def still_model() -> int:
    """Publish a robot that stands still until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.run_periodic import run_periodic
        from humanoid_viz.nodes.still_model import StillModelNode

        return run_periodic(StillModelNode, sleeper)

    return _until_stopped(run)


def _until_stopped(run: Callable[[InterruptibleSleep], int]) -> int:
    sleeper = InterruptibleSleep()
    for number in STOP_SIGNALS:
        signal.signal(number, sleeper.stop)
    try:
        return run(sleeper)
    finally:
        ignore_stop_signals()


if __name__ == "__main__":
    sys.exit(main())
