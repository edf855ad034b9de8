"""The EtherCAT state machine of a slave as a pure function (ETG.1000.6, section 6.4)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from humanoid_twin.ethercat.firmware import AlState

ACKNOWLEDGE: Final = 0x10  # in AL control; in AL status it is the error flag
STATE_MASK: Final = 0x0F


class AlStatusCode(IntEnum):
    """Reason for a refused or left state (ETG.1000.6, AL status codes)."""

    NONE = 0x0000
    INVALID_CHANGE = 0x0011
    UNKNOWN_STATE = 0x0012
    NO_BOOTSTRAP = 0x0013
    INVALID_MAILBOX = 0x0016
    WATCHDOG = 0x001B
    INVALID_OUTPUTS = 0x001D
    INVALID_INPUTS = 0x001E
    NO_SYNC = 0x002D
    INVALID_DC = 0x0030  # the vendor: "eRob only supports DC mode"
    INVALID_CYCLE = 0x0035


@dataclass(frozen=True, slots=True)
class Al:
    """AL status: the state, and the error of the last change."""

    state: AlState = AlState.INIT
    error: bool = False
    code: int = AlStatusCode.NONE

    @property
    def status(self) -> int:
        """Register 0x0130."""
        return self.state | (ACKNOWLEDGE if self.error else 0)

    def failed(self, code: AlStatusCode) -> "Al":
        """Return the same state with an error."""
        return Al(self.state, True, code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """The checks of a slave before an upward transition."""

    mailbox: bool = True  # SM0 and SM1 are as in the EEPROM, and active
    outputs: bool = True  # SM2 is as long as the assigned RxPDOs, active, and written by the master
    inputs: bool = True  # SM3, TxPDOs
    clock: bool = True  # SYNC0 is activated
    cycle: bool = True  # the SYNC0 period is one that the drive can follow
    sync: bool = True  # SYNC0 fires: its start time was in the future at its activation
    fed: bool = True  # outputs have come since SAFEOP was entered


_NEXT = {AlState.INIT: AlState.PREOP, AlState.PREOP: AlState.SAFEOP, AlState.SAFEOP: AlState.OP}


def requested(al: Al, control: int, ready: Readiness) -> Al:
    """Return the AL status after a write of `control` to AL control.

    During an error, upward requests without acknowledgement are ignored.
    """
    wanted = control & STATE_MASK
    if al.error and not control & ACKNOWLEDGE and wanted >= al.state:
        return al
    if wanted == AlState.BOOT:
        return al.failed(AlStatusCode.NO_BOOTSTRAP)
    if wanted not in AlState.__members__.values():
        return al.failed(AlStatusCode.UNKNOWN_STATE)
    target = AlState(wanted)
    if target <= al.state:
        return Al(target)
    if _NEXT.get(al.state) != target:
        return al.failed(AlStatusCode.INVALID_CHANGE)
    obstacle = _obstacle(target, ready)
    return al.failed(obstacle) if obstacle else Al(target)


def _obstacle(target: AlState, ready: Readiness) -> AlStatusCode | None:
    checks = {
        AlState.PREOP: [(ready.mailbox, AlStatusCode.INVALID_MAILBOX)],
        AlState.SAFEOP: [
            (ready.outputs, AlStatusCode.INVALID_OUTPUTS),
            (ready.inputs, AlStatusCode.INVALID_INPUTS),
            (ready.clock, AlStatusCode.INVALID_DC),
            (ready.cycle, AlStatusCode.INVALID_CYCLE),
        ],
        AlState.OP: [
            (ready.clock, AlStatusCode.INVALID_DC),
            (ready.sync, AlStatusCode.NO_SYNC),
            (ready.fed, AlStatusCode.WATCHDOG),
        ],
    }
    return next((code for good, code in checks[target] if not good), None)
