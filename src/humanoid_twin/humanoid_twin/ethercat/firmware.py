"""The interface between a ring and its drives."""

from enum import IntEnum
from typing import Protocol

from humanoid_twin.ethercat.coe.dictionary import ObjectDictionary

# The ring advances drives and plant in steps of this length: the 1 kHz of the drives' loops.
STEP = 0.001  # [s]


class AlState(IntEnum):
    """States of the EtherCAT application layer (ETG.1000.6); members are plain integers."""

    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


class Firmware(Protocol):
    """The drive behind one ESC.

    The ring handles PDOs: at SYNC0 it calls `set` of the mapped entries (in OP only) and
    `get` of the mapped inputs. All calls come from one thread.
    """

    @property
    def dictionary(self) -> ObjectDictionary:
        """The device's objects; the ring adds 0x1000, 0x1008-0x100A, 0x1018, 0x16xx-0x1Cxx."""

    def al_state_changed(self, state: AlState) -> None:
        """Follow a change of the AL state to `state`, by request or by itself."""

    def communication_fault(self, reason: str) -> None:
        """Raise the drive's EtherCAT communication error, 0xA000."""

    def outputs_lost(self) -> None:
        """Handle the expiry of the process data watchdog; the AL state goes to SAFEOP next."""

    def step(self, seconds: float, /) -> None:
        """Run one step of the loops [s], always STEP; the plant is stepped after all drives."""

    def raise_error(self, code: int) -> None:
        """Raise the error `code` of 0x603F (fault injection)."""

    def keep_mode(self, mode: int) -> None:
        """Go to a mode of 0x6061 and take no other from 0x6060 (fault injection)."""

    def weaken_battery(self) -> None:
        """Measure the angle within one turn only, from the next power-up on (fault injection)."""

    def change_battery(self) -> None:
        """Change the encoder's battery: a fault reset clears the error of the old one."""

    def power_cycle(self) -> None:
        """Start after a loss of power: volatile values are at their factory values (gate 0)."""
