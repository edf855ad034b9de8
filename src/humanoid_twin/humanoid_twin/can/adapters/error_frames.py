"""Error frames of Linux' SocketCAN (linux/can/error.h)."""

from typing import Final

from humanoid_twin.can.controller import Cause, ControllerReport, ErrorState

# Error classes, in the identifier.
_CONTROLLER: Final = 0x004
_PROTOCOL: Final = 0x008
_NO_ACKNOWLEDGE: Final = 0x020
_BUS_OFF: Final = 0x040
_BUS_ERROR: Final = 0x080
_RESTARTED: Final = 0x100
_COUNTERS: Final = 0x200  # bytes 6 and 7 are TEC and REC

# Byte 1: state of the controller.
_TX_OVERFLOW: Final = 0x02
_RX_WARNING, _TX_WARNING, _RX_PASSIVE, _TX_PASSIVE, _ACTIVE = 0x04, 0x08, 0x10, 0x20, 0x40
# Byte 2: error of the protocol.
_BIT, _STUFF, _TRANSMITTING = 0x01, 0x04, 0x80


def encode(report: ControllerReport) -> tuple[int, bytes]:
    """Return the error classes and the eight bytes of an error frame."""
    kind, controller, protocol = _COUNTERS, 0, 0
    if report.cause is Cause.STATE:
        if report.state is ErrorState.BUS_OFF:
            kind |= _BUS_OFF
        else:
            kind |= _CONTROLLER
            controller = _state_bits(report)
    elif report.cause is Cause.RESTARTED:
        kind |= _RESTARTED
    elif report.cause is Cause.OVERRUN:
        kind |= _CONTROLLER
        controller = _TX_OVERFLOW
    elif report.cause is Cause.NOT_ACKNOWLEDGED:
        kind |= _NO_ACKNOWLEDGE | _BUS_ERROR
    else:
        kind |= _PROTOCOL | _BUS_ERROR
        protocol = _BIT | _TRANSMITTING if report.cause is Cause.BIT else _STUFF
    counters = min(report.tec, 255), report.rec
    return kind, bytes([0, controller, protocol, 0, 0, 0, *counters])


def _state_bits(report: ControllerReport) -> int:
    if report.state is ErrorState.ACTIVE:
        return _ACTIVE
    transmit, receive = (
        (_TX_PASSIVE, _RX_PASSIVE)
        if report.state is ErrorState.PASSIVE
        else (_TX_WARNING, _RX_WARNING)
    )
    bits = transmit if report.tec >= report.rec else 0
    return bits | (receive if report.rec >= report.tec else 0)
