"""The ROS session of a process: context, logging, nodes with parameters from files."""

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from weakref import WeakSet

from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidTopicNameException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.service import Service

from humanoid_control_common.configuration.node_parameters import FixedParameters
from humanoid_control_common.configuration.parameter_files import for_rcl
from humanoid_control_common.errors import RobotError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.machine.output import printable
from humanoid_control_common.middleware.executor_wakeup import kept_awake
from humanoid_control_common.middleware.limited_close import limited_close
from humanoid_control_common.middleware.ros_context import ros_context
from humanoid_control_common.middleware.ros_log import RosLogHandler
from humanoid_controller_manager.ros.execution.callbacks import CallbackExecutor
from humanoid_controller_manager.ros.execution.kept_triggers import KeptTriggers
from humanoid_controller_manager.ros.execution.prompt_answers import PromptAnswers

SPIN_TIMEOUT: Final = 0.05  # [s] between two checks for the end


class ParameterNode(FixedParameters, PromptAnswers, KeptTriggers, Node):  # type: ignore[misc]
    """A node whose parameters are read once, and whose services never wait for a client.

    No trigger of its guard conditions is lost.
    """

    log_as: RcutilsLogger | None = None  # the logger in the place of its own
    _owner: Node | None = None  # of the service that is being created

    @property
    def handle(self) -> Any:
        """See rclpy's Node."""
        return super().handle if self._owner is None else self._owner.handle

    def create_service_of(
        self, owner: Node, kind: Any, name: str, callback: Callable[..., Any], **options: Any
    ) -> Service:
        """Create a service of node `owner` in the graph, which this node executes and destroys."""
        self._owner = owner
        try:
            return self.create_service(kind, name, callback, **options)
        finally:
            self._owner = None

    def get_logger(self) -> RcutilsLogger:
        """See rclpy's Node."""
        return self.log_as or super().get_logger()

    def destroy_node(self) -> None:
        """See rclpy's Node, which leaves actions: these would keep the node in the graph."""
        for waitable in list(self.waitables):
            destroy = getattr(waitable, "destroy", None)
            if destroy and not isinstance(waitable, EventHandler):  # those go with their topics
                destroy()
        super().destroy_node()


class RosSession:
    """The nodes and executors of a process, and the machine that it runs on."""

    machine: Machine = LINUX

    def __init__(self) -> None:
        self._logger: RcutilsLogger | None = None  # of the first node with a publisher on /rosout
        self._nodes: WeakSet[Node] = WeakSet()
        self._executors: WeakSet[CallbackExecutor] = WeakSet()

    def node(self, name: str, *, services: bool, arguments: Sequence[str] = ()) -> ParameterNode:
        """Return a node that accepts all given parameters; with parameter services if `services`.

        One without them logs under the first node that has them: no publisher on /rosout survives
        the end of another node of its name, such as the one that a controller's new node replaces.

        `arguments`: additional ROS arguments of this node, as after `--ros-args`.
        """
        node = ParameterNode(
            name,
            automatically_declare_parameters_from_overrides=True,
            allow_undeclared_parameters=True,
            # Every service costs the executor's thread time in every round.
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
            start_parameter_services=services,
            enable_rosout=services,
            cli_args=["--ros-args", *arguments] if arguments else None,
        )
        self._nodes.add(node)
        if services:
            self._logger = self._logger or node.get_logger()
        elif self._logger is not None:
            node.log_as = self._logger.get_child(node.get_name())
        return node

    def executor(self, service_period: float = 0.0) -> CallbackExecutor:
        """Return an executor without nodes, for one thread; see CallbackExecutor."""
        executor = CallbackExecutor(self.machine.clock, service_period)
        self._executors.add(executor)
        return executor

    def forward_logging(self, node: Node) -> None:
        """Forward Python's logging, from INFO on, to the log of `node`."""
        root = logging.getLogger()
        root.handlers = [RosLogHandler(node.get_logger())]
        root.setLevel(logging.INFO)

    def close(self) -> None:
        """Shut every executor down and destroy every node made here, before the process ends.

        Otherwise Fast DDS's static destructors destroy the nodes while its threads run: one end in
        twenty crashed (SIGABRT in malloc) when a client left at the same time. And the garbage
        collector may destroy the guard condition of an executor before the executor, whose
        `__del__` then raises.
        """
        with limited_close():
            for executor in list(self._executors):
                executor.shutdown()
            for node in list(self._nodes):
                node.destroy_node()


@contextmanager
def ros_session(arguments: Sequence[str]) -> Iterator[RosSession]:
    """Initialize rclpy with a tuned middleware; at the end close the session."""
    with ExitStack() as stack:
        with for_rcl(arguments) as words:
            stack.enter_context(ros_context(words))
        session = RosSession()
        stack.callback(session.close)
        yield session


def exit_code(run: Callable[[], int]) -> int:
    """Return the result of `run`; on an error of configuration or machine print it and return 1."""
    rcl_error = rclpy_implementation.RCLError
    try:
        return run()
    except (RobotError, rcl_error, InvalidTopicNameException, OSError) as error:
        # OSError and RCLError: no place to write, no HOME, no network.
        # Notes name joints that may still be powered after a failed start.
        text = "\n".join([str(error), *getattr(error, "__notes__", [])])
        sys.stderr.write(f"{printable(text)}\n")
        return 1


def spin_until(ros: RosSession, node: Node, done: Callable[[], object]) -> None:
    """Execute the callbacks of the process's only node until `done`; forward logging to ROS.

    Raises what a callback raises.
    """
    ros.forward_logging(node)
    executor = ros.executor()
    executor.add_node(node)
    with kept_awake(executor.nudge, ros.machine):
        while not done():
            failure = executor.execute_next(SPIN_TIMEOUT)
            if failure is not None:
                raise failure.error


def parameters_of(node: Node) -> dict[str, Any]:
    """Return the parameters of `node` by dotted name."""
    return {name: p.value for name, p in node.get_parameters_by_prefix("").items()}
