"""Run several processes as one: a common output, one signal stops all, none is left over."""

import math
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from humanoid_bringup.supervision.early_start import EarlyStart
from humanoid_bringup.supervision.output import Output
from humanoid_bringup.supervision.processes import (
    Child,
    Command,
    OrphanReaper,
    describe,
    exit_code,
    has_lived,
)
from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_common.ending_times import AGAIN, SIGINT_TO_SIGTERM, SIGTERM_TO_SIGKILL


@dataclass(frozen=True, slots=True)
class StopTimeouts:
    """Longest times [s] in which a process must end after a signal.

    `again`: from the first signal to the supervisor until another one counts.
    """

    after_interrupt: float = SIGINT_TO_SIGTERM
    after_terminate: float = SIGTERM_TO_SIGKILL
    again: float = AGAIN


@dataclass(slots=True)
class _Turn:
    process: Child
    sent: signal.Signals | None = None
    deadline: float = -math.inf  # [s] when the next signal is due


class StopSequence:
    """SIGINT, then SIGTERM, then SIGKILL: first to processes without dependants, then one by one.

    Processes that others need get their signals afterwards, each when the one before it has ended.
    SIGINT is left out for a program that has no handler for it, or none yet.

    Args:
        processes: in the order in which they are to end.
        say: called with a message for every process that doesn't end after a signal.
    """

    def __init__(
        self, processes: Sequence[Child], timeouts: StopTimeouts, say: Callable[[str], None]
    ) -> None:
        self._turns = [_Turn(process) for process in processes]
        self._timeouts = timeouts
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
            turn.sent, timeout = signal.SIGKILL, math.inf
        elif asked_before or at_least is signal.SIGTERM or not process.catches(signal.SIGINT):
            turn.sent, timeout = signal.SIGTERM, self._timeouts.after_terminate
        else:
            turn.sent, timeout = signal.SIGINT, self._timeouts.after_interrupt
        turn.deadline = now + timeout
        if asked_before:
            self._say(f"{process.label} has not ended: sending {turn.sent.name}")
        process.send(turn.sent)


OWN_LABEL: Final = "hc"


class Supervisor:
    """Starts processes, and waits until all have ended.

    It stops them when a required one ends, when a signal has come, and when the output has no
    reader any more; those that outlive others end last. Those that `restarts` are started again
    when they fail, and so is the reaper. It uses one thread, which waits in `poll` only.

    `early`: those of its processes that were started before their turn.
    """

    def __init__(
        self,
        output: Output,
        signals: StopSignals,
        reaper: OrphanReaper,
        timeouts: StopTimeouts | None = None,
        early: EarlyStart | None = None,
    ) -> None:
        self._output = output
        self._signals = signals
        self._reaper = reaper
        self._timeouts = timeouts or StopTimeouts()
        self._early = early or EarlyStart((), reaper, {})
        self._children: list[Child] = []
        self._waiting: deque[Command] = deque()
        self._stopping: StopSequence | None = None
        self._signals_seen = 0
        self._signalled_at = math.nan  # [s] when the first signal was seen
        self._exit_code = 0

    def run(self, commands: Sequence[Command], environment: Mapping[str, str]) -> int:
        """Run `commands`, started in this order, each as soon as the ones before are ready.

        Returns 0 if all ended in order after a signal, otherwise the exit code of the first one
        that didn't, 128 + signal if it was killed.
        """
        self._waiting.extend(commands)
        self._react()
        self._early.permit_configuration()
        self._start_some(environment)
        while self._running:
            self._wait()
            if self._running:  # a signal that comes later ends the flush
                self._react()
            self._start_some(environment)
        self._flush()
        return self._exit_code

    @property
    def _running(self) -> bool:
        return any(child.running for child in self._children)

    def _start_some(self, environment: Mapping[str, str]) -> None:
        """Start the processes that are due; none once the stop has begun."""
        while self._waiting and not self._stopping and all(it.ready for it in self._children):
            command = self._waiting.popleft()
            try:
                child = self._early.take(command)
                self._children.append(child or Child(command, self._reaper, environment))
            except (OSError, subprocess.SubprocessError) as error:
                text = f"{command.label} cannot be started: {error}"
                if command in [child.command for child in self._children]:  # it ran already
                    self._output.say(text)
                else:
                    self._exit_code = 1
                    self._stop(text)
            self._react()

    def _wait(self) -> None:
        """Wait for the next event and handle it."""
        callbacks = self._callbacks()
        poll = select.poll()
        for descriptor in callbacks:
            writing = self._output.pending and descriptor == self._output.descriptor
            poll.register(descriptor, select.POLLOUT if writing else select.POLLIN)
        deadline = self._stopping.deadline if self._stopping else math.inf
        timeout = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
        for descriptor, _ in poll.poll(None if timeout is None else math.ceil(timeout * 1e3)):
            callbacks[descriptor]()

    def _callbacks(self) -> dict[int, Callable[[], None]]:
        """Return what to call once a descriptor is ready."""
        callbacks: dict[int, Callable[[], None]] = {self._signals.descriptor: self._signals.clear}
        if self._output.pending:
            callbacks[self._output.descriptor] = self._output.write_some
        if self._reaper.ended is not None:
            callbacks[self._reaper.ended] = lambda: self._output.say(self._reaper.replace())
        for child in self._children:
            if child.running:
                callbacks[child.ended] = partial(self._reap, child)
                if self._stopping or not self._output.full:
                    for stream in child.streams:
                        callbacks[stream] = partial(self._read, child, stream)
        return callbacks

    def _react(self) -> None:
        """React to signals, deadlines and a closed output."""
        if self._signals.count > self._signals_seen:
            self._signals_seen = self._signals.count
            self._take_signal(time.monotonic())
        if self._output.broken and not self._stopping:
            self._stop("")
        if self._stopping:
            self._stopping.advance(time.monotonic())

    def _take_signal(self, now: float) -> None:
        """Stop at the first signal, at `now` [s]; hasten that at a later one.

        SIGHUP hastens nothing: a closing terminal sends it twice.
        """
        name, stopping, first = self._signals.latest, self._stopping, self._signalled_at
        if math.isnan(first):
            self._signalled_at = now
            if stopping:
                self._output.say(f"{name}: stopping already")
            else:
                self._stop(f"{name}: stopping")
        elif stopping and now - first >= self._timeouts.again and name != signal.SIGHUP.name:
            self._output.say(f"{name} again: ending sooner")
            stopping.hasten(now)

    def _stop(self, reason: str) -> None:
        self._output.say(reason)
        if not self._stopping:
            self._children += self._early.dismiss()
            children = list(reversed(self._children))
            self._stopping = StopSequence(children, self._timeouts, self._output.say)

    def _read(self, child: Child, stream: int) -> None:
        for line in child.read(stream):
            self._output.add(child.label, line)

    def _reap(self, child: Child) -> None:
        for line in child.reap():
            self._output.add(child.label, line)
        assert child.status is not None
        how = f"{child.label} ended: {describe(child.status)}"
        if child.ended_as_requested:
            return
        if not child.command.required:
            if child.status != 0:
                again = child.command.restarts and not self._stopping and has_lived(child.started)
                self._output.say(f"{how}; starting it again" if again else how)
                self._waiting.extend([child.command] * again)
            return
        self._exit_code = self._exit_code or exit_code(child.status)
        self._stop(how if self._stopping else f"{how}; stopping the others")

    def _flush(self) -> None:
        """Write the remaining output; a further signal drops it."""
        while self._output.pending and self._signals.count == self._signals_seen:
            self._wait()
