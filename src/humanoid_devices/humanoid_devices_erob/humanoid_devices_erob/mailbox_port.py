"""What the mailbox engine needs from the bus, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from humanoid_devices_erob.sdo import SdoOutcome


class MailboxPort(Protocol):
    """Datagrams to the registers and memory of single slaves. May take as long as a frame."""

    def write(self, slave: int, address: int, data: bytes) -> bool:
        """FPWR; False without working counter, which includes a lost frame."""

    def read(self, slave: int, address: int, length: int) -> bytes | None:
        """FPRD; None without working counter, which includes a lost frame."""


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
    refusal: Callable[[], str]  # why it must not begin now, empty if it may; asked just before
    done: Callable[[SdoOutcome], None]  # called once, in the thread that steps
