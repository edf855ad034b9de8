"""The ROS side of controllers: one node for each configured controller."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rclpy.event_handler import EventHandler
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.configuration.parameter_files import for_rcl, parameter_files
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_controller_manager.controller import CONTROLLER_CONTRACT, Controller, RobotFacts
from humanoid_controller_manager.hardware.result_checks import shown
from humanoid_controller_manager.loop.snapshot import SnapshotListener
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, repr_of
from humanoid_controller_manager.plugins import ROS_SIDES, find_plugin
from humanoid_controller_manager.ros.parameters import (
    ControllerEntry,
    controller_entry,
    node_document,
)
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.process.ros_session import RosSession, parameters_of
from humanoid_controller_manager.ros.topics.progress_topic import publish_progress

_REFUSED = (
    rclpy_implementation.RCLError,
    rclpy_implementation.RCLInvalidROSArgsError,
    rclpy_implementation.UnknownROSArgsError,
    NameValidationException,
)
# The spawner reads them from the controller's own section and hands them to the manager.
_FOR_THE_MANAGER = ("type", "fallback_controllers")


@dataclass(frozen=True, slots=True)
class ControllerNode:
    """See RosSide."""

    context: PluginContext
    document: Document
    executor: Executor

    def attach(
        self, plugin_type: str, instance: object, robot: RobotFacts
    ) -> SnapshotListener | None:
        """See RosSide. Raises ConfigError for a topic or service that cannot be created."""
        attach, node = find_plugin(ROS_SIDES, plugin_type), self.context.node
        model = getattr(instance, "Parameters", None)
        if model is not None:
            _describe(node, model, self.document)
        context = replace(self.context, robot=robot)
        try:
            listener: SnapshotListener | None = None
            if attach:
                listener = attach(context, instance)
            elif _reports_progress(instance):
                listener = publish_progress(context)
        except (ConfigError, *_REFUSED) as error:
            raise ConfigError(f"{node.get_name()}: {error}") from error
        except PLUGIN_ERRORS as error:
            raise ConfigError(f"{node.get_name()}: attach failed: {repr_of(error)}") from error
        if not (listener is None or callable(listener)):
            raise ConfigError(
                f"{node.get_name()}: attach returned {shown(listener)}, expected a function that "
                "takes a Snapshot, or None"
            )
        return listener

    def begin(self) -> None:
        """See RosSide."""
        node = self.context.node
        if _has_callbacks(node):  # a node without callbacks would only slow the executor down
            self.executor.add_node(node)

    @property
    def node(self) -> Node:
        """See RosSide."""
        return self.context.node

    def close(self) -> None:
        """See RosSide."""
        self.executor.remove_node(self.context.node)
        self.context.node.destroy_node()


@dataclass(frozen=True, slots=True)
class ControllerNodes:
    """See RosSideSource.

    Args:
        manager: the node whose parameters list the controllers.
        files: the parameter files of the process, for the places in error messages.
        context_of: makes the context of a plug-in that has its own node.
    """

    manager: Node
    files: Sequence[Document]
    context_of: Callable[[Node], PluginContext]
    executor: Executor
    ros: RosSession

    @property
    def _namespace(self) -> str:
        return checked_namespace(self.manager.get_namespace())

    def entry(self, name: str) -> ControllerEntry:
        """See RosSideSource: from the present parameters of the manager."""
        given = parameters_of(self.manager)
        return controller_entry(name, given, self.files, self._namespace)

    def open(self, name: str, entry: ControllerEntry, *, alone: bool) -> ControllerNode:
        """See RosSideSource: a node with the parameters of the process and of its own files."""
        arguments = [part for file in entry.params_file for part in ("--params-file", file)]
        own = parameter_files(arguments)
        arguments += [part for part in entry.node_options_args if part != "--ros-args"]
        try:
            with for_rcl(arguments, self._namespace) as words:
                node = self.ros.node(name, services=False, arguments=words)
        except _REFUSED as error:
            raise ConfigError(f"controller '{name}': {error}") from error
        found = {k: v for k, v in parameters_of(node).items() if k not in _FOR_THE_MANAGER}
        try:
            if alone:  # a motion of the robot's own policy, for example, is not for another one
                written = node_document(name, {}, own, self._namespace).places
                found = {k: v for k, v in found.items() if tuple(k.split(".")) in written}
            files = own if alone else [*self.files, *own]
            document = node_document(name, found, files, self._namespace)
        except ConfigError:
            node.destroy_node()
            raise
        return ControllerNode(self.context_of(node), document, self.executor)


def _describe(node: Node, model: type[StrictModel], document: Document) -> None:
    node.describe(
        model,
        document,
        when="when the controller is configured",
        remedy="start the robot again, or unload and load the controller",
    )


def _reports_progress(instance: object) -> bool:
    return isinstance(instance, Controller) and "progress" in CONTROLLER_CONTRACT.taken_on(
        type(instance), "controller"
    )


def _has_callbacks(node: Node) -> bool:
    # Publishers have waitables too, for QoS events, which are not used.
    waitables = (w for w in node.waitables if not isinstance(w, EventHandler))
    callbacks = (
        *node.subscriptions, *node.services, *node.clients, *node.timers, *node.guards, *waitables
    )  # fmt: skip
    return len(callbacks) > 0
