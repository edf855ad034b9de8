"""A node in memory: the part of rclpy's Node that the stack uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rclpy.callback_groups import CallbackGroup
from rclpy.clock import ClockType
from rclpy.qos import QoSProfile
from rclpy.time import Time

from humanoid_control_common.machine.machine import Machine
from humanoid_stepped.ros.bus import Bus
from humanoid_stepped.ros.entities import (
    Client,
    Entity,
    GuardCondition,
    Publisher,
    Service,
    Subscription,
    Timer,
)
from humanoid_stepped.scheduler import Process

if TYPE_CHECKING:
    from humanoid_stepped.ros.executor import SteppedExecutor

Log = Callable[[str, str], None]  # takes severity and text of a line


class _Parameter:
    """See rclpy."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value


class _End:
    """A publisher or subscription. See rclpy's TopicEndpointInfo."""

    def __init__(self, node_name: str) -> None:
        self.node_name = node_name


class _Clock:
    """The clock of a node. See rclpy."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def now(self) -> Time:
        """See rclpy."""
        nanoseconds = self._machine.system_time_ns()
        return Time(nanoseconds=nanoseconds, clock_type=ClockType.SYSTEM_TIME)


class _Logger:
    """See rclpy."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def debug(self, text: str, **_: Any) -> None:
        """See rclpy."""

    def info(self, text: str, **_: Any) -> None:
        """See rclpy."""
        self._log("info", text)

    def warning(self, text: str, **_: Any) -> None:
        """See rclpy."""
        self._log("warning", text)

    def error(self, text: str, **_: Any) -> None:
        """See rclpy."""
        self._log("error", text)

    def fatal(self, text: str, **_: Any) -> None:
        """See rclpy."""
        self._log("fatal", text)


class SteppedNode:
    """One node. See rclpy's Node, and FixedParameters."""

    settable: Callable[[str], str] = staticmethod(lambda _name: "")

    def __init__(  # noqa: PLR0913 - what a node needs from its session
        self, name: str, *, process: Process, machine: Machine, bus: Bus,
        parameters: Mapping[str, Any], log: Log, namespace: str = "/",
    ) -> None:  # fmt: skip
        self.process, self.machine, self.bus = process, machine, bus
        self.executor: SteppedExecutor | None = None
        self.publishers: list[Publisher] = []
        self.subscriptions: list[Subscription] = []
        self.services: list[Service] = []
        self.clients: list[Client] = []
        self.timers: list[Timer] = []
        self.guards: list[Entity] = []
        self.waitables: list[Entity] = []  # none
        self._name, self._namespace = name, namespace
        self._parameters = dict(parameters)
        self._logger = _Logger(log)

    def notify(self, entity: Entity) -> None:
        """Tell the executor, if there is one yet, that `entity` is ready."""
        if self.executor is not None:
            self.executor.notify(entity)

    def ready(self) -> list[Entity]:
        """Return the entities that are ready."""
        parts = (self.subscriptions, self.services, self.clients, self.timers, self.guards)
        return [entity for part in parts for entity in part if entity.is_ready()]

    # Names.

    def get_name(self) -> str:
        """See rclpy."""
        return self._name

    def get_namespace(self) -> str:
        """See rclpy."""
        return self._namespace

    def get_fully_qualified_name(self) -> str:
        """See rclpy."""
        return f"{self._namespace.rstrip('/')}/{self._name}"

    def resolve_topic_name(self, name: str) -> str:
        """See rclpy."""
        if name.startswith("~"):
            return self.get_fully_qualified_name() + name[1:]
        return name if name.startswith("/") else f"{self._namespace.rstrip('/')}/{name}"

    resolve_service_name = resolve_topic_name

    # Parameters.

    def get_parameters_by_prefix(self, prefix: str) -> dict[str, _Parameter]:
        """See rclpy; the prefix is empty here."""
        assert not prefix
        return {name: _Parameter(name, value) for name, value in self._parameters.items()}

    def describe(self, *_: Any, **__: Any) -> None:
        """See FixedParameters: no service shows parameters here."""

    # Entities.

    def create_publisher(self, kind: Any, topic: str, qos: QoSProfile | int) -> Publisher:
        """See rclpy."""
        publisher = Publisher(self, kind, self.resolve_topic_name(topic), _profile(qos))
        self.publishers.append(publisher)
        return publisher

    def create_subscription(
        self, _kind: Any, topic: str, callback: Callable[..., Any], qos: QoSProfile | int,
        *, raw: bool = False, callback_group: CallbackGroup | None = None,
    ) -> Subscription:  # fmt: skip
        """See rclpy."""
        name = self.resolve_topic_name(topic)
        subscription = Subscription(
            self, name, callback, _profile(qos), raw=raw, group=callback_group
        )
        self.subscriptions.append(subscription)
        return subscription

    def create_service(self, kind: Any, name: str, callback: Callable[..., Any]) -> Service:
        """See rclpy."""
        service = Service(self, kind, self.resolve_service_name(name), callback)
        self.services.append(service)
        return service

    def create_service_of(
        self, owner: SteppedNode, kind: Any, name: str, callback: Callable[..., Any]
    ) -> Service:
        """See ParameterNode."""
        return self.create_service(kind, owner.resolve_service_name(name), callback)

    def create_client(self, kind: Any, name: str) -> Client:
        """See rclpy."""
        client = Client(self, kind, self.resolve_service_name(name))
        self.clients.append(client)
        return client

    def create_timer(self, period: float, callback: Callable[[], Any], clock: Any = None) -> Timer:
        """See rclpy; all clocks are steady here."""
        del clock
        timer = Timer(self, period, callback)
        self.timers.append(timer)
        return timer

    def create_guard_condition(self, callback: Callable[[], Any]) -> GuardCondition:
        """See rclpy."""
        guard = GuardCondition(self, callback)
        self.guards.append(guard)
        return guard

    def destroy_subscription(self, subscription: Subscription) -> None:
        """See rclpy."""
        self.subscriptions.remove(subscription)
        subscription.leave()

    def destroy_client(self, client: Client) -> None:
        """See rclpy."""
        self.clients.remove(client)
        client.leave()

    def destroy_node(self) -> None:
        """See rclpy."""
        for part in (self.publishers, self.subscriptions, self.services, self.clients):
            for entity in part:
                entity.leave()
            part.clear()
        for timer in self.timers:
            timer.cancel()

    # The rest.

    def count_clients(self, service: str) -> int:
        """See rclpy."""
        return len(self.bus.clients.get(self.resolve_service_name(service), ()))

    def count_publishers(self, topic: str) -> int:
        """See rclpy."""
        return len(self.bus.topic(self.resolve_topic_name(topic)).publishers)

    def count_subscribers(self, topic: str) -> int:
        """See rclpy."""
        return len(self.bus.topic(self.resolve_topic_name(topic)).subscriptions)

    def get_publishers_info_by_topic(self, topic: str) -> list[_End]:
        """See rclpy."""
        ends = self.bus.topic(self.resolve_topic_name(topic)).publishers
        return [_End(it.node.get_name()) for it in ends]

    def get_subscriptions_info_by_topic(self, topic: str) -> list[_End]:
        """See rclpy."""
        ends = self.bus.topic(self.resolve_topic_name(topic)).subscriptions
        return [_End(it.node.get_name()) for it in ends]

    def get_clock(self) -> _Clock:
        """See rclpy."""
        return _Clock(self.machine)

    def get_logger(self) -> _Logger:
        """See rclpy."""
        return self._logger


def _profile(qos: QoSProfile | int) -> QoSProfile:
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos
