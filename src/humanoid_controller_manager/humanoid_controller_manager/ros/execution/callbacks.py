"""Execute ROS callbacks and return their errors, so that no error ends the control process."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from rclpy.context import Context
from rclpy.executors import (
    ConditionReachedException,
    ExternalShutdownException,
    InvalidHandle,
    ShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
    timeout_sec_to_nsec,
)
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.task import Task

from humanoid_control_common.ending_times import WAY_DOWN
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, repr_of
from humanoid_controller_manager.reason_codes import ROS_CALLBACK_RAISED
from humanoid_controller_manager.ros.execution.kept_triggers import take_trigger
from humanoid_controller_manager.ros.execution.prepared_wait_set import (
    WAITABLE,
    PreparedWaitSet,
    Ready,
)
from humanoid_controller_manager.ros.process.end_requests import CallbackNotEndingError, EndRequests

SOURCE: Final = "ros_callbacks"  # on /safety_status
# A plug-in's callback may call exit().
CALLBACK_ERRORS: Final = (Exception, SystemExit, CallbackNotEndingError)
LONG_WAIT: Final = 0.1  # [s], twice the longest wait of an executor that has callbacks to execute
EVENT_PERIOD: Final = 1.0  # [s] between two checks of events such as an incompatible QoS
WAY_DOWN_LIMIT: Final = WAY_DOWN  # [s], longer than an ordered way down
_NAMES: Final = {"topic_name": "topic", "srv_name": "service"}  # attributes of entities

# What a task belongs to: the entity whose callback created it, and its node; None: no callback did.
_Origin = tuple[Any, Node | None]
_NONE: Final = (None, None)
_ORIGIN: Final[ContextVar[_Origin]] = ContextVar("_ORIGIN", default=_NONE)  # of this thread

logger = logging.getLogger(__name__)


class ListenerHangsError(Exception):
    """A listener of snapshots does not return, and nothing was published meanwhile."""


@dataclass(frozen=True, slots=True)
class CallbackFailure:
    """An error of a callback, or of waiting for one."""

    node: Node | None  # whose callback it was; None if none was executed
    callback: str  # its description
    error: BaseException

    def __str__(self) -> str:
        """Return the failure in words, for the operator."""
        if isinstance(self.error, ListenerHangsError):
            return f"{self.callback} {self.error}"
        where = f" of node '{self.node.get_name()}'" if self.node is not None else ""
        return f"ROS callback {self.callback}{where} raised {repr_of(self.error)}"


class CallbackExecutor(SingleThreadedExecutor):  # type: ignore[misc] # rclpy has no types
    """A single-threaded executor that returns the errors of callbacks.

    It waits on a PreparedWaitSet, which it prepares anew when a node reports that its entities
    changed. While a coroutine or a task runs, it waits by rclpy's own method.

    Args:
        clock: returns the monotonic time [s].
        service_period: [s] between two waits for requests of services too; 0: each wait.
    """

    def __init__(
        self,
        clock: Callable[[], float] = LINUX.clock,
        service_period: float = 0.0,
        *,
        context: Context | None = None,
    ) -> None:
        self._clock_of_waits = clock
        self._service_period = service_period
        self._services_due = 0.0  # [s] of the next wait for services, too
        self._changed = True  # nodes or their entities, since the wait set was prepared
        self._prepared: PreparedWaitSet | None = None
        self._ready: deque[Ready] = deque()
        self._open_tasks: dict[Task, _Origin] = {}
        self._round: Iterator[tuple[Task, Any, Node]] | None = None  # of rclpy's own waiting
        self._waiting_since: float | None = None  # [s], monotonic
        self._events_due = 0.0  # [s] of the next wait for events, too
        super().__init__(context=context)
        self._takes: dict[str, Callable[[Any], Any]] = {
            "timer": self._take_timer,
            "subscription": self._take_subscription,
            "guard_condition": self._take_guard_condition,
            "client": self._take_client,
            "service": self._take_service,
            WAITABLE: self._take_waitable,
        }

    def execute_next(self, timeout: float | None) -> CallbackFailure | None:
        """Execute the next callback that is ready within `timeout` [s]; return its failure.

        A `timeout` of None waits without end.
        """
        origin = _NONE
        try:
            if not self._ready and (self._open_tasks or self._round is not None):
                task = self._next_of_rclpy(timeout)
                origin = self._open_tasks.get(task, _NONE)
                error = self._within(origin, lambda: self._resume(task))
            else:
                ready = self._next(timeout)
                if ready is None:
                    return None
                origin = ready.entity, ready.node
                error = self._within(origin, lambda: self._execute(ready))
        except (ShutdownException, TimeoutException, ConditionReachedException):
            return None
        except CALLBACK_ERRORS as raised:
            error = raised
        if error is None:
            return None
        entity, node = origin
        callback = "(none: waiting for the next)" if entity is None else described(entity)
        return CallbackFailure(node, callback, error)

    def nudge(self) -> None:
        """End a wait that lasts; see `kept_awake`."""
        since = self._waiting_since
        if since is not None and self._clock_of_waits() - since > LONG_WAIT:
            super().wake()

    def wake(self) -> None:
        """See Executor: entities of a node changed."""
        self._changed = True
        super().wake()

    def add_node(self, node: Node) -> bool:
        """See Executor."""
        added = bool(super().add_node(node))
        self.wake()
        return added

    def remove_node(self, node: Node) -> None:
        """See Executor."""
        super().remove_node(node)
        for task, (_, its_node) in list(self._open_tasks.items()):
            if its_node is node:
                task.cancel()
        self.wake()

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Task:
        """See Executor."""
        task = super().create_task(callback, *args, **kwargs)
        self._open_tasks[task] = _ORIGIN.get()
        return task

    def _make_handler(self, entity: Any, node: Node, *args: Any) -> Task:
        task = super()._make_handler(entity, node, *args)
        self._open_tasks[task] = entity, node
        return task

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """See Executor."""
        self._release()
        return bool(super().shutdown(timeout_sec))

    def _next(self, timeout: float | None) -> Ready | None:
        """Return an entity that is ready; waits for it only if none is left of the last wait."""
        if self._is_shutdown:
            raise ShutdownException
        if self._changed:
            self._release()
            nodes = self.get_nodes()
            self._ready = deque(ready for ready in self._ready if ready.node in nodes)
        if not self._ready:
            self._ready.extend(self._wait(timeout))
        return self._ready.popleft() if self._ready else None

    def _next_of_rclpy(self, timeout: float | None) -> Task:
        """Return the next task, or callback as a task, of rclpy's own way of waiting."""
        if self._round is None:
            self._round = self._wait_for_ready_callbacks(timeout_sec=timeout)
        step = None
        try:
            step = next(self._round, None)
        finally:
            if step is None:  # all that was ready is executed, or nothing was
                self._round = None
                for task in list(self._open_tasks):  # other threads may add one meanwhile
                    if task.done() or task.cancelled():
                        del self._open_tasks[task]
        if step is None:
            raise TimeoutException
        return step[0]

    def _wait(self, timeout: float | None) -> list[Ready]:
        if self._prepared is None:
            self._changed = False  # before looking: a change meanwhile counts for the next wait
            wakers = (self._guard, self._sigint_gc)
            self._prepared = PreparedWaitSet(self.get_nodes(), wakers, self._context)
        self._waiting_since = now = self._clock_of_waits()
        with_events = now >= self._events_due
        if with_events:
            self._events_due = now + EVENT_PERIOD
        with_services = now >= self._services_due
        if with_services:
            self._services_due = now + self._service_period
        else:
            # Later than due: a timer of about that rate ends the wait first.
            longest = self._services_due - now + 0.5 * self._service_period
            timeout = longest if timeout is None else min(timeout, longest)
        ready = self._prepared.wait(
            timeout_sec_to_nsec(timeout), with_events=with_events, with_services=with_services
        )
        self._waiting_since = None
        if any(it.kind == "service" for it in ready):
            self._services_due = now  # a wait takes one request of each service: more may be there
        if self._is_shutdown:
            raise ShutdownException
        if not self._context.ok():
            raise ExternalShutdownException
        return ready

    def _within(
        self, origin: _Origin, execute: Callable[[], BaseException | None]
    ) -> BaseException | None:
        """Return the error of `execute`; the tasks that it creates are of `origin`, too."""
        before = _ORIGIN.set(origin)
        try:
            return execute()
        finally:
            _ORIGIN.reset(before)

    def _resume(self, task: Task) -> BaseException | None:
        """Execute a task up to its end, or up to where it awaits something."""
        try:
            task()
        except PLUGIN_ERRORS as error:  # of those that are no Exception rclpy knows no end
            task.cancel()
            return error
        return cast("BaseException | None", task.exception())

    def _execute(self, ready: Ready) -> BaseException | None:
        """Execute a callback up to its end, or up to where it awaits something."""
        coroutine = self._handle(ready)
        try:
            coroutine.send(None)
        except StopIteration:
            return None
        except PLUGIN_ERRORS as error:
            return error
        self.create_task(coroutine)
        return None

    async def _handle(self, ready: Ready) -> None:
        entity = ready.entity
        if ready.kind == "timer" and not entity.handle.is_timer_ready():
            return  # cancelled
        if not entity.callback_group.beginning_execution(entity):
            return
        try:
            execute = self._takes[ready.kind](entity)
            if execute is not None:
                await execute()
        finally:
            entity.callback_group.ending_execution(entity)

    def _take_guard_condition(self, guard: GuardCondition) -> Any:
        take_trigger(guard)
        return super()._take_guard_condition(guard)

    def _release(self) -> None:
        if self._prepared is not None:
            self._prepared.close()
            self._prepared = None


def described(entity: Any) -> str:
    """Return the function that an entity of a node calls, and its topic or service."""
    function = getattr(entity, "callback", None)
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or type(entity).__name__
    with suppress(InvalidHandle):  # the callback destroyed its own subscription
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
        request_fall: makes the loop fall to DAMPING for a reason.
        lead_down: whether an ordered end begins with a way down.
    """

    def __init__(
        self,
        close_plugin: Callable[[CallbackFailure], bool],
        request_fall: Callable[[Reason], None],
        end: EndRequests,
        *,
        lead_down: bool,
    ) -> None:
        self._close_plugin, self._request_fall = close_plugin, request_fall
        self._end, self._lead_down = end, lead_down
        self._failed_at: float | None = None  # [s] of the first failure of the process's own

    @property
    def failed(self) -> bool:
        """True once a callback of the control process itself has raised."""
        return self._failed_at is not None

    def handle(self, failure: CallbackFailure, now: float) -> None:
        """React to a failure at `now` [s]. Further ones on the way down change nothing."""
        if self.failed:
            return
        logger.error("%s", failure, exc_info=failure.error)
        self._request_fall(Reason.of(ROS_CALLBACK_RAISED, str(failure)))
        try:
            closed = self._close_plugin(failure)
        except CALLBACK_ERRORS:
            logger.exception("a plug-in could not be closed")
            closed = False
        if not closed:
            self._failed_at = now
            logger.critical("leading the robot down: the control process cannot continue")
            self._end.in_order = self._end.in_order or self._lead_down

    def enforce_time_limit(self, now: float) -> None:
        """End the process at once if the way down takes too long: it may need the callback."""
        if self._failed_at is not None and now - self._failed_at > WAY_DOWN_LIMIT:
            self._end.end_at_once()
