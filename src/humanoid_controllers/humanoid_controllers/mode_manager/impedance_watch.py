"""Judges by the impedance manager's reports whether the gains of the drives are confirmed."""

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.modes import SAFE_MODES, Mode

FRESH: Final = 0.3  # [s] since arrival; the impedance manager publishes at 10 Hz
# [s] a stiff mode may continue unconfirmed. Longer than the loop waits for a controller that is
# preparing: the loop's reason for falling is the more precise one.
UNCONFIRMED_LIMIT: Final = 1.0
GONE: Final = 2.0  # [s] of silence after which the statement notes it, in any mode


@dataclass(frozen=True, slots=True)
class ImpedanceReport:
    """One report of the impedance manager on the drives."""

    armed: bool  # every drive uses the gains written over the bus
    confirmed: bool  # the gains of `mode` under `switch_number` were read back from every drive
    mode: int
    switch_number: int
    message: str


class ImpedanceWatch:
    """Judges the reports of the impedance manager by their arrival on the monotonic clock."""

    def __init__(self) -> None:
        self._report: ImpedanceReport | None = None
        self._arrival = 0.0
        self._in_force: tuple[Mode, int] | None = None
        self._gone = False  # it has reported before, but not for `GONE`
        self._good = 0.0  # [s] when the impedance in force was confirmed last, or came into force

    def reported(self, report: ImpedanceReport, now: float) -> None:
        """Take a report that arrived at `now` [s]."""
        self._report, self._arrival = report, now

    @property
    def note(self) -> str:
        """A warning for operators who are about to touch the robot; empty if there is none.

        The words do not change: a new text would look like the answer to a request.
        """
        gone = "impedance manager silent: no stiff mode before a new bring-up" if self._gone else ""
        armed = self._report is not None and self._report.armed
        return "; ".join(filter(None, (gone, "" if armed else "stiff until armed")))

    def refusal(self, mode: Mode, number: int, now: float) -> str:
        """Return why no stiff mode may be entered from `mode` with switch `number`; or empty."""
        report = self._report
        if report is None:
            return "no word from the impedance manager yet"
        if now - self._arrival > FRESH:
            return self._silence(now)
        if self._confirms(mode, number):
            return ""
        return self._unconfirmed(mode, number)

    def problem(self, mode: Mode, number: int, now: float) -> str:
        """Return why a stiff `mode` with switch `number` must be left; empty if it need not."""
        self._gone = self._report is not None and now - self._arrival > GONE
        if mode in SAFE_MODES:
            return ""
        if (mode, number) != self._in_force:
            self._in_force, self._good = (mode, number), now
        if self._report is None:
            return "no word from the impedance manager"
        if now - self._arrival > FRESH:
            return self._silence(now)
        if self._confirms(mode, number):
            self._good = now
        elif now - self._good > UNCONFIRMED_LIMIT:
            return self._unconfirmed(mode, number)
        return ""

    def _confirms(self, mode: Mode, number: int) -> bool:
        report = self._report
        return (
            report is not None
            and report.confirmed
            and (report.mode, report.switch_number) == (mode, number)
        )

    def _silence(self, now: float) -> str:
        silence = now - self._arrival
        return f"impedance manager silent for {silence:.2f} s (deadline {FRESH:g} s)"

    def _unconfirmed(self, mode: Mode, number: int) -> str:
        report = self._report
        text = f"impedance of {mode.name} (switch {number}) not confirmed by the impedance manager"
        return f"{text}: {report.message}" if report and report.message else text
