"""The ROS side of controllers: a node for each that is configured, with parameters and topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclpy.event_handler import EventHandler
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from humanoid_control_common.config import Document, read_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.parameters import (
    ControllerEntry,
    controller_entry,
    node_document,
)
from humanoid_controller_manager.plugins import ROS_SIDES, find_plugin
from humanoid_controller_manager.ros_host import RosHost
from humanoid_controller_manager.ros_node import configured_node, parameters_of
from humanoid_controller_manager.snapshot import SnapshotListener

_REFUSED = (
    rclpy_implementation.RCLError,
    rclpy_implementation.RCLInvalidROSArgsError,
    rclpy_implementation.UnknownROSArgsError,
    NameValidationException,
)
# The spawner reads them from the controller's own section and hands them to the manager.
_FOR_THE_MANAGER = ("type", "fallback_controllers")


@dataclass(frozen=True, slots=True)
class ControllerSide:
    """See Side."""

    host: RosHost
    document: Document
    executor: Executor

    def attach(self, plugin_type: str, instance: object) -> SnapshotListener | None:
        """See Side. Raises ConfigError for a topic or service that can't be had."""
        attach = find_plugin(ROS_SIDES, plugin_type)
        try:
            listener: SnapshotListener | None = attach(self.host, instance) if attach else None
        except _REFUSED as error:
            raise ConfigError(f"{self.host.node.get_name()}: {error}") from error
        except (Exception, SystemExit) as error:  # plugin code
            raise ConfigError(f"{self.host.node.get_name()}: attach failed: {error!r}") from error
        if _has_callbacks(self.host.node):  # the rest would only slow the executor down
            self.executor.add_node(self.host.node)
        return listener

    def has(self, node: object) -> bool:
        """See Side."""
        return node is self.host.node

    def close(self) -> None:
        """See Side."""
        self.executor.remove_node(self.host.node)
        self.host.node.destroy_node()


@dataclass(frozen=True, slots=True)
class ControllerSides:
    """See Surroundings.

    Args:
        manager: the node whose parameters say which controllers there are.
        files: the parameter files of the process, for the places in error messages.
        host_of: surroundings of a plugin that lives in a node.
    """

    manager: Node
    files: Sequence[Document]
    host_of: Callable[[Node], RosHost]
    executor: Executor

    def entry(self, name: str) -> ControllerEntry:
        """See Surroundings: from the manager's parameters as they are now."""
        return controller_entry(name, parameters_of(self.manager), self.files)

    def open(self, name: str, entry: ControllerEntry) -> ControllerSide:
        """See Surroundings: a node with the parameters of the process and of its own files."""
        own = [read_yaml(Path(file)) for file in entry.params_file]
        arguments = [part for file in entry.params_file for part in ("--params-file", file)]
        arguments += [part for part in entry.node_options_args if part != "--ros-args"]
        try:
            node = configured_node(name, services=False, arguments=arguments)
        except _REFUSED as error:
            raise ConfigError(f"controller '{name}': {error}") from error
        found = {k: v for k, v in parameters_of(node).items() if k not in _FOR_THE_MANAGER}
        try:
            document = node_document(name, found, [*self.files, *own])
        except ConfigError:
            node.destroy_node()
            raise
        return ControllerSide(self.host_of(node), document, self.executor)


def _has_callbacks(node: Node) -> bool:
    # Publishers have waitables too: complaints about QoS, which nobody needs.
    waitables = (w for w in node.waitables if not isinstance(w, EventHandler))
    callbacks = (*node.subscriptions, *node.services, *node.clients, *node.timers, *waitables)
    return len(callbacks) > 0
