"""The age of messages whose sender may have another clock."""

from collections.abc import Hashable, Mapping
from typing import Any, Final, NotRequired, TypedDict

from humanoid_control_common.machine.machine import Machine
from humanoid_controller_manager.ros.plugin_context import PluginContext

WINDOW: Final = 10.0  # [s] for which the shortest delay counts, at least
MOST_SENDERS: Final = 8
LATEST: Final = 0.5  # [s] a request may be on its way: its sender gives up a later one
LONGEST_WAIT: Final = 1.0  # [s] counted at most: the system's clock may have been set


class MessageInfo(TypedDict):
    """The used fields of rclpy's message information."""

    publication_sequence_number: NotRequired[int | None]  # None: the middleware counts none

    received_timestamp: int  # [ns] of system time; 0: unknown
    source_timestamp: int  # [ns] of the sender's system time; 0: unknown


class MessageAge:
    """Estimates the delay of messages by their send stamps.

    The receive stamp of a middleware may be the time at which the message was taken: then one that
    waited, or was sent again after a network failure, seems fresh. The send stamp does not change,
    but comes from the sender's clock. The shortest time from a sender's stamps to their arrival is
    the difference of the clocks plus the shortest delay; more than that is additional delay. It is
    learned continuously, because clocks drift and are set. After a clock was set, messages may seem
    late for up to two windows, but never fresh.
    """

    def __init__(self) -> None:
        self._shortest: dict[Hashable, _RecentMinimum] = {}

    def arrival(self, info: MessageInfo, context: PluginContext) -> float:
        """Return when a message could have been looked at first [s], on the loop's clock."""
        return context.now() - self.late_by(info, context)

    def late_by(self, info: MessageInfo, context: PluginContext) -> float:
        """Return how late [s] a message is: 0 with simulated time, which differs from the system's.

        Each message of the topic is learned from, so ask for each.
        """
        return 0.0 if context.simulated else self.overdue(info, context.machine)

    def overdue(self, info: MessageInfo, machine: Machine) -> float:
        """Return how long ago [s] a message could have been looked at, by the clocks of `machine`.

        That is its wait since it was received, or its additional delay, if that is longer.
        """
        now = machine.system_time_ns()
        late = self.lateness(_sender(info), info["source_timestamp"], now, machine.clock())
        return max(waiting_time(info["received_timestamp"], now), late)

    def lateness(self, sender: Hashable, sent: int, now: int, monotonic: float) -> float:
        """Return the additional delay [s] of a message.

        Args:
            sender: identity of the sender, as far as the middleware gives one.
            sent: send stamp, of the sender's clock [ns]; 0 if unknown.
            now: the system's time [ns].
            monotonic: time of the monotonic clock [s].
        """
        if sent == 0:
            return 0.0
        if sender not in self._shortest and len(self._shortest) >= MOST_SENDERS:
            del self._shortest[next(iter(self._shortest))]
        shortest = self._shortest.setdefault(sender, _RecentMinimum(monotonic))
        return (now - sent - shortest.of(now - sent, monotonic)) * 1e-9


class _RecentMinimum:
    """The smallest value of the present and the last window."""

    def __init__(self, monotonic: float) -> None:
        self._began = monotonic
        self._last: int | None = None
        self._present: int | None = None

    def of(self, value: int, monotonic: float) -> int:
        if monotonic - self._began > WINDOW:
            self._began, self._last, self._present = monotonic, self._present, None
        self._present = value if self._present is None else min(self._present, value)
        return self._present if self._last is None else min(self._present, self._last)


def waiting_time(received: int, now: int) -> float:
    """Return how long [s] a message has waited, from 0 to LONGEST_WAIT.

    Args:
        received: when the middleware received it, system time [ns]; 0 if unknown.
        now: system time [ns].
    """
    if received == 0:
        return 0.0
    return min(max((now - received) * 1e-9, 0.0), LONGEST_WAIT)


def _sender(info: Mapping[str, Any]) -> Hashable:
    """Return the sender's identity; None with older versions of rclpy."""
    gid = info.get("publisher_gid")
    return None if gid is None else str(gid)
