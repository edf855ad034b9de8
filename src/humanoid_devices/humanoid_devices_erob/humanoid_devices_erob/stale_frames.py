"""Frames that came back after nobody waited for them any more.

SOEM tells answers from each other by an index of which there are 16, and looks at one frame per
question. Answers that come late stay in its socket's buffer: every later question is then answered
with an old frame, of another slave maybe, for good. So what is left over goes before the next one;
and after a silence so long that the indices have come round, the first answer is not believed.

SOEM also waits in `recv` with a timeout that the kernel rounds up to a scheduler tick: 4 to 8 ms at
250 Hz for every lost frame, with the interpreter held. Where that matters, `wait` comes first.
"""

from __future__ import annotations

import errno
import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from humanoid_devices_erob.ring_errors import InterfaceError

_FRAME_BYTES: Final = 1518
# Questions without any answer in a row, each sent up to four times, after which SOEM's 16 indices
# may have come round.
SILENCE: Final = 4
_QUIET: Final = 0.002  # [s] without a frame after which the late answers are taken to be over
_MOST_FRAMES: Final = 10_000  # that are waited for: no ring is that late


class StaleFrames:
    """The buffer of the socket that SOEM has opened on a network interface."""

    def __init__(self, interface: str) -> None:
        """Raises InterfaceError if there is no such socket in this process.

        The same for whatever is sent or received once the interface is down or gone.
        """
        self._interface = interface
        self._socket = _packet_socket(interface)
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._silence = 0

    def wait(self, seconds: float) -> bool:
        """Whether a frame has come within about so many seconds; other threads run meanwhile."""
        return bool(self._readable.poll(seconds * 1e3))

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        """Reading takes what is there, in SOEM too: both descriptors share the setting."""
        os.set_blocking(self._socket.fileno(), False)
        try:
            yield
        finally:
            os.set_blocking(self._socket.fileno(), True)

    def drop(self) -> None:
        """Throw away what is in the buffer."""
        while self.receive():
            pass

    def send(self, frame: bytes) -> None:
        """Put a frame on the line that is none of SOEM's."""
        try:
            self._socket.send(frame)
        except OSError as error:
            raise self._lost(error) from error

    def receive(self) -> bytes:
        """The oldest frame in the buffer; empty if there is none."""
        try:
            return self._socket.recv(_FRAME_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> InterfaceError:
        advice = "is its adapter still plugged in?"
        if error.errno == errno.ENETDOWN:
            advice = f"'sudo ip link set {self._interface} up', then 'hc clear-fault'"
        return InterfaceError(f"network interface '{self._interface}': {error.strerror}: {advice}")

    def judged(self, working_counter: int) -> int:
        """The working counter of the latest exchange; -1 if its answer can't be believed."""
        if working_counter < 0:
            self._silence += 1
            return -1
        return working_counter if self._believable() else -1

    def _believable(self) -> bool:
        """Whether the answer that has just come can be that to the latest question.

        If not, returns when late answers have stopped coming.
        """
        silence, self._silence = self._silence, 0
        if silence < SILENCE:
            return True
        for _ in range(_MOST_FRAMES):
            if not self.wait(_QUIET):
                break
            self.drop()
        return False

    def close(self) -> None:
        """SOEM closes its socket itself; this is only another name of it."""
        self._socket.close()


def _packet_socket(interface: str) -> socket.socket:
    """A duplicate of the process's packet socket on `interface`: pysoem doesn't hand it out."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            if not entry.readlink().name.startswith("socket:"):
                continue
            found = socket.socket(fileno=os.dup(int(entry.name)))
            if found.family == socket.AF_PACKET and found.getsockname()[0] == interface:
                return found
            found.close()
    raise InterfaceError(f"network interface '{interface}': pysoem has opened no socket on it")
