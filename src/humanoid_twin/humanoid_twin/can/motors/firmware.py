"""The interface of a motor's firmware to its board."""

from collections.abc import Callable
from typing import Final, Protocol, TypedDict

from humanoid_twin.can.frame import CanFrame

TICK: Final = 0.001  # [s] firmware loops run at 1 kHz (assumed, confirm on hardware)
AMBIENT: Final = 25.0  # [°C]

# Queues (identifier, payload) of a data frame; a full mailbox loses it.
Send = Callable[[int, bytes], object]


class FirmwareReport(TypedDict):
    """The state of a firmware, at the motor's output."""

    enabled: bool
    stiffness: float  # [Nm/rad] realized
    damping: float  # [Nm s/rad] realized
    target_position: float  # [rad]
    target_velocity: float  # [rad/s]
    feedforward: float  # [Nm]
    faults: int  # bits, as the family reports them; 0: none


class Firmware(Protocol):
    """A firmware. All calls come from one thread; angles and torques are at the output."""

    device: int  # its id on the bus
    extended: bool  # its frames have 29-bit identifiers, else 11-bit ones
    temperature: float  # [°C]
    enable_time: float  # [s] that enabling takes

    def boot(self) -> None:
        """Start after a loss of power: volatile values are at their factory values."""

    def accepts(self, identifier: int) -> bool:
        """Return whether the acceptance filter passes an identifier of the motor's length."""

    def handle(self, frame: CanFrame) -> None:
        """Handle a data frame, of 0 to 8 bytes, that has passed the filter."""

    def tick(self, position: float, velocity: float) -> float:
        """Run one step at an angle [rad] and a speed [rad/s]. Return the torque [Nm]."""

    def fault(self, bits: int) -> None:
        """Raise these faults (fault injection)."""

    def spring(self) -> tuple[float, float]:
        """Return the stiffness [Nm/rad] and the angle [rad] that it pulls to."""

    def report(self) -> FirmwareReport:
        """Return the state for the control channel."""
