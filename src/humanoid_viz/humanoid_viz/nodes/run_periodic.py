"""Run a node that repeats one step and serves nothing."""

import sys
from collections.abc import Callable
from typing import Protocol

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.fastdds_tuning import tune_middleware
from humanoid_control_common.middleware.limited_close import limited_close
from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep


class PeriodicNode(Protocol):
    """A node with one step per period."""

    @property
    def period(self) -> float:
        """Time between two steps [s]."""

    def step(self) -> None:
        """Do the step."""

    def destroy_node(self) -> None:
        """See rclpy."""


def run_periodic(make_node: Callable[[], PeriodicNode], sleeper: InterruptibleSleep) -> int:
    """Make the node and step it until `sleeper` is stopped. Return the exit code."""
    tune_middleware(get_rmw_implementation_identifier())
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = make_node()
        try:
            while not sleeper.stopping:
                node.step()
                sleeper.sleep(node.period)
        finally:
            with limited_close():
                node.destroy_node()
    except (ConfigError, ParameterException) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        rclpy.try_shutdown()
    return 0
