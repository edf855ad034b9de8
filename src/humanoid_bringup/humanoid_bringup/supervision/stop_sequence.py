"""Order and escalation of the signals that stop processes. The caller passes time and processes."""

import math
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humanoid_bringup.supervision.processes import Child
from humanoid_control_common.ending_times import SIGINT_TO_SIGTERM, SIGTERM_TO_SIGKILL


@dataclass(frozen=True, slots=True)
class Patience:
    """Longest times [s] in which a process must end after a signal."""

    after_interrupt: float = SIGINT_TO_SIGTERM
    after_terminate: float = SIGTERM_TO_SIGKILL


@dataclass(slots=True)
class _Turn:
    process: Child
    sent: signal.Signals | None = None
    deadline: float = -math.inf  # [s] when the next signal is due


class StopSequence:
    """SIGINT, then SIGTERM, then SIGKILL: first to processes without dependants, then one by one.

    Of those that outlive others, each gets its signal when the one before it has ended.
    SIGINT is left out for a program that has no handler for it, or none yet.

    Args:
        processes: in the order in which they are to end.
        say: called for every process that doesn't end after a signal.
    """

    def __init__(
        self, processes: Sequence[Child], patience: Patience, say: Callable[[str], None]
    ) -> None:
        self._turns = [_Turn(process) for process in processes]
        self._patience = patience
        self._say = say

    def advance(self, now: float) -> None:
        """Send the signals that are due at `now` [s]."""
        for turn in self._front():
            if now >= turn.deadline:
                self._push(turn, now)

    def hasten(self, now: float) -> None:
        """Send the next signal at once, at least SIGTERM.

        A process that may have to remove the torque of joints is never killed before its time.
        """
        for turn in self._front():
            if turn.sent is signal.SIGTERM and turn.process.required:
                left = turn.deadline - now
                self._say(f"{turn.process.label} is ending, for {left:.0f} s more at most")
            else:
                self._push(turn, now, at_least=signal.SIGTERM)

    @property
    def deadline(self) -> float:
        """Latest time of the next call of `advance` [s]; infinity if none is due."""
        return min((turn.deadline for turn in self._front()), default=math.inf)

    def _front(self) -> list[_Turn]:
        running = [turn for turn in self._turns if turn.process.running]
        return [turn for turn in running if not turn.process.outlives] or running[:1]

    def _push(self, turn: _Turn, now: float, at_least: signal.Signals = signal.SIGINT) -> None:
        process, asked_before = turn.process, turn.sent is not None
        if turn.sent in (signal.SIGTERM, signal.SIGKILL):
            turn.sent, patience = signal.SIGKILL, math.inf
        elif asked_before or at_least is signal.SIGTERM or not process.catches(signal.SIGINT):
            turn.sent, patience = signal.SIGTERM, self._patience.after_terminate
        else:
            turn.sent, patience = signal.SIGINT, self._patience.after_interrupt
        turn.deadline = now + patience
        if asked_before:
            self._say(f"{process.label} has not ended: sending {turn.sent.name}")
        process.send(turn.sent)
