"""Entry points. They import late, so that Ctrl-C works from the start."""

import signal
import sys
from collections.abc import Callable, Sequence
from typing import Protocol

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.machine.output import printable
from humanoid_control_common.machine.stop_signals import STOP_SIGNALS, ignore_stop_signals
from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep


class PeriodicNode(Protocol):
    """A node with one step per period."""

    @property
    def period(self) -> float:
        """Time between two steps [s]."""

    def step(self) -> None:
        """Do the step."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the robot in the browser until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.run_node import run

        return run(sleeper, arguments)

    return _until_stopped(run)


def status_marker() -> int:
    """Publish mode and safety as a marker until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.status_marker import StatusMarkerNode

        return _run_periodic(StatusMarkerNode, sleeper)

    return _until_stopped(run)


def still_model() -> int:
    """Publish a robot that stands still until SIGINT or SIGTERM. Return the exit code."""

    def run(sleeper: InterruptibleSleep) -> int:
        from humanoid_viz.nodes.still_model import StillModelNode

        return _run_periodic(StillModelNode, sleeper)

    return _until_stopped(run)


def _run_periodic(make_node: Callable[[], PeriodicNode], sleeper: InterruptibleSleep) -> int:
    """Make the node and step it until `sleeper` is stopped. Return the exit code."""
    from rclpy.exceptions import ParameterException

    from humanoid_control_common.middleware.ros_context import ros_node

    try:
        with ros_node(make_node) as node:
            while not sleeper.stopping:
                node.step()
                sleeper.sleep(node.period)
    except (ConfigError, ParameterException) as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return 1
    return 0


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
