"""An executor with a prepared wait set executes the same callbacks as that of rclpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Semaphore, Thread
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import String
from std_srvs.srv import Trigger

from humanoid_control_common.middleware.polled_topic import PolledTopic
from humanoid_controller_manager.ros.execution.callbacks import CallbackExecutor, CallbackFailure

TURNS = 2000  # each waits up to 10 ms: far more than any test needs


class Ros:
    """Nodes of one context, on one executor."""

    def __init__(self, opened: ExitStack, service_period: float = 0.0) -> None:
        self._opened, self.context = opened, Context()
        rclpy.init(context=self.context)
        opened.callback(rclpy.try_shutdown, context=self.context)
        self.time = 0.0  # [s]
        self.waiting = Semaphore(0)  # released when a wait begins
        self.executor = CallbackExecutor(self._clock, service_period, context=self.context)
        opened.callback(self.executor.shutdown)

    def _clock(self) -> float:
        self.waiting.release()
        return self.time

    def node(self, name: str) -> Node:
        node = rclpy.create_node(name, context=self.context, start_parameter_services=False)
        self._opened.callback(node.destroy_node)
        self.executor.add_node(node)
        return node

    def spin_until(self, done: Callable[[], object]) -> list[CallbackFailure]:
        failures = []
        for _ in range(TURNS):
            if done():
                return failures
            failure = self.executor.execute_next(0.01)
            if failure is not None:
                failures.append(failure)
        pytest.fail("not executed")

    def spin_idle(self) -> None:
        """Execute the ready callbacks until none is left."""
        quiet = 0
        while quiet < 10:
            quiet = 0 if self.executor.execute_next(0.01) else quiet + 1


@pytest.fixture
def ros() -> Iterator[Ros]:
    with ExitStack() as opened:
        yield Ros(opened)


def test_timers_subscriptions_guards_services_and_clients_are_executed(ros: Ros) -> None:
    node, heard = ros.node("all"), []
    node.create_timer(0.001, lambda: heard.append("timer"))
    node.create_subscription(String, "said", lambda message: heard.append(message.data), 10)
    guard = node.create_guard_condition(lambda: heard.append("guard"))
    node.create_service(Trigger, "ask", lambda _, response: response)
    client = node.create_client(Trigger, "ask")
    publisher = node.create_publisher(String, "said", 10)
    ros.spin_until(lambda: client.service_is_ready() and publisher.get_subscription_count())
    answer = client.call_async(Trigger.Request())
    publisher.publish(String(data="message"))
    guard.trigger()
    ros.spin_until(lambda: answer.done() and {"timer", "message", "guard"} <= set(heard))


def test_executor_runs_callbacks_created_later_and_no_destroyed_ones(ros: Ros) -> None:
    node, heard = ros.node("changing"), []
    node.create_timer(60.0, lambda: None)
    ros.spin_idle()

    def create() -> None:
        heard.append("created")
        guard.destroy()
        node.create_timer(0.001, lambda: heard.append("later"))

    guard = node.create_guard_condition(create)
    guard.trigger()
    ros.spin_until(lambda: "later" in heard)
    timer = node.create_timer(0.001, lambda: heard.append("destroyed"))
    ros.spin_until(lambda: "destroyed" in heard)
    node.destroy_timer(timer)
    heard.clear()
    ros.spin_until(lambda: len(heard) > 20)
    assert set(heard) == {"later"}


def test_a_node_that_was_removed_executes_nothing_more_even_what_was_ready(ros: Ros) -> None:
    first, second, heard = ros.node("first"), ros.node("second"), []

    def remove(other: Node, name: str) -> None:
        heard.append(name)
        ros.executor.remove_node(other)

    guards = [
        first.create_guard_condition(lambda: remove(second, "first")),
        second.create_guard_condition(lambda: remove(first, "second")),
    ]
    ros.spin_idle()
    for guard in guards:
        guard.trigger()
    ros.spin_until(lambda: heard)
    ros.spin_idle()
    assert len(heard) == 1  # both were ready in the same wait


def test_a_polled_topic_wakes_no_executor(ros: Ros) -> None:
    node, heard = ros.node("polling"), []
    topic = PolledTopic(node, String, "said", QoSProfile(depth=10))
    node.create_subscription(String, "said", lambda message: heard.append(message.data), 10)
    guard = node.create_guard_condition(lambda: heard.append("guard"))
    publisher = node.create_publisher(String, "said", 10)
    ros.spin_until(lambda: publisher.get_subscription_count() == 2)
    publisher.publish(String(data="message"))
    ros.spin_until(lambda: heard)
    guard.trigger()
    ros.executor.execute_next(None)  # subscriptions that are ready come first
    assert heard == ["message", "guard"]
    taken, _ = topic.take()
    assert taken is not None
    assert taken.data == "message"


def test_a_cancelled_timer_is_not_executed(ros: Ros) -> None:
    node, heard = ros.node("timers"), []
    cancelled = node.create_timer(0.001, lambda: heard.append("cancelled"))
    node.create_timer(0.001, cancelled.cancel)
    ros.spin_until(cancelled.is_canceled)
    heard.clear()
    node.create_timer(0.001, lambda: heard.append("other"))
    ros.spin_until(lambda: len(heard) > 20)
    assert "cancelled" not in heard


def test_a_coroutine_goes_on_when_what_it_awaits_is_done_and_others_run_meanwhile(
    ros: Ros,
) -> None:
    node, other, heard = ros.node("waiting"), ros.node("other"), []
    awaited: Future = Future()

    async def wait() -> None:
        heard.append("begun")
        heard.append(await awaited)
        raise KeyError("at the end")

    guard = node.create_guard_condition(wait)
    other.create_timer(0.001, lambda: heard.append("other"))
    guard.trigger()
    ros.spin_until(lambda: heard.count("other") > 10 and "begun" in heard)
    assert heard.count("begun") == 1
    awaited.set_result("end")
    failures = ros.spin_until(lambda: "end" in heard)
    assert [repr(failure.error) for failure in failures] == ["KeyError('at the end')"]
    heard.clear()
    guard.trigger()  # its callback group is free again
    ros.spin_until(lambda: "begun" in heard)


class OwnError(BaseException):
    """No Exception: rclpy does not catch it."""


@pytest.mark.parametrize("error", [KeyError, SystemExit, OwnError])
def test_an_error_of_a_coroutine_is_one_of_its_callback(
    ros: Ros, error: type[BaseException]
) -> None:
    node, other, heard = ros.node("waiting"), ros.node("other"), []
    awaited: Future = Future()

    async def wait() -> None:
        heard.append("begun")
        await awaited
        raise error

    node.create_guard_condition(wait).trigger()
    ros.spin_until(lambda: heard)
    awaited.set_result(None)
    timer = other.create_timer(0.001, lambda: heard.append("other"))
    (failure,) = ros.spin_until(lambda: heard.count("other") > 3)
    assert type(failure.error) is error
    assert failure.node is node
    assert "wait' (guardcondition)" in failure.callback
    other.destroy_timer(timer)
    ros.spin_idle()
    assert not ros.executor._open_tasks


@pytest.mark.parametrize("error", [KeyError, SystemExit, OwnError])
def test_an_error_of_a_done_callback_is_one_of_the_node_that_asked(
    ros: Ros, error: type[BaseException]
) -> None:
    node, other, later = ros.node("asking"), ros.node("other"), []
    other.create_service(Trigger, "asked", lambda _, response: response)
    client = node.create_client(Trigger, "asked")

    def take(_: Future) -> None:
        other.create_timer(0.001, lambda: later.append("executed"))
        raise error

    ros.spin_until(client.service_is_ready)
    client.call_async(Trigger.Request()).add_done_callback(take)
    (failure,) = ros.spin_until(lambda: len(later) == 3)
    assert type(failure.error) is error
    assert failure.node is node
    assert "service asked" in failure.callback


@pytest.mark.parametrize("error", [KeyError, OwnError])
def test_an_error_beside_a_coroutine_that_waits_is_one_of_its_callback(
    ros: Ros, error: type[BaseException]
) -> None:
    node, other, begun = ros.node("waiting"), ros.node("other"), []

    async def wait() -> None:
        begun.append(True)
        await Future()

    def fail() -> None:
        raise error

    node.create_guard_condition(wait).trigger()
    ros.spin_until(lambda: begun)
    guard = other.create_guard_condition(fail)
    for _ in range(2):
        guard.trigger()
        failures = [ros.executor.execute_next(0.01) for _ in range(20)]
        (failure,) = filter(None, failures)
        assert type(failure.error) is error
        assert failure.node is other


def test_a_coroutine_that_begins_while_another_one_waits_goes_on_after_that_has_ended(
    ros: Ros,
) -> None:
    first, second, heard = ros.node("first"), ros.node("second"), []
    awaited = {"first": Future(), "second": Future()}

    def wait_in(name: str) -> Callable[[], Any]:
        async def wait() -> None:
            heard.append(name)
            await awaited[name]
            heard.append(f"end of {name}")

        return wait

    for node in (first, second):
        name = node.get_name()
        node.create_guard_condition(wait_in(name)).trigger()
        ros.spin_until(lambda name=name: name in heard)
    for name, future in awaited.items():
        future.set_result(None)
        ros.spin_until(lambda name=name: f"end of {name}" in heard)


def test_a_coroutine_of_a_removed_node_does_not_go_on(ros: Ros) -> None:
    node, heard = ros.node("removed"), []
    awaited: Future = Future()

    async def wait() -> None:
        heard.append("begun")
        await awaited
        heard.append("end")

    node.create_guard_condition(wait).trigger()
    ros.spin_until(lambda: heard)
    ros.executor.remove_node(node)
    awaited.set_result(None)
    ros.spin_idle()
    assert heard == ["begun"]
    assert not ros.executor._open_tasks


def test_requests_of_services_are_looked_at_once_in_a_period() -> None:
    with ExitStack() as opened:
        ros = Ros(opened, service_period=0.04)
        node, heard = ros.node("asked"), []
        node.create_timer(0.001, lambda: heard.append("timer"))
        node.create_service(Trigger, "ask", lambda _, response: response)
        client = node.create_client(Trigger, "ask")
        ros.spin_until(lambda: heard and client.service_is_ready())
        answer = client.call_async(Trigger.Request())
        heard.clear()
        ros.spin_until(lambda: len(heard) > 20)
        assert not answer.done()
        ros.time = 0.04
        ros.spin_until(answer.done)


def test_a_wait_ends_when_requests_of_services_are_due() -> None:
    with ExitStack() as opened:
        ros = Ros(opened, service_period=0.04)
        node = ros.node("quiet")
        node.create_service(Trigger, "ask", lambda _, response: response)
        client = node.create_client(Trigger, "ask")
        ros.spin_until(client.service_is_ready)
        ros.spin_idle()
        answer = client.call_async(Trigger.Request())
        assert ros.executor.execute_next(None) is None  # would last for ever
        ros.time = 0.04
        ros.spin_until(answer.done)


def test_requests_that_wait_together_are_executed_together() -> None:
    """One in a period would be so slow that the queue of the service loses the others."""
    with ExitStack() as opened:
        ros = Ros(opened, service_period=0.04)
        heard: list[str] = []

        def answer(_: Any, response: Any) -> Any:
            heard.append("request")
            return response

        ros.node("asked").create_service(Trigger, "ask", answer)
        asking = rclpy.create_node("asking", context=ros.context)  # without an executor
        opened.callback(asking.destroy_node)
        client = asking.create_client(Trigger, "ask")
        ros.spin_until(client.service_is_ready)
        ros.spin_idle()
        for _ in range(5):
            client.call_async(Trigger.Request())
        ros.time = 0.04
        ros.spin_until(lambda: len(heard) == 5)


def test_a_service_may_answer_after_it_asked_another_one(ros: Ros) -> None:
    node, other = ros.node("middle"), ros.node("end")
    other.create_service(Trigger, "inner", lambda _, response: response)
    inner = other.create_client(Trigger, "inner")

    async def answer(request: Any, response: Any) -> Any:
        await inner.call_async(request)
        response.message = "asked"
        return response

    node.create_service(Trigger, "outer", answer)
    client = other.create_client(Trigger, "outer")
    ros.spin_until(lambda: client.service_is_ready() and inner.service_is_ready())
    for _ in range(3):
        asked = client.call_async(Trigger.Request())
        ros.spin_until(asked.done)
        assert asked.result().message == "asked"


def test_a_task_is_executed(ros: Ros) -> None:
    task = ros.executor.create_task(lambda: 7)
    ros.spin_until(task.done)
    assert task.result() == 7


class SignalWaitable(Waitable):  # type: ignore[misc] # rclpy has no types
    """A waitable with a guard condition of its own, as an action server has services."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.default_callback_group)
        self.heard = 0
        self._rung, self._index = False, 0
        self._guard = rclpy.guard_condition.GuardCondition(None, None, context=node.context)
        self.ring = self._guard.trigger
        node.add_waitable(self)

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities(0, 1, 0, 0, 0)

    def add_to_wait_set(self, wait_set: Any) -> None:
        self._index = wait_set.add_guard_condition(self._guard.handle)

    def is_ready(self, wait_set: Any) -> bool:
        self._rung |= wait_set.is_ready("guard_condition", self._index)
        return self._rung

    def take_data(self) -> None:
        self._rung = False

    async def execute(self, taken_data: None) -> None:
        self.heard += 1


def test_a_waitable_is_executed(ros: Ros) -> None:
    bell = SignalWaitable(ros.node("bell"))
    for number in range(1, 4):
        bell.ring()
        ros.spin_until(lambda number=number: bell.heard == number)  # type: ignore[misc]


def test_events_of_the_middleware_are_looked_at_once_in_a_second(ros: Ros) -> None:
    node, incompatible = ros.node("events"), []
    callbacks = SubscriptionEventCallbacks(incompatible_qos=incompatible.append)
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(String, "said", lambda _: None, 1, event_callbacks=callbacks)
    ros.spin_idle()
    node.create_publisher(String, "said", best_effort)
    ros.spin_idle()
    assert incompatible == []
    ros.time += 1.0
    ros.spin_until(lambda: incompatible)


def test_a_raising_callback_is_returned_with_its_node(ros: Ros) -> None:
    node = ros.node("raising")
    guard = node.create_guard_condition(lambda: {}["key"])
    guard.trigger()
    failures: list[CallbackFailure | None] = []
    ros.spin_until(lambda: failures.append(ros.executor.execute_next(0.01)) or any(failures))
    (failure,) = [it for it in failures if it]
    assert (failure.node, repr(failure.error)) == (node, "KeyError('key')")


def test_a_callback_that_destroys_its_subscription_and_raises_is_returned(ros: Ros) -> None:
    node = ros.node("destroying")

    def destroy(_: String) -> None:
        node.destroy_subscription(subscription)
        raise KeyError("away")

    subscription = node.create_subscription(String, "said", destroy, 10)
    publisher = node.create_publisher(String, "said", 10)
    ros.spin_until(publisher.get_subscription_count)
    publisher.publish(String(data="message"))
    failures: list[CallbackFailure] = []
    ros.spin_until(lambda: failures.append(ros.executor.execute_next(0.01)) or any(failures))
    (failure,) = filter(None, failures)
    assert (failure.node, str(failure.error)) == (node, "'away'")
    assert "destroy" in failure.callback


def test_nudge_ends_only_a_wait_in_progress(ros: Ros) -> None:
    node, heard = ros.node("nudged"), []
    guard = node.create_guard_condition(lambda: heard.append("executed"))
    ros.spin_idle()
    for waits, expected in ((0.1, ["executed"]), (0.11, [])):
        ros.time = 0.0
        thread = Thread(target=ros.executor.execute_next, args=(None,))
        thread.start()
        while not ros.waiting.acquire(blocking=False):
            pass  # until it waits
        ros.time = waits
        ros.executor.nudge()
        if expected:
            guard.trigger()
        thread.join(timeout=20.0)
        assert heard == expected
        heard.clear()


def test_the_executor_reports_the_end_of_its_context(ros: Ros) -> None:
    ros.node("left")
    rclpy.shutdown(context=ros.context)
    failure = ros.executor.execute_next(0.01)
    assert failure is not None
    assert failure.node is None
