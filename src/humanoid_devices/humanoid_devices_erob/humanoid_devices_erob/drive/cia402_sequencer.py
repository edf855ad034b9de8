"""Lead drives through the CiA 402 state machine, one controlword per exchange."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_devices_erob.protocol.cia402 import (
    DISABLE_VOLTAGE,
    ENABLE,
    FAULT_RESET,
    SHUTDOWN,
    SWITCH_ON,
    DriveState,
    decode_state,
)

_STATE_BITS: Final = 0x6F  # of the statusword
_OPERATION_ENABLED: Final = 0x27  # value of these bits

_UPWARDS: Final = {
    DriveState.SWITCH_ON_DISABLED: SHUTDOWN,
    DriveState.READY_TO_SWITCH_ON: SWITCH_ON,
    DriveState.SWITCHED_ON: ENABLE,
    DriveState.OPERATION_ENABLED: ENABLE,
}
_DOWNWARDS: Final = {DriveState.OPERATION_ENABLED: SHUTDOWN, DriveState.SWITCHED_ON: SHUTDOWN}

Mask = NDArray[np.bool_]


def operation_enabled(statusword: NDArray[np.uint16]) -> Mask:
    """Return which drives use their targets, shape (n,)."""
    return np.asarray((statusword & _STATE_BITS) == _OPERATION_ENABLED)


class Cia402Sequencer:
    """Controlwords of n drives. A drive that shall not operate is led to a state without torque."""

    def __init__(self, count: int) -> None:
        self.wanted: Mask = np.zeros(count, dtype=bool)  # drives that are to be enabled
        # Exchanges for which each half of a fault reset's edge is sent: a drive takes outputs only
        # at SYNC0, and must see both.
        self.hold = 2
        self._resetting: Mask = np.zeros(count, dtype=bool)
        self._steps = 0

    def enable(self, drives: Mask, *, reset_faults: bool) -> None:
        """Lead `drives` to operation enabled, out of a fault only if `reset_faults`."""
        self.wanted |= drives
        if reset_faults:
            self._resetting |= drives

    def disable(self, drives: Mask) -> None:
        """Lead `drives` out of operation; their faults stay."""
        self.wanted &= ~drives
        self._resetting &= ~drives

    def step(
        self, statusword: NDArray[np.uint16], enabled: Mask, controlword: NDArray[np.uint16]
    ) -> None:
        """Replace `controlword` by the next one; `enabled` follows from `statusword`."""
        self._steps += 1
        settled = enabled & self.wanted
        controlword[settled] = ENABLE
        if not settled.all():
            for i in np.flatnonzero(~settled).tolist():
                controlword[i] = self._next(i, int(statusword[i]))
        self._resetting &= controlword != ENABLE  # a fault from now on is a new one

    def _next(self, drive: int, statusword: int) -> int:
        state = decode_state(statusword)
        if not self.wanted[drive]:
            return _DOWNWARDS.get(state, DISABLE_VOLTAGE)
        if state is DriveState.FAULT and self._resetting[drive]:
            # The drive acts on the rising edge: two words, repeated until the fault is gone.
            return FAULT_RESET if self._steps // self.hold % 2 else DISABLE_VOLTAGE
        return _UPWARDS.get(state, DISABLE_VOLTAGE)
