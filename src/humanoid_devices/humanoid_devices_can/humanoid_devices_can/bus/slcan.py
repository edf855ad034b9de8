"""python-can's slcan interface, reading many lines at once and evaluating the adapter's answers.

The original reads byte by byte, which takes a third of a core at our rates, drops the adapter's
refusals, and fails at bytes that are not text. Commands and flags: LAWICEL CAN232 manual.
"""

import contextlib
import math
import os
import select
from typing import Any, Final

from can import BusState
from can.exceptions import CanOperationError, CanTimeoutError
from can.interfaces.slcan import slcanBus

from humanoid_control_common.machine.linux import LINUX

ASK_FLAGS: Final = 0.1  # [s] between two requests for the status flags
SETTLE: Final = 0.1  # [s] an adapter may take to answer the commands that open it
MOST_OUTSTANDING: Final = 5  # frames without answer; the adapter may queue 10
ANSWER_TIMEOUT: Final = 0.2  # [s] after which an answer counts as lost
LONGEST_LINE: Final = 64  # bytes; the longest answer of an adapter has 32
_ERROR_PASSIVE: Final = 0x20
_QUEUE_FULL: Final = 0x02  # of frames to be sent
_BROKEN: Final = _ERROR_PASSIVE | 0x80  # and a bus error


class SlcanBus(slcanBus):  # type: ignore[misc]
    """An adapter that speaks slcan. One thread may receive while another sends.

    Adapters with a USB interface of their own don't restart when they are opened; for those that
    do, set `sleep_after_open` [s].
    """

    def __init__(self, channel: str, *, sleep_after_open: float = 0.0, **options: Any) -> None:
        self.refused = 0  # negative answers, mostly because the adapter's queue is full
        self.accepted = 0  # positive answers; many adapters send none
        self._lost = 0  # answers that will not come
        self._sent = 0
        self._sent_at = -math.inf  # [s]
        self.flags = 0  # latest status flags
        self._flags_requested = -math.inf
        self._sent_before_asking = 0  # frames
        # Bytes that the port has not accepted yet. Empty lines come first: they end a command that
        # a dead process left half written (LAWICEL manual: two or three of them).
        self._unsent = bytearray(2 * self.LINE_TERMINATOR)
        self._answered = False  # the adapter supports the request for flags
        self._off = False
        self._refused_before = 0  # refusals at the latest flags
        super().__init__(channel, sleep_after_open=sleep_after_open, **options)
        self._settle()

    @property
    def state(self) -> BusState:
        """Return the state that the adapter's flags show.

        No flag means bus-off (ERROR here). It is inferred: the controller is error passive with bus
        errors, and refuses frames although its queue is not full.
        """
        if self._off:
            return BusState.ERROR
        return BusState.PASSIVE if self.flags & _ERROR_PASSIVE else BusState.ACTIVE

    def shutdown(self) -> None:
        """Close the channel if the adapter is still there, and the port in any case."""
        with contextlib.suppress(CanOperationError):
            super().shutdown()
        self.serialPortOrig.close()

    def leave(self) -> None:
        """Close the port but not the channel, which another process may use."""
        self.serialPortOrig.close()
        self.shutdown()  # can't write to the adapter any more

    def _settle(self) -> None:
        """Receive the answers to the opening commands, so that they count as no frame's."""
        deadline = LINUX.clock() + SETTLE
        self._ask()
        while not self._answered and (left := deadline - LINUX.clock()) > 0.0:
            self._read(left)
        self.refused = self._refused_before = 0

    def send(self, msg: Any, timeout: float | None = None) -> None:
        """See python-can. Raises CanTimeoutError at once while too many answers are missing."""
        if self._unsent:
            self._push()
        # An adapter that doesn't know the request would answer as if it refused a frame.
        again = self._answered and LINUX.clock() - self._flags_requested > ASK_FLAGS
        if again and not self._unsent:
            self._ask()
        if self._unsent or self._outstanding() >= MOST_OUTSTANDING:
            raise CanTimeoutError("the adapter has not answered yet")
        super().send(msg, self.serialPortOrig.write_timeout)
        self._sent_at = LINUX.clock()
        self._sent += 1

    def _outstanding(self) -> int:
        """Return the number of frames without answer; overdue ones don't count."""
        answered = self.accepted + self.refused + self._lost
        if not self.accepted or LINUX.clock() - self._sent_at > ANSWER_TIMEOUT:
            self._sent = answered  # the adapter answers no frames, or an answer was lost
        self._sent = max(self._sent, answered)  # a late answer came after all
        return self._sent - answered

    def _write(self, string: str) -> None:
        # Not the original's flush(), which waits for a USB round trip per frame.
        self._unsent += string.encode() + self.LINE_TERMINATOR
        self._push()

    def _push(self) -> None:
        """Write what the port accepts now; the rest goes before anything else."""
        try:
            del self._unsent[: os.write(self.serialPortOrig.fileno(), self._unsent)]
        except BlockingIOError:
            return
        except (OSError, ValueError) as error:
            code = getattr(error, "errno", None)
            raise CanOperationError(f"cannot write: {error}", code) from error

    def _read(self, timeout: float | None) -> str | None:
        """Return a frame's line, None after `timeout` [s]. Raises CanOperationError, ValueError."""
        deadline = LINUX.clock() + (timeout or 0.0)
        while True:
            line = self._line()
            if line is not None:
                return line
            left = max(deadline - LINUX.clock(), 0.0)
            if not self._fill(left) and left == 0.0:
                return None

    def _fill(self, timeout: float) -> bool:
        """Read into the buffer within `timeout` [s]; return whether anything arrived."""
        try:
            descriptor = self.serialPortOrig.fileno()
            if not select.select([descriptor], [], [], timeout)[0]:
                return False
            data = os.read(descriptor, 4096)
        except (OSError, ValueError) as error:
            code = getattr(error, "errno", None)
            raise CanOperationError(f"cannot read: {error}", code) from error
        if not data:
            raise CanOperationError("the serial port was closed at the other end")
        self._buffer.extend(data)
        return True

    def _ask(self) -> None:
        """Request the status flags."""
        self._flags_requested = LINUX.clock()
        self._sent_before_asking = self._sent
        self._write("F")

    def _line(self) -> str | None:
        """Return the next frame's line in the buffer; evaluate the adapter's answers before it."""
        while True:
            ends = [i for i in (self._buffer.find(b"\r"), self._buffer.find(b"\a")) if i >= 0]
            if not ends:
                self._check_length()
                return None
            line, end = bytes(self._buffer[: min(ends)]), self._buffer[min(ends)]
            del self._buffer[: min(ends) + 1]
            if end == ord("\a"):
                self.refused += 1
            if line[:1] == b"F":
                self._take_flags(int(line[1:], 16))
            elif line.upper() == b"Z":
                self.accepted += 1
            elif line:
                return line.decode("ascii")

    def _take_flags(self, flags: int) -> None:
        refuses = self.refused > self._refused_before and not flags & _QUEUE_FULL
        self._off = refuses and flags & _BROKEN == _BROKEN
        self._refused_before = self.refused
        self.flags, self._answered = flags, True
        # The adapter works line by line: frames before the request have been answered. A host that
        # was held up loses answers; without this they would count as outstanding for ever.
        missing = self._sent_before_asking - self.accepted - self.refused
        self._lost = max(self._lost, missing)

    def _check_length(self) -> None:
        if len(self._buffer) > LONGEST_LINE:
            found = bytes(self._buffer[:8])
            self._buffer.clear()
            raise ValueError(f"no end of line in {LONGEST_LINE} bytes that begin with {found!r}")
