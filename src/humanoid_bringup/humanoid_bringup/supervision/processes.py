"""Child processes that cannot outlive this one: start, read, signal and reap them."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final, Self

from humanoid_bringup.supervision import orphan_reaper
from humanoid_control_common.ending_times import SIGTERM_TO_SIGKILL

LONGEST_LINE = 65536  # bytes; longer lines are cut, so that no process can fill the memory


class LineCutter:
    """Splits a stream of bytes into lines without their newlines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that `data` completes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        while len(self._rest) > self._longest:
            lines.append(self._rest[: self._longest])
            self._rest = self._rest[self._longest :]
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line, if the stream ended without a newline."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
READ_SIZE: Final = 65536  # bytes: what a pipe holds
LEAST_LIFE: Final = 10.0  # [s]: what fails sooner would fail again, so it is not started again
LAST_READS: Final = 64  # so much is read of a process that has ended: a pipe's largest usual size

_LIBC: Final = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start. When a required process ends, the others are stopped."""

    label: str
    arguments: tuple[str, ...]
    required: bool = True
    ready: str = ""  # later processes wait until it prints a line that begins with this
    outlives: bool = False  # later processes need it until they have ended
    restarts: bool = False  # started again when it fails, but not within LEAST_LIFE of its start


class OrphanReaper:
    """A process that ends the others if this one is killed; see orphan_reaper.py. Owns `folder`.

    The kernel's parent-death signal (`_before_exec`) ends them too, even if the reaper was killed
    with this process. But a program can ignore it, it does not reach their children, and an `exec`
    that gains privileges removes it.
    """

    def __init__(self, timeout: float = SIGTERM_TO_SIGKILL) -> None:
        self._timeout = timeout
        self._groups: set[int] = set()
        self.folder = Path(tempfile.gettempdir()) / f"humanoid_control_{os.urandom(8).hex()}"
        self._start()
        self.folder.mkdir(mode=0o700)  # only now that it will be removed, come what may

    def _start(self) -> None:
        program = (sys.executable, "-I", "-S", orphan_reaper.__file__)
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            (*program, str(self.folder), str(self._timeout)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._pipe: IO[bytes] = self._process.stdin
        self.ended: int | None = os.pidfd_open(self._process.pid)  # readable when it has ended

    def replace(self) -> str:
        """Start another one for the same groups, now that `ended` is readable.

        Returns how it ended, and what was done. At no time are the processes without the kernel's
        signal, and a reaper acts only when this process has ended: this is safe at any time.
        """
        if self.ended is not None:
            os.close(self.ended)
        self.ended = None
        how, groups = f"orphan_reaper ended: {describe(self._process.wait())}", sorted(self._groups)
        try:
            if not has_lived(self._started):
                raise ChildProcessError(f"it ran for less than {LEAST_LIFE:g} s")
            self._pipe.close()
            self._start()
            for group in groups:
                self._pipe.write(b"+%d\n" % group)
        except OSError as error:
            return f"{how}; none is left to end all if hc is killed: {error}"
        return f"{how}; started again"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the reaper end what is left: nothing, unless an exception propagates."""
        self._pipe.close()
        self._process.wait()
        if self.ended is not None:
            os.close(self.ended)
        shutil.rmtree(self.folder, ignore_errors=True)  # in case it was killed

    @property
    def descriptor(self) -> int:
        """Pipe on which process groups are added and removed."""
        return self._pipe.fileno()

    def remember(self, process: int) -> None:
        """Note that `process` has been added."""
        self._groups.add(process)

    def forget(self, process: int) -> None:
        """Remove `process`; call while it is a zombie, so that its number can't be in use again."""
        self._groups.discard(process)
        with suppress(BrokenPipeError):  # it was killed
            self._pipe.write(b"-%d\n" % process)


class Child:
    """A running process, leader of a session and of a process group of its own.

    Starts with SIGINT ignored: it has no effect before the program installs its handler, and
    no half-imported Python program answers it with a traceback.

    It inherits the descriptors `inherited`, beside its standard streams.

    Raises OSError or subprocess.SubprocessError if it can't be started.
    """

    def __init__(
        self,
        command: Command,
        reaper: OrphanReaper,
        environment: Mapping[str, str],
        inherited: Sequence[int] = (),
    ) -> None:
        self.command = command
        self.ready = not command.ready
        self.sent: list[signal.Signals] = []
        self.status: int | None = None  # exit code, or -signal; None while it runs
        self._popen = subprocess.Popen(
            command.arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            pass_fds=inherited,
            start_new_session=True,
            # Safe, as this process has one thread. The death signal, too, is that of this thread.
            preexec_fn=partial(  # noqa: PLW1509
                _before_exec, os.getpid(), reaper.descriptor
            ),
        )
        assert self._popen.stdout is not None and self._popen.stderr is not None
        self._reaper, self.started = reaper, time.monotonic()
        reaper.remember(self._popen.pid)
        self.ended = os.pidfd_open(self._popen.pid)  # readable when it has ended
        pipes = (self._popen.stdout, self._popen.stderr)
        self.streams = {pipe.fileno(): LineCutter() for pipe in pipes}
        for descriptor in self.streams:
            os.set_blocking(descriptor, False)

    @property
    def label(self) -> str:
        """Its name in the output."""
        return self.command.label

    @property
    def outlives(self) -> bool:
        """True if other processes need it until they have ended."""
        return self.command.outlives

    @property
    def required(self) -> bool:
        """True if all processes are stopped when it ends."""
        return self.command.required

    @property
    def ended_as_requested(self) -> bool:
        """True if it ended in order after a signal, or by a signal it did not catch yet."""
        requested = {-number for number in self.sent if number is not signal.SIGKILL}
        return bool(requested) and self.status in {0, *requested}

    @property
    def running(self) -> bool:
        """True until it has been reaped."""
        return self.status is None

    def read(self, descriptor: int) -> list[bytes]:
        """Return the new lines of one of its streams. A stream at its end is dropped."""
        cutter = self.streams.get(descriptor)
        data = _read(descriptor) if cutter else None
        if cutter is None or data is None:
            return []
        if not data:
            del self.streams[descriptor]
            return cutter.finish()
        lines = cutter.feed(data)
        sign = self.command.ready.encode()
        self.ready = self.ready or any(line.startswith(sign) for line in lines)
        return lines

    def catches(self, number: signal.Signals) -> bool:
        """Return True if the program has installed a handler for the signal."""
        return catches(self._popen.pid, number)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its process group."""
        self.sent.append(number)
        os.killpg(self._popen.pid, number)  # exists at least as a zombie until `reap`

    def reap(self) -> list[bytes]:
        """Kill the rest of its group. Return its last lines; its status is set."""
        process = self._popen.pid
        os.killpg(process, signal.SIGKILL)
        self._reaper.forget(process)
        lines = []
        for descriptor, cutter in self.streams.items():
            # Not until its end: what has left the group may hold it open for ever.
            for _ in range(LAST_READS):
                if not (data := _read(descriptor)):
                    break
                lines += cutter.feed(data)
            lines += cutter.finish()
        self.streams.clear()
        os.close(self.ended)
        self.status = self._popen.wait()
        for pipe in (self._popen.stdout, self._popen.stderr):
            assert pipe is not None
            pipe.close()
        return lines


def has_lived(started: float) -> bool:
    """Return whether a process, started at `started` [s], ran long enough to be started again."""
    return time.monotonic() - started >= LEAST_LIFE


def _before_exec(parent: int, register: int) -> None:
    """Prepare the new process before it executes the program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)  # the parent ended before the death signal was set
    os.write(register, b"+%d\n" % os.getpid())


def _read(descriptor: int) -> bytes | None:
    """Return the available bytes: none at the end of the stream, None if it has no data yet."""
    try:
        return os.read(descriptor, READ_SIZE)
    except BlockingIOError:
        return None


def catches(process: int, number: signal.Signals) -> bool:
    """Return True if the process has a handler for the signal; a zombie has none.

    Raises OSError if there is no such process.
    """
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    masks = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def describe(status: int) -> str:
    """Describe how a process ended."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"


def exit_code(status: int) -> int:
    """Return the exit code that a shell reports for `status`."""
    return status if status >= 0 else 128 - status
