"""SDO transfers of all slaves at once, a frame at a time, between two process data exchanges.

Nothing here waits or blocks: whoever owns the bus calls `step` while there is time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from humanoid_devices_erob.mailbox_channel import MailboxChannel
from humanoid_devices_erob.mailbox_port import Access, MailboxLayout, MailboxPort, SdoJob
from humanoid_devices_erob.wire.coe import Emergency
from humanoid_devices_erob.wire.frame import FRAME_ROOM

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
        self._port, self._clock = port, clock
        self._channels = [
            MailboxChannel(slave, layout, clock, on_emergency)
            for slave, layout in enumerate(layouts)
        ]

    @property
    def slave_count(self) -> int:
        """How many slaves there are."""
        return len(self._channels)

    @property
    def next_due(self) -> float:
        """When [s] the next `step` is worth a frame; infinite while there is nothing to do."""
        return min((channel.due for channel in self._channels), default=inf)

    @property
    def late_answers(self) -> int:
        """How many answers have come to requests that had been given up."""
        return sum(channel.late.count for channel in self._channels)

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
        """Exchange one frame, for those that wait longest; False if nobody waits."""
        while due := self._due():
            if asking := self._ask(due):
                answers = self._port.access([access for _, access in asking])
                for (channel, _), answer in zip(asking, answers, strict=True):
                    channel.take(answer)
                return True
        return False

    def _due(self) -> list[MailboxChannel]:
        now = self._clock()
        return sorted((it for it in self._channels if it.due <= now), key=lambda it: it.due)

    @staticmethod
    def _ask(due: list[MailboxChannel]) -> list[tuple[MailboxChannel, Access]]:
        """What those that are due have to ask, as far as it fits into a frame."""
        asking: list[tuple[MailboxChannel, Access]] = []
        room = FRAME_ROOM
        for channel in due:
            if asking and channel.most_bytes > room:
                break
            access = channel.ask()
            if access is not None:
                asking.append((channel, access))
                room -= channel.most_bytes
        return asking
