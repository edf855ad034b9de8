"""A short-lived ROS node that waits for conditions. The only module that drives rclpy."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final, Self

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier
from std_srvs.srv import Trigger

from humanoid_control_cli.domain import robot_namespace, ros_domain
from humanoid_control_cli.errors import (
    NoAnswerError,
    NoRosError,
    RefusedError,
    busy_control_process,
    no_control_process,
    no_mode_manager,
    silent_control_process,
)
from humanoid_control_cli.interrupts import Interrupts
from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.executor_wakeup import kept_awake
from humanoid_control_common.middleware.fastdds_tuning import tune_middleware
from humanoid_control_common.middleware.limited_close import limited_close
from humanoid_control_common.middleware.type_support import load_type_support

# [s] between two checks of a condition that no message announces; also the latency of Ctrl-C.
CHECK_PERIOD: Final = 0.05
CONTROLLER_MANAGER: Final = "controller_manager"  # node of every control process
MODE_MANAGER: Final = "mode_manager"  # node of a control process that takes requests for modes


def _init() -> None:
    """Initialize rclpy, also without a log file: `hc stop` works on a disk that is read-only."""
    try:
        # Ctrl-C stays Python's.
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError:
        rclpy.try_shutdown()  # a context is initialized once
        without = ["--ros-args", "--disable-external-lib-logs"]
        rclpy.init(args=without, signal_handler_options=SignalHandlerOptions.NO)


class Client:
    """To be used in a `with` statement. `timeout` [s] is how long to wait for an answer.

    Its names are those of the robot in `hc`'s namespace.

    Raises ConfigError for a bad ROS_DOMAIN_ID or namespace, NoRosError.
    """

    def __init__(self, timeout: float) -> None:
        ros_domain()
        namespace = robot_namespace()
        tune_middleware(get_rmw_implementation_identifier())
        load_type_support()
        self.timeout = timeout
        try:
            _init()
            self.node = rclpy.create_node(
                f"hc_{os.getpid()}",
                namespace=namespace,
                enable_rosout=False,
                start_parameter_services=False,
            )
        except RuntimeError as error:  # root of what rcl raises
            rclpy.try_shutdown()
            raise NoRosError(" ".join(str(error).split())) from error
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._callers: dict[str, Any] = {}  # by service: each one costs memory, and is searched for
        self._interrupts = Interrupts()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._open.enter_context(self._interrupts.installed())
        self._open.callback(self._close)
        self._open.enter_context(kept_awake(self._executor.wake))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _close(self) -> None:
        with self._interrupts.held_back(), limited_close():
            self._executor.shutdown()
            self.node.destroy_node()
            rclpy.try_shutdown()

    def subscribe(
        self, message_type: Any, topic: str, callback: Callable[[Any], None], qos: Any = 10
    ) -> None:
        """Call `callback` with every message that arrives while `wait` runs."""
        self.node.create_subscription(message_type, topic, callback, qos)

    def clock(self) -> float:
        """Return the time of the waits [s]."""
        return time.monotonic()

    def wait(self, condition: Callable[[], object], timeout: float) -> bool:
        """Wait until `condition` holds; False if it doesn't within `timeout` [s]."""
        deadline = self.clock() + timeout
        while not condition():
            remaining = deadline - self.clock()
            if remaining <= 0.0:
                return False
            with self._interrupts.held_back():
                self._executor.spin_once(timeout_sec=min(remaining, CHECK_PERIOD))
        return True

    def trigger(self, service: str, absent: RobotError | None = None) -> str:
        """Call a std_srvs/Trigger service, see `accepted`. Returns the message of its response."""
        return str(self.accepted(Trigger, service, Trigger.Request(), absent).message)

    def accepted(
        self, kind: Any, service: str, request: Any, absent: RobotError | None = None
    ) -> Any:
        """Call a service that states whether it succeeded. Returns its response, if it did.

        Raises RefusedError with the message of the response, and what `call` raises.
        """
        response = self.call(kind, service, request, absent)
        if not response.success:
            raise RefusedError(response.message)
        return response

    def call(self, kind: Any, service: str, request: Any, absent: RobotError | None = None) -> Any:
        """Call a service. Returns its response.

        Raises `absent`, or NoAnswerError, if the service is absent or doesn't answer within the
        timeout. The request is withdrawn then: a broken link would deliver it later.
        """
        if service not in self._callers:
            self._callers[service] = self.node.create_client(kind, service)
        caller = self._callers[service]
        if self.wait(caller.service_is_ready, self.timeout):
            call = caller.call_async(request)
            if self.wait(call.done, self.timeout):
                return call.result()
            self.node.destroy_client(self._callers.pop(service))
            raise absent or busy_control_process(self.timeout)
        raise absent or self.no_control_process()

    def no_control_process(self) -> NoAnswerError:
        """Return the error of a silent control process. It names the robots that run elsewhere."""
        nodes, own = self.node.get_node_names_and_namespaces(), self.node.get_namespace()
        if (CONTROLLER_MANAGER, own) in nodes:
            has_modes = (MODE_MANAGER, own) in nodes
            return silent_control_process(self.timeout) if has_modes else no_mode_manager()
        return no_control_process(self.timeout, self.other_robots())

    def other_robots(self) -> list[str]:
        """Return the namespaces of the robots that run on the same domain, but not in this one."""
        nodes, own = self.node.get_node_names_and_namespaces(), self.node.get_namespace()
        found = {namespace for name, namespace in nodes if name == CONTROLLER_MANAGER}
        return sorted(found - {own})
