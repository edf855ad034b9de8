"""The safety report of the drives, from working counters, AL states and statuswords."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_control_common.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_erob.drive.cia402_sequencer import Mask
from humanoid_devices_erob.drive.error_codes import ERROR_CODES, describe_statusword
from humanoid_devices_erob.errors import joined_by_text
from humanoid_devices_erob.master.al_state import AlState, AlStatus, differing
from humanoid_devices_erob.master.ring import Ring

# Incomplete exchanges in a row that are a fault. One frame may be lost: a drive holds its target.
LOST_EXCHANGES: Final = 2
SILENCE: Final = 0.2  # [s] without an answer until RX_TIMEOUT


class DriveMonitor:
    """Keeps `report`, the same object until something changes. Arrays are in ring order."""

    def __init__(self, name: str, joint_at: Sequence[str]) -> None:
        self.report = SafetyReport(name)
        self.faulty: Mask = np.zeros(len(joint_at), dtype=bool)  # not in operation
        self._name, self._joint_at = name, joint_at
        self._states = ""  # slaves that are not in OP, in words
        self._errors: dict[int, tuple[int, ...]] = {}  # of faulty drives: 0x603F, then 0x1003
        self._remark = ""
        self._seen: tuple[object, ...] = ()  # inputs of the present report

    def take_states(self, statuses: Sequence[AlStatus]) -> None:
        """Note the AL states of all slaves."""
        self._states = differing(statuses, AlState.OP, self._joint_at)

    def take_errors(self, slave: int, codes: tuple[int, ...]) -> None:
        """Note a drive's error code and its history, latest first."""
        self._errors[slave] = codes

    def remark(self, text: str) -> None:
        """Report what a user must do until all drives are in operation; empty: nothing."""
        self._remark = text

    def errors_of(self, slave: int) -> tuple[int, ...]:
        """Return a faulty drive's error code and history, as far as they have been read."""
        return self._errors.get(slave, ())

    def ring_problems(self, ring: Ring) -> list[str]:
        """Return the problems of the ring apart from those of its drives."""
        silence = [_silence(ring.answered)] if ring.lost >= LOST_EXCHANGES else []
        return [*silence, *filter(None, (self._states, self._remark))]

    def update(self, ring: Ring) -> None:
        """Judge the latest exchange."""
        enabled = ring.enabled
        np.logical_not(enabled, out=self.faulty)
        silent = ring.timebase.clock() - ring.last_complete > SILENCE
        if enabled.all() and ring.lost < LOST_EXCHANGES and not self._states:
            self._recovered()
            return
        seen = (
            min(ring.lost, LOST_EXCHANGES),
            ring.answered,
            silent,
            self._states,
            ring.image.statusword[self.faulty].tobytes(),
            self.faulty.tobytes(),
            tuple(sorted(self._errors.items())),
            self._remark,
        )
        if seen != self._seen:
            self._seen = seen
            self._make(ring, silent)

    def _recovered(self) -> None:
        if self._seen:
            self._seen, self._remark = (), ""
            self._errors.clear()
            self.report = SafetyReport(self._name)

    def _make(self, ring: Ring, silent: bool) -> None:
        faulty = np.flatnonzero(self.faulty).tolist()
        words = joined_by_text((self._joint_at[i], self.describe(i, ring)) for i in faulty)
        problems = [words] if words else []
        flags = SafetyFlag.MOTOR_FAULT if problems else SafetyFlag.NONE
        if silent:
            flags |= SafetyFlag.RX_TIMEOUT
        problems += self.ring_problems(ring)
        self.report = SafetyReport(
            self._name, SafetyLevel.FAULT, flags, message="; ".join(problems)
        )

    def describe(self, slave: int, ring: Ring) -> str:
        """Return a drive's statusword, error and history in words."""
        codes = self.errors_of(slave)
        named = ERROR_CODES.get(codes[0]) if codes else None
        text = describe_statusword(int(ring.image.statusword[slave]), error_known=named is not None)
        if not codes:
            return text
        meaning = f" {named.text}" if named else ""
        history = ", ".join(f"0x{code:04X}" for code in codes[1:])
        text = f"{text}, error 0x{codes[0]:04X}{meaning}"
        text += f" (history: {history})" if history else ""
        return text if named is None or named.reset_clears else f"{text}; {named.fix}"


def _silence(answered: bool) -> str:
    if answered:
        return "the working counter is too low: not every slave takes part in the exchange"
    return (
        "no frame comes back in time: the cable to the first slave, or this machine or the ring "
        "was held up"
    )
