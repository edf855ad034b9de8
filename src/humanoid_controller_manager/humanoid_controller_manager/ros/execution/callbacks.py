"""Executes ROS callbacks and returns their errors, so that none ends the control process."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from rclpy.executors import (
    ConditionReachedException,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.node import Node

from humanoid_control_common.ending_times import WAY_DOWN
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.reason_codes import ROS_CALLBACK_RAISED
from humanoid_controller_manager.ros.process.stop_signals import EndRequests

SOURCE: Final = "ros_callbacks"  # on /safety_status
# A plug-in's callback may call exit().
CALLBACK_ERRORS: Final = (Exception, SystemExit)
WAY_DOWN_LIMIT: Final = WAY_DOWN  # [s], longer than an ordered way down
_NAMES: Final = {"topic_name": "topic", "srv_name": "service"}  # attributes of entities

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """An error of a callback, or of waiting for one."""

    node: Node | None  # whose callback it was; None if none was executed
    callback: str  # its description
    error: BaseException

    def __str__(self) -> str:
        """Return the failure in words, for the operator."""
        where = f" of node '{self.node.get_name()}'" if self.node is not None else ""
        return f"ROS callback {self.callback}{where} raised {self.error!r}"


class CallbackExecutor(SingleThreadedExecutor):  # type: ignore[misc] # rclpy has no types
    """A single-threaded executor that returns the errors of callbacks."""

    def execute_next(self, timeout: float | None) -> CallbackFailure | None:
        """Execute the next callback that is ready within `timeout` [s]; return its failure.

        A `timeout` of None waits without end.
        """
        node: Node | None = None
        callback = "(none: waiting for the next)"
        try:
            handler, entity, node = self.wait_for_ready_callbacks(timeout_sec=timeout)
            callback = described(entity)
            handler()
            error = handler.exception()
        except (ShutdownException, TimeoutException, ConditionReachedException):
            return None
        except CALLBACK_ERRORS as raised:
            error = raised
        return None if error is None else CallbackFailure(node, callback, error)


def described(entity: Any) -> str:
    """Return the function that an entity of a node calls, and its topic or service."""
    function = getattr(entity, "callback", None)
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(entity).__name__
    for attribute, what in _NAMES.items():
        if served := getattr(entity, attribute, ""):
            return f"'{name}' ({what} {served})"
    return f"'{name}' ({type(entity).__name__.lower()})"


class FailedCallbacks:
    """Makes the safety report on callbacks that raised."""

    def __init__(self) -> None:
        self._failures: dict[Node, CallbackFailure] = {}  # of controllers whose node is closed
        self._acknowledged = False
        self._noted = ""

    def note(self, failure: CallbackFailure) -> None:
        """Report a callback that no motion depends on: a WARNING until `acknowledge`."""
        self._noted = str(failure)

    def close(self, failure: CallbackFailure) -> None:
        """Report a controller's callback, whose node is closed: a FAULT until `acknowledge`."""
        assert failure.node is not None
        self._failures[failure.node] = failure
        self._acknowledged = False

    def acknowledge(self) -> None:
        """Lower closed nodes to a WARNING: the operator continues without them."""
        self._acknowledged, self._noted = True, ""

    def report(self, in_use: Callable[[Node], object]) -> SafetyReport:
        """Return the report. A node is not `in_use` once its controller is configured anew."""
        closed = [str(failure) for node, failure in self._failures.items() if in_use(node)]
        texts = [self._noted] if self._noted else []
        if closed:
            texts += [*closed, "its topics and services are closed"]
        if not texts:
            return SafetyReport(SOURCE)
        fault = closed and not self._acknowledged
        level = SafetyLevel.FAULT if fault else SafetyLevel.WARNING
        codes = (ROS_CALLBACK_RAISED.name,)
        return SafetyReport(SOURCE, level, message="; ".join(texts), codes=codes)


class FailureGuard:
    """Reacts to a callback that raises: DAMPING in any case.

    If it is a controller's, its node is closed. If it is the control process's own, the process
    cannot continue: it leads the robot down and ends.

    Args:
        close_plugin: closes the node of a controller; returns False if it is not a controller's.
        leave: makes the loop fall to DAMPING for a reason.
        lead_down: whether an ordered end begins with a way down.
    """

    def __init__(
        self,
        close_plugin: Callable[[CallbackFailure], bool],
        leave: Callable[[Reason], None],
        end: EndRequests,
        *,
        lead_down: bool,
    ) -> None:
        self._close_plugin, self._leave = close_plugin, leave
        self._end, self._lead_down = end, lead_down
        self._failed_at: float | None = None  # [s] of the first failure of the process's own

    @property
    def failed(self) -> bool:
        """True once a callback of the control process itself has raised."""
        return self._failed_at is not None

    def take(self, failure: CallbackFailure, now: float) -> None:
        """React to a failure at `now` [s]. Further ones on the way down change nothing."""
        if self.failed:
            return
        logger.error("%s", failure, exc_info=failure.error)
        self._leave(Reason.of(ROS_CALLBACK_RAISED, str(failure)))
        try:
            closed = self._close_plugin(failure)
        except CALLBACK_ERRORS:
            logger.exception("a plug-in could not be closed")
            closed = False
        if not closed:
            self._failed_at = now
            logger.critical("leading the robot down: the control process cannot continue")
            self._end.in_order = self._end.in_order or self._lead_down

    def look(self, now: float) -> None:
        """End the process at once if the way down takes too long: it may need the callback."""
        if self._failed_at is not None and now - self._failed_at > WAY_DOWN_LIMIT:
            self._end.end_at_once()
