"""Nodes as this workspace makes them, and the session they live in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.middleware import tune_middleware

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
