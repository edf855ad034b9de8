"""Nodes as this workspace makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakSet

from rclpy.node import Node
from rclpy.parameter import Parameter

_made: Final[WeakSet[Node]] = WeakSet()


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


def destroy_nodes() -> None:
    """Destroy every node made here. To be called before the end of the process, whatever it is.

    What is left then is taken apart by Fast DDS's static destructors, beside its own threads: one
    end in twenty crashed (SIGABRT in malloc) when a client left at the same time.
    """
    for node in list(_made):
        node.destroy_node()


def parameters_of(node: Node) -> dict[str, Any]:
    """The parameters `node` was given, by dotted name."""
    return {name: p.value for name, p in node.get_parameters_by_prefix("").items()}
