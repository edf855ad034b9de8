"""rclpy's context of a process, with a tuned middleware."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.middleware.fastdds_tuning import tune_middleware
from humanoid_control_common.middleware.limited_close import limited_close
from humanoid_control_common.middleware.type_support import load_type_support

AnyNode = TypeVar("AnyNode", bound=Node)


@contextmanager
def ros_context(arguments: Sequence[str] | None = None) -> Iterator[None]:
    """Initialize rclpy with `arguments`, None: the process's own; at the end shut it down.

    Signals stay the program's: rclpy's handlers would end the context before its nodes.
    """
    tune_middleware(get_rmw_implementation_identifier())
    load_type_support()
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield
    finally:
        rclpy.try_shutdown()


@contextmanager
def ros_node(
    make_node: Callable[[], AnyNode], arguments: Sequence[str] | None = None
) -> Iterator[AnyNode]:
    """Make a node in a context of its own, and destroy it: the end of the process may crash it."""
    with ros_context(arguments):
        node = make_node()
        try:
            yield node
        finally:
            with limited_close():
                node.destroy_node()
