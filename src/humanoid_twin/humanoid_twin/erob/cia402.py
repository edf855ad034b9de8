"""The power drive system's state machine (CiA 402-2), with the statuswords of Prime's eRobs."""

from typing import Final

from humanoid_devices_erob.protocol.cia402 import DriveState

STATUSWORDS: Final = {
    DriveState.SWITCH_ON_DISABLED: 592,  # this and the next three: trace of a start
    DriveState.READY_TO_SWITCH_ON: 561,
    DriveState.SWITCHED_ON: 563,
    DriveState.OPERATION_ENABLED: 5687,  # actuator documents
    DriveState.QUICK_STOP_ACTIVE: 0x0217,  # by CiA 402: 567 without the quick stop bit
    DriveState.FAULT: 4616,  # actuator documents
}

_FAULT_RESET = 0x80


def is_fault_reset(previous: int, controlword: int) -> bool:
    """Return whether bit 7 rises: a constant 1 resets once only."""
    return bool(controlword & ~previous & _FAULT_RESET)


def next_state(state: DriveState, controlword: int) -> DriveState:
    """Return the state after a controlword. Faults and their reset are not handled here."""
    rule = _RULES.get(state)
    return state if rule is None or controlword & _FAULT_RESET else rule(controlword & 0xF)


def _from_switch_on_disabled(command: int) -> DriveState:
    return _READY if command & 0b0111 == 0b0110 else _DISABLED


def _from_ready(command: int) -> DriveState:
    if command & 0b0110 != 0b0110:  # disable voltage, quick stop
        return _DISABLED
    return _SWITCHED_ON if command & 0b0001 else _READY


def _from_switched_on(command: int) -> DriveState:
    if command & 0b0110 != 0b0110:
        return _DISABLED
    if not command & 0b0001:  # shutdown
        return _READY
    return _ENABLED if command & 0b1000 else _SWITCHED_ON


def _from_enabled(command: int) -> DriveState:
    if not command & 0b0010:  # disable voltage
        return _DISABLED
    if not command & 0b0100:
        return DriveState.QUICK_STOP_ACTIVE
    if not command & 0b0001:
        return _READY
    return _ENABLED if command & 0b1000 else _SWITCHED_ON


def _from_quick_stop(command: int) -> DriveState:
    return DriveState.QUICK_STOP_ACTIVE if command & 0b0010 else _DISABLED


_DISABLED = DriveState.SWITCH_ON_DISABLED
_READY = DriveState.READY_TO_SWITCH_ON
_SWITCHED_ON = DriveState.SWITCHED_ON
_ENABLED = DriveState.OPERATION_ENABLED
_RULES: Final = {
    _DISABLED: _from_switch_on_disabled,
    _READY: _from_ready,
    _SWITCHED_ON: _from_switched_on,
    _ENABLED: _from_enabled,
    DriveState.QUICK_STOP_ACTIVE: _from_quick_stop,
}
