"""SDO transfers of all slaves at once, a frame at a time, between two process data exchanges.

The owner of the bus calls `step` while there is time; nothing here waits.
"""

from collections.abc import Callable, Sequence
from math import inf

from humanoid_devices_erob.mailbox.mailbox_channel import MailboxChannel, SdoJob
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxLayout, MailboxPort
from humanoid_devices_erob.protocol.coe import Emergency
from humanoid_devices_erob.protocol.frame import FRAME_ROOM


def ignore_emergency(slave: int, emergency: Emergency) -> None:
    """Before operation a drive's error is read, so its emergency messages are not needed."""


class MailboxEngine:
    """One channel per slave, for one thread; `on_emergency` gets the slaves' emergency messages."""

    def __init__(
        self, port: MailboxPort, clock: Callable[[], float], layouts: Sequence[MailboxLayout]
    ) -> None:
        """`layouts`: one per slave, in ring order. `clock`: monotonic [s]."""
        self.on_emergency: Callable[[int, Emergency], None] = ignore_emergency
        self._port, self._clock = port, clock
        self._under_way: list[MailboxChannel] = []  # whose datagrams are in the frame under way

        def report(slave: int, emergency: Emergency) -> None:
            self.on_emergency(slave, emergency)  # the present one

        self._channels = [
            MailboxChannel(slave, layout, clock, report) for slave, layout in enumerate(layouts)
        ]

    @property
    def slave_count(self) -> int:
        """Return the number of slaves."""
        return len(self._channels)

    @property
    def next_due(self) -> float:
        """Return when [s] the next `step` has a frame to exchange; infinite if never."""
        return min((channel.due for channel in self._channels), default=inf)

    @property
    def late_answers(self) -> int:
        """Return the number of answers to requests that had been given up."""
        return sum(channel.late.count for channel in self._channels)

    def submit(self, slave: int, job: SdoJob) -> None:
        """Append a job of a slave."""
        self._channels[slave].submit(job)

    def reset(self, slave: int) -> None:
        """Reset the slave's mailbox counters, after it was in INIT."""
        self._take(inf)
        self._channels[slave].reset()

    def abandon(self, reason: str) -> None:
        """End all jobs of all slaves, including those submitted because others end."""
        self._take(inf)
        while any(channel.due < inf for channel in self._channels):
            for channel in self._channels:
                channel.abandon(reason)

    def step(self, until: float = inf) -> bool:
        """Exchange one frame for the channels that wait longest; False if none is due.

        The answer is waited for up to `until` [s]. If it is not there then, the next call takes it.
        """
        if not self._under_way and not self._send():
            return False
        self._take(until)
        return True

    def _send(self) -> bool:
        while due := self._due():
            if datagrams := self._datagrams(due):
                self._port.begin([access for _, access in datagrams])
                self._under_way = [channel for channel, _ in datagrams]
                return True
        return False

    def _take(self, until: float) -> None:
        """Give the answer to the frame under way, if there is one, to its channels."""
        if not self._under_way:
            return
        answers = self._port.finish(until - self._clock())
        if answers is not None:
            channels, self._under_way = self._under_way, []
            for channel, answer in zip(channels, answers, strict=True):
                channel.take(answer)

    def _due(self) -> list[MailboxChannel]:
        now = self._clock()
        return sorted((it for it in self._channels if it.due <= now), key=lambda it: it.due)

    @staticmethod
    def _datagrams(due: list[MailboxChannel]) -> list[tuple[MailboxChannel, Access]]:
        """Return the datagrams of the channels that are due, as many as fit into a frame."""
        datagrams: list[tuple[MailboxChannel, Access]] = []
        room = FRAME_ROOM
        for channel in due:
            if datagrams and channel.most_bytes > room:
                break
            access = channel.next_datagram()
            if access is not None:
                datagrams.append((channel, access))
                room -= channel.most_bytes
        return datagrams
