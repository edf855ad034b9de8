"""What runs on a motor's board, as board and bus see it."""

from collections.abc import Callable
from typing import Final, Protocol, TypedDict

from humanoid_twin.can.frame import CanFrame

TICK: Final = 0.001  # [s] firmware loops run at 1 kHz (assumed, confirm on hardware)
AMBIENT: Final = 25.0  # [°C]

# Queues (identifier, payload) of an extended frame; a full mailbox loses it.
Send = Callable[[int, bytes], object]


class FirmwareReport(TypedDict):
    """What a motor believes and does, at its output."""

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
    temperature: float  # [°C]
    enable_time: float  # [s] that enabling takes

    def boot(self) -> None:
        """Power is back: what isn't stored is at its factory value."""

    def wants(self, identifier: int) -> bool:
        """Acceptance filter of the controller: whether a frame is addressed to this motor."""

    def handle(self, frame: CanFrame) -> None:
        """An extended data frame of eight bytes has passed the filter."""

    def tick(self, position: float, velocity: float) -> float:
        """One step of the loop at an angle [rad] and a speed [rad/s]: the torque [Nm]."""

    def fault(self, bits: int) -> None:
        """Fault injection: it finds these faults now."""

    def report(self) -> FirmwareReport:
        """For the control channel."""
