"""Parameters of a virtual slave: facts of the documents, and marked assumptions."""

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from humanoid_control_common.errors import ConfigError

# ZeroErr's vendor id ("Zero" in ASCII) and the product code of its eRob drives: ZeroErr's public
# SOEM demo and device description.
ZEROERR: Final = 0x5A65726F
EROB: Final = 0x00029252


_MEMORY: Final = 0x1000  # where an ESC's process data RAM begins (ESC data sheet)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The slave's identity in its EEPROM and in object 0x1018."""

    vendor: int = ZEROERR
    product: int = EROB
    revision: int = 1  # assumed, confirm on hardware
    serial: int = 0
    name: str = "eRob"  # assumed, confirm on hardware


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """The place of a sync manager's data in the ESC's memory."""

    start: int
    length: int  # [bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Distributed clocks and their supervision."""

    frames_to_lock: int = 297  # DC frames until the drive accepts OP: timing of the real robot
    first_difference: int = 1_000_000  # [ns] assumed, confirm on hardware
    locked_below: int = 1_000  # [ns] assumed, confirm on hardware
    # Of a slave's clock against the reference, while it gets no DC frame; assumed, confirm
    drift_ppm: float = 0.0
    keeps_rate: float = 0.1  # [s] without DC frames that it keeps the reference's rate; assumed
    # Of SYNC0 [ns]: it must be a multiple (the manual's 4.5.2, as a public host project quotes
    # it); assumed, confirm on hardware.
    cycle_step: int = 500_000
    cable_delay: int = 300  # [ns] from one slave to the next; assumed, confirm on hardware
    miss_costs: int = 3  # on the error counter for a SYNC0 without new process data (ETG.1020)
    hit_refunds: int = 1
    error_limit: int = 30  # assumed, confirm on hardware

    def __post_init__(self) -> None:
        for name in ("drift_ppm", "keeps_rate"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ConfigError(f"clocks: {name} is {value}, expected 0 or more")


class SyncType(Enum):
    """Value of 0x1C32:01 (ETG.1020)."""

    DC = "dc"  # 2 (SYNC0) once the clock fires it; 1 (process data) before
    FREE_RUN = "free-run"  # always 0
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveParameters:
    """Parameters of an ESC and of its EtherCAT stack."""

    identity: Identity = field(default_factory=Identity)
    # Sizes and places of the buffers: assumed, confirm on hardware.
    mailbox_bytes: int = 128  # of each; real drives are known with 128, 512 and 1024
    clocks: Clocks = field(default_factory=Clocks)
    transition_seconds: float = 0.001  # [s] of an upward AL transition; assumed
    ebus_milliamperes: int = 0
    sync_type: SyncType = SyncType.ABSENT  # assumed, confirm on hardware
    entries_per_pdo: int = 16  # lines of a mapping object; assumed, confirm on hardware

    def __post_init__(self) -> None:
        if self.mailbox_bytes not in range(32, 1487):  # what fits into a frame
            raise ConfigError(f"slave: mailbox_bytes is {self.mailbox_bytes}, expected 32 to 1486")

    @property
    def mailbox_out(self) -> Buffer:
        """From the master."""
        return Buffer(start=_MEMORY, length=self.mailbox_bytes)

    @property
    def mailbox_in(self) -> Buffer:
        """To the master."""
        return Buffer(start=self._after(self.mailbox_out, 1), length=self.mailbox_bytes)

    @property
    def outputs(self) -> Buffer:
        """Process data from the master."""
        return Buffer(start=self._after(self.mailbox_in, 1), length=8)

    @property
    def inputs(self) -> Buffer:
        """Process data to the master."""
        return Buffer(start=self._after(self.outputs, 96), length=12)

    @staticmethod
    def _after(buffer: Buffer, copies: int) -> int:
        """Return the address behind `copies` of a buffer, on a multiple of 128 bytes."""
        return -(-(buffer.start + copies * buffer.length) // 128) * 128
