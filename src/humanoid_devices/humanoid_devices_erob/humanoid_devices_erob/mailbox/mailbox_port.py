"""Datagrams to single slaves, which the mailbox engine needs from the bus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from humanoid_devices_erob.protocol.coe import SDO_BYTES
from humanoid_devices_erob.protocol.frame import DATAGRAM_BYTES, FRAME_ROOM
from humanoid_devices_erob.protocol.mailbox import HEADER_BYTES


@dataclass(frozen=True, slots=True)
class Access:
    """A datagram to the registers or memory of one slave: FPWR if there is `data`, else FPRD."""

    slave: int
    address: int
    length: int = 0  # [bytes] to read
    data: bytes = b""


class MailboxPort(Protocol):
    """Access to the registers and memory of slaves."""

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """Exchange all in one frame; return the data that each has read or written.

        None for a datagram without working counter, and for all if the frame was lost. Blocks for
        as long as a frame may take.
        """

    def begin(self, accesses: Sequence[Access]) -> None:
        """Send all in one frame, whose answer `finish` returns; one such frame at a time."""

    def finish(self, seconds: float) -> list[bytes | None] | None:
        """Return the answer to `begin`, see `access`; None if it may come later than `seconds`.

        Other frames may be exchanged before it is called again.
        """


@dataclass(frozen=True, slots=True)
class MailboxLayout:
    """Addresses and sizes [bytes] of SM0 and SM1 in a slave's memory."""

    write_address: int
    write_size: int
    read_address: int
    read_size: int

    @property
    def usable(self) -> bool:
        """Return whether SDO messages fit into both, and both into a frame."""
        sizes = self.write_size, self.read_size
        return min(sizes) >= HEADER_BYTES + SDO_BYTES and max(sizes) + DATAGRAM_BYTES <= FRAME_ROOM
