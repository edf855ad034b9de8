"""Run a node that repeats one step and serves nothing."""

import sys
from collections.abc import Callable
from typing import Protocol

from rclpy.exceptions import ParameterException

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.ros_context import ros_node
from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep


class PeriodicNode(Protocol):
    """A node with one step per period."""

    @property
    def period(self) -> float:
        """Time between two steps [s]."""

    def step(self) -> None:
        """Do the step."""


def run_periodic(make_node: Callable[[], PeriodicNode], sleeper: InterruptibleSleep) -> int:
    """Make the node and step it until `sleeper` is stopped. Return the exit code."""
    try:
        with ros_node(make_node) as node:
            while not sleeper.stopping:
                node.step()
                sleeper.sleep(node.period)
    except (ConfigError, ParameterException) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
