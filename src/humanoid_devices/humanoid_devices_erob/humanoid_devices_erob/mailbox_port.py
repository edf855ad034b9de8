"""What the mailbox engine needs from the bus, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from humanoid_devices_erob.sdo import SdoOutcome


@dataclass(frozen=True, slots=True)
class Access:
    """A datagram to the registers or memory of one slave: FPWR if there is `data`, else FPRD."""

    slave: int
    address: int
    length: int = 0  # [bytes] to read
    data: bytes = b""


class MailboxPort(Protocol):
    """Frames to the registers and memory of slaves."""

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """All in one frame. What each has read or written; takes as long as a frame may take.

        None for one without working counter, and for all if the frame was lost.
        """


@dataclass(frozen=True, slots=True)
class MailboxLayout:
    """Where SM0 and SM1 of a slave are, in its address space, and their sizes [bytes]."""

    write_address: int
    write_size: int
    read_address: int
    read_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SdoJob:
    """One object to read, or to write if there is `data`."""

    index: int
    subindex: int
    data: bytes = b""
    timeout: float  # [s] without any progress until the job is given up
    refusal: Callable[[], str]  # why nothing may be sent now, or ""; asked before every sending
    done: Callable[[SdoOutcome], None]  # called once, in the thread that steps
