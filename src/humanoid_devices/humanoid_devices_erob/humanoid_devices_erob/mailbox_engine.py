"""SDO transfers of all slaves at once, a datagram at a time, between two process data exchanges.

Nothing here waits or blocks: whoever owns the bus calls `step` while there is time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from humanoid_devices_erob.mailbox_channel import MailboxChannel
from humanoid_devices_erob.mailbox_port import MailboxLayout, MailboxPort, SdoJob
from humanoid_devices_erob.wire.coe import Emergency

__all__ = ["MailboxEngine", "MailboxLayout", "MailboxPort", "SdoJob"]


class MailboxEngine:
    """One channel per slave. Not thread-safe: one thread submits and steps."""

    def __init__(
        self,
        port: MailboxPort,
        clock: Callable[[], float],
        layouts: Sequence[MailboxLayout],
        on_emergency: Callable[[int, Emergency], None],
    ) -> None:
        """`layouts`: one per slave, in ring order. `clock`: monotonic [s]."""
        self._clock = clock
        self._channels = [
            MailboxChannel(slave, port, layout, clock, on_emergency)
            for slave, layout in enumerate(layouts)
        ]

    @property
    def slave_count(self) -> int:
        """How many slaves there are."""
        return len(self._channels)

    @property
    def next_due(self) -> float:
        """When [s] the next `step` is worth a datagram; infinite while there is nothing to do."""
        return min((channel.due for channel in self._channels), default=inf)

    def submit(self, slave: int, job: SdoJob) -> None:
        """Append a job to those of a slave."""
        self._channels[slave].submit(job)

    def reset(self, slave: int) -> None:
        """Begin the slave's mailbox counters anew, after it was in INIT."""
        self._channels[slave].reset()

    def abandon(self, reason: str) -> None:
        """End all jobs of all slaves, those too that are submitted because others end."""
        while any(channel.due < inf for channel in self._channels):
            for channel in self._channels:
                channel.abandon(reason)

    def step(self) -> bool:
        """Send and receive one datagram for the slave that waits longest; False if none does."""
        while True:
            channel = min(self._channels, key=_due, default=None)
            if channel is None or channel.due > self._clock():
                return False
            if channel.step():
                return True


def _due(channel: MailboxChannel) -> float:
    return channel.due
