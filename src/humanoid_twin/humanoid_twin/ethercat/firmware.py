"""What runs behind one ESC, as the ring sees it. The ring knows no drive, the drive no frame."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from humanoid_twin.ethercat.dictionary import ObjectDictionary

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

    PDOs are the ring's business: at SYNC0 it calls `set` of the mapped entries (in OP only) and
    `get` of the mapped inputs. All calls come from one thread.
    """

    @property
    def dictionary(self) -> ObjectDictionary:
        """The device's objects; the ring adds 0x1000, 0x1008-0x100A, 0x1018, 0x16xx-0x1Cxx."""

    def al_state_changed(self, state: AlState) -> None:
        """The AL state machine has gone to `state`, by request or by itself."""

    def communication_fault(self, reason: str) -> None:
        """The ring found what the drive calls an EtherCAT communication error, 0xA000."""

    def outputs_lost(self) -> None:
        """The process data watchdog has expired; the AL state machine goes to SAFEOP."""

    def step(self, seconds: float, /) -> None:
        """One step of the drive's loops [s]: always STEP. The plant is stepped after all drives."""

    def raise_error(self, code: int) -> None:
        """Fault injection: the drive finds the error `code` of 0x603F now."""

    def keep_mode(self, mode: int) -> None:
        """Fault injection: the drive is in a mode of 0x6061, and takes no other from 0x6060."""

    def weaken_battery(self) -> None:
        """Fault injection: from the next power-up on the encoder knows its angle within a turn."""

    def change_battery(self) -> None:
        """The encoder gets a new battery: a fault reset clears the error of the old one."""

    def power_cycle(self) -> None:
        """Power is back: everything volatile is at its factory value (the gate 0x2383 is 0)."""


class Physics(Protocol):
    """The plant that all drives of a ring move; joint k belongs to slave k."""

    @property
    def position(self) -> Sequence[float] | npt.NDArray[np.float64]:
        """Joint angles [rad]."""

    @property
    def velocity(self) -> Sequence[float] | npt.NDArray[np.float64]:
        """Joint speeds [rad/s]."""

    def step(self, seconds: float, /) -> None:
        """Advance all joints [s], after all drives have set their torques."""

    def set_state(self, joint: int, position: float, velocity: float) -> None:
        """Put a joint somewhere [rad, rad/s]."""

    def set_external_torque(self, joint: int, torque: float) -> None:
        """Load a joint from outside [Nm]."""
