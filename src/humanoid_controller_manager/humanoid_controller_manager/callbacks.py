"""Executes ROS callbacks and says which one raised, so that none can end the process that does."""

from __future__ import annotations

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
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.stopping import EndRequests

SOURCE: Final = "ros_callbacks"  # of what is reported on /safety_status
# A plug-in's callback is somebody else's code: it may call exit().
CALLBACK_ERRORS: Final = (Exception, SystemExit)
WAY_DOWN_LIMIT: Final = WAY_DOWN  # [s], more than an ordered way down takes
_NAMES: Final = {"topic_name": "topic", "srv_name": "service"}  # of what an entity serves

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """A callback raised, or waiting for one did."""

    node: Node | None  # whose callback it was; None if none was executed
    callback: str  # what is known of it, in words
    error: BaseException

    def __str__(self) -> str:
        """In words, for the operator."""
        where = f" of node '{self.node.get_name()}'" if self.node is not None else ""
        return f"ROS callback {self.callback}{where} raised {self.error!r}"


class CallbackExecutor(SingleThreadedExecutor):  # type: ignore[misc] # rclpy has no types
    """A single-threaded executor that returns what a callback raised."""

    def execute_next(self, timeout: float | None) -> CallbackFailure | None:
        """Execute the next callback, if one is ready within `timeout` [s]. What it failed at.

        None: wait for it without end.
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
    """The function that an entity of a node calls, and what it serves."""
    function = getattr(entity, "callback", None)
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(entity).__name__
    for attribute, what in _NAMES.items():
        if served := getattr(entity, attribute, ""):
            return f"'{name}' ({what} {served})"
    return f"'{name}' ({type(entity).__name__.lower()})"


class FailedCallbacks:
    """What is reported of callbacks that raised."""

    def __init__(self) -> None:
        self._failures: dict[Node, CallbackFailure] = {}  # of controllers: executed no more
        self._acknowledged = False
        self._noted = ""

    def note(self, failure: CallbackFailure) -> None:
        """A callback raised that no motion depends on: a WARNING until it is acknowledged."""
        self._noted = str(failure)

    def close(self, failure: CallbackFailure) -> None:
        """A controller's callback raised: it is a FAULT until it is acknowledged."""
        assert failure.node is not None
        self._failures[failure.node] = failure
        self._acknowledged = False

    def acknowledge(self) -> None:
        """The operator goes on without the topics and services of closed controllers."""
        self._acknowledged, self._noted = True, ""

    def report(self, in_use: Callable[[Node], object]) -> SafetyReport:
        """What is wrong now. A controller that was configured anew has another node `in_use`."""
        closed = [str(failure) for node, failure in self._failures.items() if in_use(node)]
        said = [self._noted] if self._noted else []
        if closed:
            said += [*closed, "its topics and services are closed"]
        if not said:
            return SafetyReport(SOURCE)
        fault = closed and not self._acknowledged
        level = SafetyLevel.FAULT if fault else SafetyLevel.WARNING
        return SafetyReport(SOURCE, level, message="; ".join(said))


class FailureGuard:
    """Decides what becomes of the robot when a callback raises: DAMPING in any case.

    A controller's callbacks are executed no more. Without its own this process could not go on: it
    leads the robot down and ends.

    Args:
        close_plugin: executes no callback any more of a controller; False if it isn't one's.
        leave: has the loop fall to DAMPING for a reason.
        lead_down: whether an end in order begins with a way down.
    """

    def __init__(
        self,
        close_plugin: Callable[[CallbackFailure], bool],
        leave: Callable[[str], None],
        end: EndRequests,
        *,
        lead_down: bool,
    ) -> None:
        self._close_plugin, self._leave = close_plugin, leave
        self._end, self._lead_down = end, lead_down
        self._failed_at: float | None = None  # [s] when a callback of ours raised first

    @property
    def failed(self) -> bool:
        """Whether a callback of this process's own raised."""
        return self._failed_at is not None

    def take(self, failure: CallbackFailure, now: float) -> None:
        """A callback raised at `now` [s]. What raises again on the way down changes nothing."""
        if self.failed:
            return
        logger.error("%s", failure, exc_info=failure.error)
        self._leave(str(failure))
        try:
            closed = self._close_plugin(failure)
        except CALLBACK_ERRORS:
            logger.exception("a plug-in could not be closed")
            closed = False
        if not closed:
            self._failed_at = now
            logger.critical("leading the robot down: the control process can't go on")
            self._end.in_order = self._end.in_order or self._lead_down

    def look(self, now: float) -> None:
        """End the process at once if the way down takes too long: it may need what raised."""
        if self._failed_at is not None and now - self._failed_at > WAY_DOWN_LIMIT:
            self._end.end_at_once()
