"""Subscriptions without an executor: the node takes messages when it needs them.

The viewer and the impedance manager use it, and may import nothing of each other.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine

# The middleware states times of the system's clock [ns]; 0: it does not state this one. The time
# of publishing replaces that of the arrival: it is never later.
STATED: Final = ("received_timestamp", "source_timestamp")

Message = TypeVar("Message")


class PolledGroup(CallbackGroup):  # type: ignore[misc]  # rclpy counts as untyped
    """Keeps its subscriptions out of every executor's wait set."""

    def can_execute(self, entity: Any) -> bool:  # noqa: D102
        return False

    def beginning_execution(self, entity: Any) -> bool:  # noqa: D102
        return False

    def ending_execution(self, entity: Any) -> None:  # noqa: D102
        pass


def taken_now(subscription: Any, message_type: Any) -> Iterator[tuple[bytes, Any]]:
    """Yield the messages that have arrived as they were sent, with rclpy's information.

    Never waits. For the thread that executes the subscription's callbacks.
    """
    # The call that executors make; there is no public one that doesn't wait.
    handle = subscription.handle
    with handle:
        while (one := handle.take_message(message_type, True)) is not None:
            yield one


class PolledTopic(Generic[Message]):
    """A subscription without callback.

    Waking up for each of 200 messages a second costs rclpy 16 % of a core; polling 30 times
    a second costs 2 %.

    Args:
        qos: its depth is the number of messages that are kept between two polls.
    """

    def __init__(
        self,
        node: Node,
        message_type: type[Message],
        topic: str,
        qos: QoSProfile,
        machine: Machine = LINUX,
    ) -> None:
        self._type = message_type
        self._arrivals = ArrivalTimes(machine)
        self._subscription = node.create_subscription(
            message_type, topic, lambda _: None, qos, callback_group=PolledGroup()
        )

    def take(self) -> tuple[Message | None, list[float]]:
        """Return the latest message since the last call, and all arrival times [s, monotonic]."""
        taken = self._taken()
        latest = deserialize_message(taken[-1][0], self._type) if taken else None
        return latest, [arrival for _, arrival in taken]

    def take_all(self) -> Iterator[tuple[Message, float]]:
        """Yield every message since the last call with its arrival time [s, monotonic]."""
        for raw, arrival in self._taken():
            yield deserialize_message(raw, self._type), arrival

    def _taken(self) -> list[tuple[bytes, float]]:
        taken = list(taken_now(self._subscription, self._type))
        arrivals = self._arrivals.of([info for _, info in taken])
        return [(raw, arrival) for (raw, _), arrival in zip(taken, arrivals, strict=True)]


class ArrivalTimes:
    """Converts the arrivals of polled messages from the system's clock to the monotonic clock.

    A message that is taken in a poll arrived between the previous poll and this one. If the
    system's clock was set meanwhile, a message has two possible times: one by the clock before,
    one by the clock after. The earlier of those between the two polls counts, or else the previous
    poll: an old message never looks newer than it is because the clock was set.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._polled, self._ahead = self._read()

    def of(self, infos: list[Mapping[str, int]]) -> list[float]:
        """Return the arrival times [s, monotonic] of all messages of the poll that ends now."""
        since, before = self._polled, self._ahead
        self._polled, self._ahead = now, ahead = self._read()
        arrivals = []
        for info in infos:
            stated = next((info[name] for name in STATED if info[name] > 0), 0)
            possible = [time for time in (stated - before, stated - ahead) if since <= time <= now]
            since = min(possible, default=since)  # messages arrive in their order
            arrivals.append(since * 1e-9)
        return arrivals

    def _read(self) -> tuple[int, int]:
        """Return the monotonic time [ns], and how far the system's clock is ahead of it [ns]."""
        now = self._machine.clock_ns()
        return now, self._machine.system_time_ns() - now
