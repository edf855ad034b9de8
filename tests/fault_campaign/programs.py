"""Run programs of the bring-up as processes that can be killed, stopped and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fault_campaign.judging.violation import Violation, ViolationType

GIVE_UP: Final = 20.0  # [s] limit of the time of a process to end
# The robot ends with the campaign, also if that is killed.
WITH_US: Final = ("setpriv", "--pdeathsig", "KILL")
TESTS: Final = Path(__file__).parents[1]  # the folder that `fault_campaign` is in
_ENDED: Final = (0, -signal.SIGTERM)  # exit codes of a program that ends after a signal
# The first line after a traceback's body names the exception.
_TRACEBACK: Final = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(.*)")
# In /proc/PID/stat (proc_pid_stat(5)): it has ended, and its parent has not read its code.
_ZOMBIE: Final = "Z"
_IN_ORDER: Final = "0"
_CHILD: Final = re.compile(r"the guard of .* ended with exit code -?\d+")


def module(name: str, *words: str) -> tuple[str, ...]:
    """Return the command line of a module of the campaign, for any working folder."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    return ("env", f"PYTHONPATH={path}", sys.executable, "-m", f"fault_campaign.{name}", *words)


@dataclass(frozen=True, slots=True)
class UnexpectedEnd:
    """A process that ended without an order of the campaign."""

    label: str
    text: str


def deaths_of(before: Mapping[str, set[int]], after: Mapping[str, set[int]]) -> list[UnexpectedEnd]:
    """Return the ended children of programs that still run.

    Both map "LABEL PID" of a program to its children. A child with a successor does not count: the
    guard is replaced when its adapter is opened again. The control process reports a guard that
    ended otherwise (`exceptions`).
    """
    return [
        UnexpectedEnd(f"{program.split()[0]}'s child", f"process {child} has ended")
        for program, children in before.items()
        if program in after
        for child in sorted(children - after[program])[len(after[program] - children) :]
    ]


def exceptions(text: str) -> list[str]:
    """Return the last line of each traceback in `text`, and each guard that ended by itself."""
    return [found.strip() for found in (*_TRACEBACK.findall(text), *_CHILD.findall(text))]


class Program:
    """Runs one program; its output goes to a file."""

    def __init__(
        self, label: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.label = label
        self._command: Sequence[str] = (*WITH_US, *command)
        self._environment = {**os.environ, **environment}
        self._log = folder / f"{label}.txt"
        self._process: subprocess.Popen[bytes] | None = None
        self._deaths: list[UnexpectedEnd] = []
        self._stuck: list[Violation] = []
        self._read = 0  # [bytes] of the log that were searched for tracebacks

    @property
    def runs(self) -> bool:
        """True if the process runs or is stopped."""
        return self._process is not None and self._process.poll() is None

    def processes(self, word: str = "") -> list[int]:
        """Return the ids of the process and its children that have `word` in their command line."""
        found = [] if self._process is None else [self._process.pid]
        for parent in found:
            found += _children(parent)
        return [process for process in found if word in _command_line(process)]

    def text(self) -> str:
        """Return the output of the program since its first start."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def start(self) -> None:
        """Start the program if it does not run."""
        if self.runs:
            return
        self._note_death()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def twice(self) -> subprocess.Popen[bytes]:
        """Start the program a second time; the caller must end that process."""
        return subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def send(self, number: signal.Signals) -> None:
        """Send the process a signal if it runs."""
        if self._process is not None and self.runs:
            self._process.send_signal(number)

    def wait(self, timeout: float = GIVE_UP) -> bool:
        """Wait until the process has ended. Return False if it has not."""
        if self._process is None:
            return True
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, timeout: float = GIVE_UP) -> None:
        """End the process by SIGTERM; kill it after `timeout` [s]."""
        self._note_death()
        if self._process is None:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        if not self.wait(timeout):
            text = f"{self.label}: still there {timeout:g} s after SIGTERM"
            self._stuck.append(Violation(ViolationType.DID_NOT_END, text))
            self.send(signal.SIGKILL)
            self.wait()
        elif self._process.returncode not in _ENDED:
            code = self._process.returncode
            self._deaths.append(UnexpectedEnd(f"end of {self.label}", f"exit code {code}"))
        self._process = None

    def deaths(self) -> list[UnexpectedEnd]:
        """Return the deaths since the last call."""
        self._note_death()
        found, self._deaths = self._deaths, []
        return found

    def stuck(self) -> list[Violation]:
        """Return a violation for each time the process had to be killed since the last call."""
        found, self._stuck = self._stuck, []
        return found

    def exceptions(self) -> list[str]:
        """Return the exceptions in the log since the last call."""
        if not self._log.exists():
            return []
        with self._log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        self._read += len(new)
        return exceptions(new.decode(errors="replace"))

    def _note_death(self) -> None:
        """Report a process that has ended by itself, or was killed, once."""
        if self._process is not None and not self.runs:
            self._deaths.append(UnexpectedEnd(self.label, f"exit code {self._process.returncode}"))
            self._process = None


def _children(parent: int) -> list[int]:
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            state, its_parent, *_, code = file.read_text().rpartition(")")[2].split()
            # A process that has ended in order, as a guard that has acted, is not missing.
            if int(its_parent) == parent and not (state == _ZOMBIE and code != _IN_ORDER):
                found.append(int(file.parent.name))
    return found


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:  # it has ended
        return ""
