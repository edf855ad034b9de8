"""Timers of ROS nodes that neither a simulated clock nor a change of the system's clock delays."""

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType


def create_steady_timer(node: Any, period: float, callback: Callable[[], object]) -> Any:
    """Return a timer of `node` that calls `callback` every `period` [s], also with use_sim_time."""
    return node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
