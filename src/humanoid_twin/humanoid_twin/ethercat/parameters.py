"""What one virtual slave is: facts of the documents, and assumptions that are called so."""

from dataclasses import dataclass, field
from typing import Final

# ZeroErr's vendor id ("Zero" in ASCII) and the product code of its eRob drives: ZeroErr's public
# SOEM demo and device description.
ZEROERR: Final = 0x5A65726F
EROB: Final = 0x00029252


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the slave says it is, in its EEPROM and in object 0x1018."""

    vendor: int = ZEROERR
    product: int = EROB
    revision: int = 1  # assumed, confirm on hardware
    serial: int = 0
    name: str = "eRob"  # assumed, confirm on hardware


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Where a sync manager's data lie in the ESC's memory."""

    start: int
    length: int  # [bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Distributed clocks and their supervision."""

    frames_to_lock: int = 297  # DC frames until the drive accepts OP: timing of the real robot
    first_difference: int = 1_000_000  # [ns] assumed, confirm on hardware
    locked_below: int = 1_000  # [ns] assumed, confirm on hardware
    shortest_cycle: int = 125_000  # [ns] of SYNC0; assumed, confirm on hardware
    cable_delay: int = 300  # [ns] from one slave to the next; assumed, confirm on hardware
    miss_costs: int = 3  # on the error counter for a SYNC0 without new process data (ETG.1020)
    hit_refunds: int = 1
    error_limit: int = 30  # assumed, confirm on hardware


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveParameters:
    """Everything of an ESC and of its EtherCAT stack that a master can meet."""

    identity: Identity = field(default_factory=Identity)
    # Sizes and places of the buffers: assumed, confirm on hardware.
    mailbox_out: Buffer = Buffer(start=0x1000, length=128)
    mailbox_in: Buffer = Buffer(start=0x1080, length=128)
    outputs: Buffer = Buffer(start=0x1100, length=8)
    inputs: Buffer = Buffer(start=0x1400, length=12)
    clocks: Clocks = field(default_factory=Clocks)
    transition_seconds: float = 0.001  # [s] of an upward AL transition; assumed
    ebus_milliamperes: int = 0
    entries_per_pdo: int = 16  # lines of a mapping object; assumed, confirm on hardware
