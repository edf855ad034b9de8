"""Nodes as this workspace makes them, and the session they live in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware import tune_middleware
from humanoid_control_common.waking import kept_awake
from humanoid_controller_manager.ros_logging import forward_logging

SPIN_TIMEOUT: Final = 0.05  # [s] until a request to end is noticed

_made: Final[WeakSet[Node]] = WeakSet()


@contextmanager
def ros_session(arguments: Sequence[str]) -> Iterator[None]:
    """Rclpy with a tuned middleware; at the end the nodes made here are destroyed."""
    tune_middleware(get_rmw_implementation_identifier())
    # rclpy's own handlers would end the context before the hardware is disabled.
    rclpy.init(args=list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield
    finally:
        _destroy_nodes()
        rclpy.try_shutdown()


def exit_code(run: Callable[[], int]) -> int:
    """What `run` returns; 1 if the configuration or the machine is not as it should be.

    What is wrong then stands on stderr, in a sentence.
    """
    rcl_error = rclpy_implementation.RCLError
    try:
        return run()
    except (RobotError, rcl_error, InvalidTopicNameException, OSError) as error:
        # OSError and RCLError: no place to write, no HOME, no network.
        # Notes say what may still be powered after a start that failed half way.
        sys.stderr.write("\n".join([str(error), *getattr(error, "__notes__", [])]) + "\n")
        return 1


def spin_until(node: Node, done: Callable[[], object]) -> None:
    """Execute the callbacks of a process's only node until `done`; its logging goes to ROS."""
    forward_logging(node.get_logger())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    with kept_awake(executor):
        while not done():
            executor.spin_once(timeout_sec=SPIN_TIMEOUT)


def configured_node(name: str, *, services: bool, arguments: Sequence[str] = ()) -> Node:
    """A node that takes whatever parameters it is given; `services` to set them while running.

    `arguments` are its own, beside those of the process, as on a command line after `--ros-args`.
    """
    node = Node(
        name,
        automatically_declare_parameters_from_overrides=True,
        allow_undeclared_parameters=True,
        # Every service costs the executor's thread time in every round.
        parameter_overrides=[Parameter("start_type_description_service", value=False)],
        start_parameter_services=services,
        enable_rosout=services,
        cli_args=["--ros-args", *arguments] if arguments else None,
    )
    _made.add(node)
    return node


def _destroy_nodes() -> None:
    """Destroy every node made here. To be called before the end of the process, whatever it is.

    What is left then is taken apart by Fast DDS's static destructors, beside its own threads: one
    end in twenty crashed (SIGABRT in malloc) when a client left at the same time.
    """
    for node in list(_made):
        node.destroy_node()


def parameters_of(node: Node) -> dict[str, Any]:
    """The parameters `node` was given, by dotted name."""
    return {name: p.value for name, p in node.get_parameters_by_prefix("").items()}
