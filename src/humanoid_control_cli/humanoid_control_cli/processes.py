"""Child processes that cannot outlive this one: started, read, signalled and buried."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

from humanoid_control_cli import guard
from humanoid_control_cli.lines import LineCutter
from humanoid_control_common.ending_times import SIGTERM_TO_SIGKILL

PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
READ_SIZE: Final = 65536  # bytes: what a pipe holds
LAST_READS: Final = 64  # so much is read of a process that has ended: a pipe's largest usual size

_LIBC: Final = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start. When a required one ends, the others are stopped."""

    label: str
    arguments: tuple[str, ...]
    required: bool = True
    ready: str = ""  # the later ones wait until it prints a line that begins so
    outlives: bool = False  # the later ones need it until they have ended


class Guard:
    """A process that ends the others if this one is killed; see guard.py. Also owns `folder`.

    The death signal of the kernel (`_before_exec`) asks them to end too, even if the guard was
    killed with this process; but it can only ask, and neither reaches their children nor survives
    an `exec` that gains privileges.
    """

    def __init__(self, patience: float = SIGTERM_TO_SIGKILL) -> None:
        self.folder = Path(tempfile.gettempdir()) / f"humanoid_control_{os.urandom(8).hex()}"
        command = [sys.executable, "-I", "-S", guard.__file__, str(self.folder), str(patience)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        self._pipe: IO[bytes] = self._process.stdin
        self.folder.mkdir(mode=0o700)  # only now that it will be removed, come what may

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        """Have the guard end what is left, which is nothing unless an exception is on its way."""
        self._pipe.close()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # in case it was killed

    @property
    def descriptor(self) -> int:
        """Where process groups are added and forgotten."""
        return self._pipe.fileno()

    def forget(self, process: int) -> None:
        """Call it while `process` is a zombie, whose number nobody else can have yet."""
        with suppress(BrokenPipeError):  # it was killed
            self._pipe.write(b"-%d\n" % process)


class Child:
    """A running process, leader of a session and of a process group of its own.

    Starts with SIGINT ignored: it has no effect before the program says what it does with it, and
    no half-imported Python program answers it with a traceback.

    Raises OSError or subprocess.SubprocessError if it can't be started.
    """

    def __init__(self, command: Command, guard: Guard, environment: Mapping[str, str]) -> None:
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
            start_new_session=True,
            # Safe, as this process has one thread. The death signal, too, is that of this thread.
            preexec_fn=partial(  # noqa: PLW1509
                _before_exec, os.getpid(), guard.descriptor
            ),
        )
        assert self._popen.stdout is not None and self._popen.stderr is not None
        self._guard = guard
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
        """Whether others need it until they have ended."""
        return self.command.outlives

    @property
    def required(self) -> bool:
        """Whether the robot can't go on without it."""
        return self.command.required

    @property
    def ended_as_asked(self) -> bool:
        """Whether it ended in order after a request, or by a request it didn't catch yet."""
        asked = {-number for number in self.sent if number is not signal.SIGKILL}
        return bool(asked) and self.status in {0, *asked}

    @property
    def running(self) -> bool:
        """Whether it has not been buried yet."""
        return self.status is None

    def read(self, descriptor: int) -> list[bytes]:
        """The lines that have come on one of its streams. At its end the stream is dropped."""
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
        """Whether the program has said what it does with a signal."""
        status = Path(f"/proc/{self._popen.pid}/status").read_text(encoding="ascii")
        caught = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
        return any(int(mask, 16) >> (number - 1) & 1 for mask in caught)  # a zombie has no mask

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its process group."""
        self.sent.append(number)
        os.killpg(self._popen.pid, number)  # exists at least as a zombie until `bury`

    def bury(self) -> list[bytes]:
        """End what it has left running in its group and take its last lines and its status."""
        process = self._popen.pid
        os.killpg(process, signal.SIGKILL)
        self._guard.forget(process)
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


def _before_exec(parent: int, register: int) -> None:
    """Runs in the new process, before the program."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)  # the parent was gone before its death could be announced
    os.write(register, b"+%d\n" % os.getpid())


def _read(descriptor: int) -> bytes | None:
    """What is there; nothing at the end of the stream; None if there is nothing yet."""
    try:
        return os.read(descriptor, READ_SIZE)
    except BlockingIOError:
        return None


def describe(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"


def exit_code(status: int) -> int:
    """The exit code that tells how a process ended, as shells have it."""
    return status if status >= 0 else 128 - status
