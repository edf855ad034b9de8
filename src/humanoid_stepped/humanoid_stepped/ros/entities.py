"""The entities of a node: publishers, subscriptions, services, clients, timers, guard conditions.

Each has the part of rclpy's interface that the stack uses. An entity that becomes ready notifies
the executor of its node; `execute` runs its callback.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future

from humanoid_control_common.middleware.polled_topic import PolledGroup
from humanoid_stepped.ros.bus import CarriedMessage, copied, fits

if TYPE_CHECKING:
    from humanoid_stepped.ros.node import SteppedNode


class Entity:
    """Something with a callback; `waiting` counts what is to be executed."""

    def __init__(self, node: SteppedNode, callback: Callable[..., Any]) -> None:
        self.node, self.callback = node, callback

    def is_ready(self) -> bool:
        """Return whether there is something to execute."""
        raise NotImplementedError

    def execute(self) -> None:
        """Execute the callback once."""
        raise NotImplementedError


class Publisher:
    """See rclpy."""

    def __init__(self, node: SteppedNode, kind: Any, topic: str, qos: QoSProfile) -> None:
        self.node, self.msg_type, self.topic_name, self.qos = node, kind, topic, qos
        depth = qos.depth if qos.durability is DurabilityPolicy.TRANSIENT_LOCAL else 0
        self.kept: deque[CarriedMessage] = deque(maxlen=depth)
        node.bus.topic(topic).publishers.append(self)

    def publish(self, message: Any) -> None:
        """See rclpy: a message, or the bytes of one."""
        if not isinstance(message, self.msg_type | bytes):
            raise TypeError(f"{self.topic_name}: {type(message)} is no {self.msg_type}")
        carried = CarriedMessage(self.msg_type, message)
        self.kept.append(carried)
        self.node.bus.publish(self, carried)

    def get_subscription_count(self) -> int:
        """See rclpy."""
        subscriptions = self.node.bus.topic(self.topic_name).subscriptions
        return sum(fits(self.qos, it.qos) for it in subscriptions)

    def leave(self) -> None:
        """Leave the topic."""
        self.node.bus.topic(self.topic_name).publishers.remove(self)


class Handle:
    """The handle of a subscription, as `taken_now` uses it. See rclpy."""

    def __init__(self, queue: deque[tuple[CarriedMessage, dict[str, Any]]]) -> None:
        self._queue = queue

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def take_message(self, _kind: Any, raw: bool) -> tuple[bytes, dict[str, Any]] | None:
        """See rclpy."""
        assert raw
        if not self._queue:
            return None
        message, info = self._queue.popleft()
        return message.data, info


class Subscription(Entity):
    """See rclpy."""

    def __init__(
        self, node: SteppedNode, topic: str, callback: Callable[..., Any], qos: QoSProfile,
        *, raw: bool, group: CallbackGroup | None,
    ) -> None:  # fmt: skip
        super().__init__(node, callback)
        self.topic_name, self.qos, self._raw = topic, qos, raw
        self._queue: deque[tuple[CarriedMessage, dict[str, Any]]]
        self._queue = deque(maxlen=max(qos.depth, 1))
        self._polled = isinstance(group, PolledGroup)
        self.handle = Handle(self._queue)
        self._with_info = len(inspect.signature(callback).parameters) > 1
        node.bus.join(self)

    def arrive(self, message: CarriedMessage, sent: int, number: int | None = None) -> None:
        """Take a message that was sent at `sent` [ns]; a full queue drops its oldest.

        `number`: of its publisher's messages; None, as of a middleware that does not count.
        """
        now = self.node.machine.system_time_ns()
        age = self.node.bus.scheduler.now - sent
        info = {
            "received_timestamp": now,
            "source_timestamp": now - age,
            "publisher_gid": None,
            "publication_sequence_number": number,
        }
        self._queue.append((message, info))
        if self.is_ready():
            self.node.notify(self)

    def is_ready(self) -> bool:
        """See Entity."""
        return bool(self._queue) and not self._polled

    def execute(self) -> None:
        """See Entity."""
        message, info = self._queue.popleft()
        taken = message.data if self._raw else message.received()
        if self._with_info:
            self.callback(taken, info)
        else:
            self.callback(taken)

    def leave(self) -> None:
        """Leave the topic."""
        self.node.bus.topic(self.topic_name).subscriptions.remove(self)


class Service(Entity):
    """See rclpy. `send_response` may be replaced, as DeferredService does."""

    def __init__(
        self, node: SteppedNode, kind: Any, name: str, callback: Callable[..., Any]
    ) -> None:
        super().__init__(node, callback)
        self.srv_type, self.srv_name = kind, name
        self._requests: deque[tuple[Any, Call]] = deque()
        self.send_response: Callable[[Any, Any], None] = self._send
        node.bus.services.setdefault(name, []).append(self)

    def arrive(self, request: Any, call: Call) -> None:
        """Take a request."""
        self._requests.append((request, call))
        self.node.notify(self)

    def is_ready(self) -> bool:
        """See Entity."""
        return bool(self._requests)

    def execute(self) -> None:
        """See Entity."""
        request, call = self._requests.popleft()
        response = self.callback(request, self.srv_type.Response())
        self.send_response(response, call)

    def leave(self) -> None:
        """Withdraw the service."""
        self.node.bus.services[self.srv_name].remove(self)

    def _send(self, response: Any, call: Call) -> None:
        if not self.node.process.killed:
            sent = copied(response)
            self.node.bus.carry(self, call.client, lambda: call.client.arrive(sent, call))


class Call:
    """A request under way."""

    def __init__(self, client: Client, future: Any) -> None:
        self.client, self.future = client, future


class Client(Entity):
    """See rclpy."""

    def __init__(self, node: SteppedNode, kind: Any, name: str) -> None:
        super().__init__(node, lambda: None)
        self.srv_type, self.srv_name = kind, name
        self._pending: list[Call] = []
        self._responses: deque[tuple[Any, Call]] = deque()
        node.bus.clients.setdefault(name, []).append(self)

    def service_is_ready(self) -> bool:
        """See rclpy."""
        return bool(self.node.bus.services.get(self.srv_name))

    def call_async(self, request: Any) -> Any:
        """See rclpy."""
        call = Call(self, Future())
        self._pending.append(call)
        offered = self.node.bus.services.get(self.srv_name)
        if offered:
            service, sent = offered[0], copied(request)
            self.node.bus.carry(self, service, lambda: service.arrive(sent, call))
        return call.future

    def remove_pending_request(self, future: Any) -> None:
        """See rclpy."""
        self._pending = [call for call in self._pending if call.future is not future]

    def arrive(self, response: Any, call: Call) -> None:
        """Take a response."""
        self._responses.append((response, call))
        self.node.notify(self)

    def is_ready(self) -> bool:
        """See Entity."""
        return bool(self._responses)

    def execute(self) -> None:
        """See Entity."""
        response, call = self._responses.popleft()
        if call in self._pending:
            self._pending.remove(call)
            call.future.set_result(response)

    def leave(self) -> None:
        """Withdraw the client."""
        self.node.bus.clients[self.srv_name].remove(self)


class GuardCondition(Entity):
    """See rclpy."""

    _triggered = False

    def trigger(self) -> None:
        """See rclpy."""
        self._triggered = True
        self.node.notify(self)

    def is_ready(self) -> bool:
        """See Entity."""
        return self._triggered

    def execute(self) -> None:
        """See Entity."""
        self._triggered = False
        self.callback()


class Timer(Entity):
    """See rclpy: missed calls are skipped."""

    def __init__(self, node: SteppedNode, period: float, callback: Callable[[], Any]) -> None:
        super().__init__(node, callback)
        self._period = round(period * 1e9)
        self._number = 0  # of the latest start: calls of earlier ones do not count
        self._due: int | None = None  # [ns]; None: cancelled
        self._start(node.bus.scheduler.now + self._period)

    def reset(self) -> None:
        """See rclpy."""
        self._start(self.node.bus.scheduler.now + self._period)

    def cancel(self) -> None:
        """See rclpy."""
        self._due = None

    def is_ready(self) -> bool:
        """See Entity."""
        return self._due is not None and self._due <= self.node.bus.scheduler.now

    def execute(self) -> None:
        """See Entity."""
        now, due = self.node.bus.scheduler.now, self._due
        assert due is not None  # it is ready
        self._start(due + (now - due) // self._period * self._period + self._period)
        self.callback()

    def _start(self, due: int) -> None:
        self._due = due
        self._number += 1
        number = self._number
        self.node.bus.scheduler.call_at(due, lambda: self._ring(number))

    def _ring(self, number: int) -> None:
        if number == self._number and self._due is not None:
            self.node.notify(self)
