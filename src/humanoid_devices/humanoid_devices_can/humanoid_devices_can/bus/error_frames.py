"""Error frames in the layout of SocketCAN and python-can (linux/can/error.h)."""

from enum import Enum, IntFlag
from typing import Final


class BusEvent(IntFlag):
    """Classes of an error frame: bits of its identifier."""

    TX_TIMEOUT = 0x01
    LOST_ARBITRATION = 0x02
    CONTROLLER = 0x04  # details in byte 1
    PROTOCOL = 0x08  # details in byte 2, the place in byte 3
    TRANSCEIVER = 0x10
    NO_ACKNOWLEDGE = 0x20
    BUS_OFF = 0x40
    BUS_ERROR = 0x80
    RESTARTED = 0x100
    COUNTERS = 0x200  # bytes 6 and 7 are the controller's error counters, transmit and receive


class ControllerState(Enum):
    """State of a controller by its error counters (ISO 11898-1)."""

    ACTIVE = "error active"
    WARNING = "error warning"
    PASSIVE = "error passive"
    OFF = "bus-off"


_TX_OVERFLOW: Final = 0x02  # byte 1
_PASSIVE: Final = 0x30  # byte 1: receiving, sending
_WARNING: Final = 0x0C
_ACTIVE: Final = 0x40
_TRANSMITTING: Final = 0x80  # byte 2; the other bits are kinds of wrong bits
_ACKNOWLEDGEMENT: Final = (0x19, 0x1B)  # byte 3: slot and delimiter


def controller_state(event: BusEvent, data: bytes) -> ControllerState | None:
    """Return the controller's state in an error frame; None if the frame does not contain it."""
    if event & BusEvent.BUS_OFF:
        return ControllerState.OFF
    if event & BusEvent.RESTARTED:
        return ControllerState.ACTIVE
    details = data[1] if event & BusEvent.CONTROLLER and len(data) > 1 else 0
    if details & _PASSIVE:
        return ControllerState.PASSIVE
    if details & _WARNING:
        return ControllerState.WARNING
    return ControllerState.ACTIVE if details & _ACTIVE else None


def not_acknowledged(event: BusEvent, data: bytes) -> bool:
    """Return whether an error frame reports a frame that no node has acknowledged.

    Many controllers have no class for it: their frame is of the class PROTOCOL, and names the place
    but no kind of wrong bits.
    """
    if event & BusEvent.NO_ACKNOWLEDGE:
        return True
    wrong_bits = data[2] & ~_TRANSMITTING if len(data) > 3 else True
    return bool(event & BusEvent.PROTOCOL and not wrong_bits and data[3] in _ACKNOWLEDGEMENT)


def transmit_overflow(event: BusEvent, data: bytes) -> bool:
    """Return whether an error frame reports a full transmit queue."""
    return bool(event & BusEvent.CONTROLLER and len(data) > 1 and data[1] & _TX_OVERFLOW)
