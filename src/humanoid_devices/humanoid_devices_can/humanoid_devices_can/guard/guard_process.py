"""Starts and ends the guard process."""

import logging
import mmap
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from humanoid_devices_can.guard.channel import GOOD_BYE, GuardJob, GuardMemory, Stage
from humanoid_devices_can.guard.claim import Claim
from humanoid_devices_can.guard.disabling import LONGEST

PARTING: Final = 1.0  # [s] a guard may take to end, after its present action
COMMAND: Final = (sys.executable, "-m", "humanoid_devices_can.guard")

logger = logging.getLogger(__name__)
left: Final[list[subprocess.Popen[bytes]]] = []  # guards to which this process has left motors


def parting(memory: GuardMemory) -> float:
    """Return the time [s] that a guard may take to end now."""
    return PARTING + LONGEST if memory.stage is Stage.ACTS else PARTING


class RunningGuard(Protocol):
    """A started guard: the part of its control process."""

    @property
    def memory(self) -> GuardMemory:
        """Return the memory that both processes see."""

    def end(self) -> None:
        """Write a good-bye, and return when the guard has ended after its present action."""

    def leave(self) -> None:
        """End without a good-bye, as a control process that dies. Never waits."""


class GuardProcess:
    """A guard in a process of its own. See RunningGuard."""

    def __init__(
        self, job: GuardJob, claim: Claim | None, command: Sequence[str] = COMMAND
    ) -> None:
        """Start `command`, which inherits the claim; does not wait until it runs.

        Raises OSError: no descriptor, no memory, or no such program.
        """
        self._bus = job.bus
        descriptor = os.memfd_create("can guard")
        try:
            os.truncate(descriptor, mmap.PAGESIZE)
            self.memory = GuardMemory(mmap.mmap(descriptor, mmap.PAGESIZE))
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=(descriptor,) if claim is None else (descriptor, claim.fileno()),
                start_new_session=True,
            )
            try:
                self._write(job.encode(descriptor))
            except OSError:
                self.end()
                raise
        finally:
            os.close(descriptor)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def end(self) -> None:
        """See RunningGuard. A guard that takes longer than `parting` is killed."""
        process = self._process
        assert process.stdin is not None  # a pipe
        with suppress(OSError):  # it has ended already
            self._write(GOOD_BYE)
        with suppress(OSError):
            process.stdin.close()
        allowed = parting(self.memory)
        try:
            code = process.wait(allowed)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            text = "the guard of %s took over %g s to end, and was killed: is this machine busy?"
            logger.warning(text, self._bus, allowed)
            return
        if code:
            logger.error("the guard of %s ended with exit code %d", self._bus, code)

    def leave(self) -> None:
        """See RunningGuard."""
        assert self._process.stdin is not None  # a pipe
        with suppress(OSError):
            self._process.stdin.close()
        left.append(self._process)

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None  # a pipe
        self._process.stdin.write(line)
        self._process.stdin.flush()
