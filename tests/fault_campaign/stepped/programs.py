"""A simulated process of the robot."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.programs import GIVE_UP, UnexpectedEnd
from humanoid_stepped.processes import KILLED, StackProcess

_IN_ORDER: Final = (0,)  # exit codes
CHECK_PERIOD: Final = 0.01  # [s]


class SteppedProgram:
    """One process that can be killed, held up and started again.

    Args:
        pass_time: lets simulated time pass [s].
    """

    def __init__(self, process: StackProcess, pass_time: Callable[[float], None]) -> None:
        self.label = process.label
        self._process, self._pass_time = process, pass_time
        self._deaths: list[UnexpectedEnd] = []
        self._stuck: list[Violation] = []
        self._exceptions: list[str] = []
        self._ending = False  # the campaign ends the process
        process.on_end.append(self._ended)

    @property
    def runs(self) -> bool:
        """Return True if the program runs or is stopped."""
        return self._process.runs

    def text(self) -> str:
        """Return the last lines of the tracebacks in its log."""
        return "\n".join(self._exceptions)

    def start(self) -> None:
        """Start the program if it does not run."""
        self._process.start()

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal if it runs."""
        process = self._process
        if not process.runs:
            return
        if number is signal.SIGKILL:
            process.kill()
        elif number is signal.SIGSTOP:
            process.hold()
        elif number is signal.SIGCONT:
            process.resume()
        elif number is signal.SIGINT:
            process.requests.in_order = True
        else:
            process.requests.at_once = True

    def wait(self, timeout: float = GIVE_UP) -> bool:
        """Wait until the program has ended. Return False if it has not."""
        left = timeout
        while self.runs and left > 0.0:
            self._pass_time(CHECK_PERIOD)
            left -= CHECK_PERIOD
        return not self.runs

    def end(self, timeout: float = GIVE_UP) -> None:
        """End the program."""
        if not self.runs:
            return
        self._ending = True
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        if not self.wait(timeout):
            text = f"{self.label}: still there {timeout:g} s after SIGTERM"
            self._stuck.append(Violation(ViolationType.DID_NOT_END, text))
            self.send(signal.SIGKILL)
        self._ending = False

    def deaths(self) -> list[UnexpectedEnd]:
        """Return the deaths since the last call."""
        found, self._deaths = self._deaths, []
        return found

    def stuck(self) -> list[Violation]:
        """Return a violation for each time the program had to be killed since the last call."""
        found, self._stuck = self._stuck, []
        return found

    def exceptions(self) -> list[str]:
        """Return the exceptions in the log since the last call."""
        found, self._exceptions = self._exceptions, []
        return found

    def note(self, exception: str) -> None:
        """Note the last line of a traceback in its log."""
        self._exceptions.append(exception)

    def _ended(self) -> None:
        process = self._process
        if process.error is not None:
            self.note(f"{type(process.error).__name__}: {process.error}")
        if self._ending and process.code in _IN_ORDER:
            return
        if self._ending and process.code != KILLED:
            self._deaths.append(UnexpectedEnd(f"end of {self.label}", f"exit code {process.code}"))
        else:
            self._deaths.append(UnexpectedEnd(self.label, f"exit code {process.code}"))
