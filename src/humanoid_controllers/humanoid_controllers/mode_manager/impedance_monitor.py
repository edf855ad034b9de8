"""Check by the impedance manager's reports whether the gains of the drives are confirmed."""

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_MANAGER_SILENT,
    IMPEDANCE_MANAGER_UNHEARD,
    IMPEDANCE_NOT_CONFIRMED,
)
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_controllers.reason_codes import DRIVES_NOT_ARMED, STIFF_UNTIL_ARMED

FRESH: Final = 0.3  # [s] since arrival; the impedance manager publishes at 10 Hz
# [s] a stiff mode may continue unconfirmed. Longer than the loop waits for a controller that is
# preparing: the loop's reason for falling is the more precise one.
UNCONFIRMED_LIMIT: Final = 1.0
GONE: Final = 2.0  # [s] of silence after which the statement notes it, in any mode

_GONE: Final = Reason.of(
    IMPEDANCE_MANAGER_SILENT, "impedance manager silent: no stiff mode until it reports again"
)
_STIFF: Final = Reason.of(STIFF_UNTIL_ARMED, "stiff until armed")
# A drive that was lost after it was armed: behind a cut cable it has no torque.
_NOT_ARMED: Final = Reason.of(DRIVES_NOT_ARMED, "not all drives are armed: without torque or stiff")


@dataclass(frozen=True, slots=True)
class ImpedanceReport:
    """One report of the impedance manager on the drives."""

    armed: bool  # every drive uses the gains written over the bus
    confirmed: bool  # the gains of `mode` under `switch_number` were read back from every drive
    mode: int
    switch_number: int
    message: str


class ImpedanceMonitor:
    """Judges the reports of the impedance manager by their arrival on the monotonic clock."""

    def __init__(self) -> None:
        self._report: ImpedanceReport | None = None
        self._arrival = 0.0
        self._was_armed = False  # every drive, at some time
        self._in_force: tuple[Mode, int] | None = None
        self._gone = False  # it has reported before, but not within `GONE`
        self._good = 0.0  # [s] when the impedance in force was confirmed last, or came into force

    def reported(self, report: ImpedanceReport, now: float) -> None:
        """Take a report that arrived at `now` [s]."""
        self._report, self._arrival = report, now
        self._was_armed |= report.armed

    @property
    def note(self) -> Reason:
        """Return a warning for operators before they touch the robot; empty: none."""
        armed = self._report is not None and self._report.armed
        unarmed = _NOT_ARMED if self._was_armed else _STIFF
        return joined((_GONE if self._gone else NO_REASON, NO_REASON if armed else unarmed))

    def refusal(self, mode: Mode, number: int, now: float) -> Reason:
        """Return why no stiff mode may be entered from `mode` with switch `number`."""
        report = self._report
        if report is None:
            text = "no word from the impedance manager yet"
            return Reason.of(IMPEDANCE_MANAGER_UNHEARD, text)
        if now - self._arrival > FRESH:
            return self._silence(now)
        if self._confirms(mode, number):
            return NO_REASON
        return self._unconfirmed(mode, number)

    def problem(self, mode: Mode, number: int, now: float) -> Reason:
        """Return why a stiff `mode` with switch `number` must be left, if it must."""
        self._gone = self._report is not None and now - self._arrival > GONE
        if mode in SAFE_MODES:
            return NO_REASON
        if (mode, number) != self._in_force:
            self._in_force, self._good = (mode, number), now
        if self._report is None:
            return Reason.of(IMPEDANCE_MANAGER_UNHEARD, "no word from the impedance manager")
        if now - self._arrival > FRESH:
            return self._silence(now)
        if self._confirms(mode, number):
            self._good = now
        elif now - self._good > UNCONFIRMED_LIMIT:
            return self._unconfirmed(mode, number)
        return NO_REASON

    def _confirms(self, mode: Mode, number: int) -> bool:
        report = self._report
        return (
            report is not None
            and report.confirmed
            and (report.mode, report.switch_number) == (mode, number)
        )

    def _silence(self, now: float) -> Reason:
        silence = now - self._arrival
        text = f"impedance manager silent for {silence:.2f} s (deadline {FRESH:g} s)"
        return Reason.of(IMPEDANCE_MANAGER_SILENT, text)

    def _unconfirmed(self, mode: Mode, number: int) -> Reason:
        report = self._report
        text = f"impedance of {mode.name} (switch {number}) not confirmed by the impedance manager"
        text += f": {report.message}" if report and report.message else ""
        return Reason.of(IMPEDANCE_NOT_CONFIRMED, text)
