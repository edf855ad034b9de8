"""python-can's slcan interface, with many lines in one read and in one write.

The original reads byte by byte and writes line by line, which takes a third of a core at our rates,
drops the adapter's refusals, and fails at bytes that are not text. Commands and flags: LAWICEL
CAN232 manual.
"""

import contextlib
import math
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Final

from can import BusABC, BusState, Message
from can.exceptions import CanOperationError, CanTimeoutError
from can.interfaces.slcan import slcanBus

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.confirmations import Confirmations
from humanoid_devices_can.bus.serial_port import OpenPort

ASK_FLAGS: Final = 0.1  # [s] between two requests for the status flags
ASK_AGAIN: Final = 0.1  # [s] until a request whose answer is missing is repeated
SETTLE: Final = 0.1  # [s] an adapter may take to answer the commands that open it
MOST_OUTSTANDING: Final = 5  # frames without answer; the adapter may queue 10
ANSWER_TIMEOUT: Final = 0.2  # [s] after which an answer counts as lost
LONGEST_LINE: Final = 64  # bytes; the longest answer of an adapter has 32
BUSY: Final = 0.001  # [s] until a port that another process reads is tried again
EMPTY_READS: Final = 20  # in a row, of a port that is readable again at once: it is closed
_VERSION: Final = "V"  # the one request that adapters of all makes answer
_FLAGS_LINE: Final = 3  # characters of the answer about the flags
_ERROR_PASSIVE: Final = 0x20
_QUEUE_FULL: Final = 0x02  # of frames to be sent
_BROKEN: Final = _ERROR_PASSIVE | 0x80  # and a bus error


class SlcanBus(slcanBus):  # type: ignore[misc]
    """An adapter that speaks slcan. One thread may receive while another sends.

    Args:
        channel: path of the port, or PATH@BAUD_RATE.
        bitrate: of the bus [bit/s].
        machine: has the clock.
        open_port: opens the port; `options` are its further arguments.
        sleep_after_open: time [s] for adapters that restart when they are opened. Those with a USB
            interface of their own don't.

    Raises OSError, ValueError, TypeError, CanOperationError.
    """

    def __init__(
        self,
        channel: str,
        *,
        bitrate: int,
        machine: Machine,
        open_port: OpenPort,
        sleep_after_open: float = 0.0,
        **options: Any,
    ) -> None:
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
        self._lines: deque[bytes | ValueError] = deque()  # frames, and what is none
        self._answered = False  # the adapter supports the request for flags
        self._has_version = False  # and the one for its version
        self._confirmations = Confirmations()
        self._off = False
        self._refused_before = 0  # refusals at the latest flags
        self._machine, self._clock = machine, machine.clock
        # Not the original's constructor, which opens a device, and the channel twice.
        self._listen_only = False
        self._queue: SimpleQueue[str] = SimpleQueue()
        self._buffer = bytearray()
        self._port = open_port(channel, **options)
        try:
            machine.sleep(sleep_after_open)
            self.set_bitrate(bitrate)
            BusABC.__init__(self, channel)
            self._settle()
        except (CanOperationError, ValueError):
            self.leave()  # another process may use the channel
            raise

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
        BusABC.shutdown(self)
        with contextlib.suppress(CanOperationError):
            self.close()
        self._port.close()

    def leave(self) -> None:
        """Close the port but not the channel, which another process may use."""
        BusABC.shutdown(self)
        self._port.close()

    def _settle(self) -> None:
        """Receive the answers to the opening commands, so that they count as no frame's."""
        self._write(_VERSION)
        self._ask()
        self._await(lambda: self._answered, SETTLE)
        self._lines.clear()
        self.refused = self._refused_before = 0

    def send(self, msg: Any, timeout: float | None = None) -> None:
        """Send a data frame. Raises CanTimeoutError at once while too many answers are missing."""
        del timeout
        frame = msg.arbitration_id, bytes(msg.data)
        if not self.send_frames([frame], extended=msg.is_extended_id):
            raise CanTimeoutError("the adapter has not answered yet")

    def send_frames(self, frames: Sequence[tuple[int, bytes]], *, extended: bool) -> int:
        """Send frames of identifier and data in one write; return how many have room.

        Raises CanOperationError.
        """
        layout = "T%08X%d%s\r" if extended else "t%03X%d%s\r"
        sent = frames[: self._room()]
        if sent:
            lines = [layout % (name, len(data), data.hex().upper()) for name, data in sent]
            self._unsent += "".join(lines).encode()
            self._push()
            self._note_sent(len(sent))
        return len(sent)

    def _room(self) -> int:
        """Return how many frames may be sent now. Asks for the status flags now and then."""
        if self._unsent:
            self._push()
        # An adapter that doesn't support the request would answer as if it refused a frame.
        again = self._answered and self._clock() - self._flags_requested > ASK_FLAGS
        if again and not self._unsent:
            self._ask()
        return 0 if self._unsent else MOST_OUTSTANDING - self._outstanding()

    def _note_sent(self, count: int) -> None:
        self._sent_at = self._clock()
        self._sent += count

    def _outstanding(self) -> int:
        """Return the number of frames without answer; overdue ones don't count."""
        answered = self.accepted + self.refused + self._lost
        if not self.accepted or self._clock() - self._sent_at > ANSWER_TIMEOUT:
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
            del self._unsent[: self._port.write(self._unsent)]
        except (OSError, ValueError) as error:
            code = getattr(error, "errno", None)
            raise CanOperationError(f"cannot write: {error}", code) from error

    def take_lines(self, timeout: float) -> list[bytes | ValueError]:
        """Return the lines that have arrived, frames and others; empty after `timeout` [s].

        Raises CanOperationError.
        """
        self._await_line(timeout)
        found = []
        while self._lines:
            found.append(self._take_first())
        return found

    def take_line(self, timeout: float) -> bytes | ValueError | None:
        """Return the next line; None after `timeout` [s], or when the adapter has confirmed.

        Raises CanOperationError.
        """
        self._await_line(timeout)
        return self._take_first() if self._lines else None

    def message(self, line: bytes) -> Message | None:
        """Return the frame of a line; None for another line. Raises ValueError, IndexError."""
        self._queue.put_nowait(line.decode("ascii"))
        return self._recv_internal(0.0)[0]

    def _read(self, timeout: float | None) -> str | None:
        """Return a frame's line, None after `timeout` [s]. Raises CanOperationError, ValueError."""
        line = self.take_line(timeout or 0.0)
        if isinstance(line, ValueError):
            raise line
        return None if line is None else line.decode("ascii")

    def _take_first(self) -> bytes | ValueError:
        line = self._lines.popleft()
        self._confirm()
        return line

    def _confirm(self) -> None:
        """Note the answers about the version before which no line waits."""
        while self._lines and _is_version(self._lines[0]):
            self._lines.popleft()
            self._confirmations.confirm(_VERSION)

    def _await_line(self, timeout: float) -> None:
        """Read until there is a line or a confirmation, or `timeout` [s] has passed.

        Raises CanOperationError.
        """
        confirmed = self._confirmations.until

        def there() -> bool:
            return bool(self._lines) or self._confirmations.until != confirmed

        if there():
            return
        nothing = self._fill() is None
        if not there() and not (nothing and timeout <= 0.0):
            self._await(there, timeout)

    def _await(self, there: Callable[[], object], timeout: float) -> None:
        """Read until it is `there`, or `timeout` [s] has passed. Raises CanOperationError."""
        deadline, empty = self._clock() + timeout, 0
        while self._is_readable(max(deadline - self._clock(), 0.0)):
            filled = self._fill()
            if there():
                return
            # An empty read may be the end of the port: only a row of them shows it.
            if filled is not False and self._clock() >= deadline:
                return
            if filled is None:
                self._machine.sleep(BUSY)
            # The guard, or the control process, may have taken the bytes in between.
            empty = empty + 1 if filled is False and self._is_readable(0.0) else 0
            if empty >= EMPTY_READS:
                raise CanOperationError("the serial port was closed at the other end")

    def _is_readable(self, timeout: float) -> bool:
        """Wait for bytes, or the end of the port, for at most `timeout` [s]."""
        try:
            return self._port.is_readable(timeout)
        except (OSError, ValueError) as error:
            raise _cannot_read(error) from error

    def _fill(self) -> bool | None:
        """Take the lines in what has arrived; return whether anything has.

        None: nothing, or another process reads the port at this moment.
        """
        try:
            data = self._port.read()
        except (OSError, ValueError) as error:
            raise _cannot_read(error) from error
        if data is None:
            return None
        self._buffer.extend(data)
        self._split()
        return bool(data)

    def confirm_by(self, confirmations: Confirmations) -> bool:
        """Note the answers to `ask_version` there. Return False if there are none."""
        self._confirmations = confirmations
        return self._has_version

    def ask_version(self) -> None:
        """Request the version: the answer comes behind all frames that the adapter has received.

        Do nothing while an answer is missing. Raises CanOperationError.
        """
        now = self._clock()
        if self._confirmations.may_give(now - ASK_AGAIN):
            self._confirmations.given(_VERSION, now)
            self._write(_VERSION)

    def _ask(self) -> None:
        """Request the status flags."""
        self._flags_requested = self._clock()
        self._sent_before_asking = self._sent
        self._write("F")

    def _split(self) -> None:
        """Move the whole lines out of the buffer; evaluate the adapter's answers among them."""
        end = max(self._buffer.rfind(b"\r"), self._buffer.rfind(b"\a")) + 1
        whole = bytes(self._buffer[:end])
        del self._buffer[:end]
        for line in whole.replace(b"\a", b"\a\r").split(b"\r")[:-1]:
            self._take_line(line)
        if len(self._buffer) > LONGEST_LINE:
            found = bytes(self._buffer[:8])
            self._buffer.clear()
            text = f"no end of line in {LONGEST_LINE} bytes that begin with {found!r}"
            self._lines.append(ValueError(text))

    def _take_line(self, line: bytes) -> None:
        if line.endswith(b"\a"):
            self.refused += 1
            line = line[:-1]
        if line[:1] == b"F":
            try:
                self._take_flags(_flags_of(line))
            except ValueError as error:
                self._lines.append(error)
        elif line in (b"Z", b"z"):
            self.accepted += 1
        elif line:
            self._lines.append(line)
            if _is_version(line):
                self._has_version = True
                self._confirm()

    def _take_flags(self, flags: int) -> None:
        refuses = self.refused > self._refused_before and not flags & _QUEUE_FULL
        self._off = refuses and flags & _BROKEN == _BROKEN
        self._refused_before = self.refused
        self.flags, self._answered = flags, True
        # The adapter works line by line: frames before the request have been answered. A host that
        # was held up loses answers; without this they would count as outstanding for ever.
        missing = self._sent_before_asking - self.accepted - self.refused
        self._lost = max(self._lost, missing)


def _is_version(line: bytes | ValueError) -> bool:
    return isinstance(line, bytes) and line[:1] in (b"V", b"v")


def _flags_of(line: bytes) -> int:
    if len(line) != _FLAGS_LINE:
        raise ValueError(f"damaged: {line!r}")
    return int(line[1:], 16)


def _cannot_read(error: OSError | ValueError) -> CanOperationError:
    return CanOperationError(f"cannot read: {error}", getattr(error, "errno", None))
