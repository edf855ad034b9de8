"""The safety report of the drives, from working counters, AL states and statuswords."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined, united
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_erob.drive.cia402_sequencer import Mask
from humanoid_devices_erob.drive.error_codes import (
    ERROR_CODES,
    describe_statusword,
    error_text,
)
from humanoid_devices_erob.errors import joined_by_text
from humanoid_devices_erob.master.al_state import AlState, AlStatus, codes_of_slave, differing
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol.cia402 import StatusBit
from humanoid_devices_erob.reason_codes import (
    NO_FRAME_RETURNS,
    WORKING_COUNTER_LOW,
    codes_of_drive,
)

# Incomplete exchanges in a row that are a fault. One frame may be lost: a drive holds its target.
LOST_EXCHANGES: Final = 2
SILENCE: Final = 0.2  # [s] without an answer until RX_TIMEOUT
# Bits of the statusword whose change is worth another report; some change with every exchange.
_REPORTED: Final = 0xFFFF & ~(
    StatusBit.VOLTAGE_ENABLED | StatusBit.TARGET_REACHED | 0x0100 | 0xC000  # of the manufacturer
)


class DriveMonitor:
    """Keeps `report`, the same object until something changes. Arrays are in ring order."""

    def __init__(self, name: str, joint_at: Sequence[str]) -> None:
        self.report = SafetyReport(name)
        self.faulty: Mask = np.zeros(len(joint_at), dtype=bool)  # not in operation
        self._name, self._joint_at = name, joint_at
        self._states = NO_REASON  # slaves that are not in OP
        self._errors: dict[int, tuple[int, ...]] = {}  # of faulty drives: 0x603F, then 0x1003
        self._unread: dict[int, str] = {}  # why an error could not be read
        self._remark = NO_REASON
        self._seen: tuple[object, ...] = ()  # inputs of the present report

    def set_states(self, statuses: Sequence[AlStatus]) -> None:
        """Set the AL states of all slaves."""
        text = differing(statuses, AlState.OP, self._joint_at)
        codes = united(
            [code.name for code in codes_of_slave(status)]
            for status in statuses
            if status.state is not AlState.OP or status.error
        )
        self._states = Reason(text, codes)

    def set_errors(self, slave: int, codes: tuple[int, ...]) -> None:
        """Set a drive's error code and its history, latest first."""
        self._errors[slave] = codes
        self._unread.pop(slave, None)

    def set_unread(self, slave: int, why: str) -> None:
        """Set why a drive's error could not be read, unless it is known."""
        if slave not in self._errors:
            self._unread[slave] = why

    def set_remark(self, reason: Reason) -> None:
        """Set what a user must do until all drives are in operation, if anything."""
        self._remark = reason

    def errors_of(self, slave: int) -> tuple[int, ...]:
        """Return a faulty drive's error code and history, as far as they have been read."""
        return self._errors.get(slave, ())

    def ring_problems(self, ring: Ring) -> Reason:
        """Return the problems of the ring, if it has any, apart from those of its drives."""
        silence = _silence(ring.answered) if ring.lost >= LOST_EXCHANGES else NO_REASON
        return joined((silence, self._states, self._remark))

    def update(self, ring: Ring) -> None:
        """Judge the latest exchange."""
        enabled = ring.enabled
        np.logical_not(enabled, out=self.faulty)
        for known in (self._errors, self._unread):
            for slave in [it for it in known if enabled[it]]:
                del known[slave]  # it is no reason of a later fault
        silent = ring.machine.clock() - ring.last_complete > SILENCE
        if enabled.all() and ring.lost < LOST_EXCHANGES and not self._states:
            self._recovered()
            return
        seen = (
            min(ring.lost, LOST_EXCHANGES),
            ring.answered,
            silent,
            self._states,
            (ring.image.statusword[self.faulty] & _REPORTED).tobytes(),
            self.faulty.tobytes(),
            tuple(sorted(self._errors.items())),
            tuple(sorted(self._unread.items())),
            self._remark,
        )
        if seen != self._seen:
            self._seen = seen
            self._make(ring, silent)

    def _recovered(self) -> None:
        if self._seen:
            self._seen, self._remark = (), NO_REASON
            self.report = SafetyReport(self._name)

    def _make(self, ring: Ring, silent: bool) -> None:
        faulty = np.flatnonzero(self.faulty).tolist()
        text = joined_by_text((self._joint_at[i], self.describe(i, ring)) for i in faulty)
        drives = Reason(text, united(self.codes_of(i, ring) for i in faulty))
        flags = SafetyFlag.MOTOR_FAULT if faulty else SafetyFlag.NONE
        if silent:
            flags |= SafetyFlag.RX_TIMEOUT
        found = joined((drives, self.ring_problems(ring)))
        self.report = SafetyReport(self._name, SafetyLevel.FAULT, flags, found.text, found.codes)

    def codes_of(self, slave: int, ring: Ring) -> tuple[str, ...]:
        """Return the reason codes of a drive's statusword and error; () without a problem."""
        word = int(ring.image.statusword[slave])
        codes = codes_of_drive(word, self.errors_of(slave), unread=slave in self._unread)
        return tuple(code.name for code in codes)

    def describe(self, slave: int, ring: Ring) -> str:
        """Return a drive's statusword, error and history in words."""
        codes = self.errors_of(slave)
        text = describe_statusword(int(ring.image.statusword[slave]))
        if not codes:
            why = self._unread.get(slave)
            read = f"`hc sdo read {slave} 0x603F` tries again"
            return f"{text}; its error could not be read, {read}: {why}" if why else text
        history = ", ".join(f"0x{code:04X}" for code in codes[1:])
        text = f"{text}, error 0x{codes[0]:04X} {error_text(codes[0])}"
        text += f" (history: {history})" if history else ""
        named = ERROR_CODES.get(codes[0])
        return text if named is None or named.reset_clears else f"{text}; {named.fix}"


def _silence(answered: bool) -> Reason:
    if answered:
        text = "the working counter is too low: not every slave takes part in the exchange"
        return Reason.of(WORKING_COUNTER_LOW, text)
    return Reason.of(
        NO_FRAME_RETURNS,
        "no frame comes back in time: the cable to the first slave, or this machine or the ring "
        "was held up",
    )
