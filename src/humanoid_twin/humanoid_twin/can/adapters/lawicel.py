"""The adapter's side of the LAWICEL protocol (slcan)."""

from collections.abc import Callable
from typing import Final

from humanoid_twin.can.adapters.line_faults import LineFaults
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import Cause, ControllerReport, ErrorState
from humanoid_twin.can.frame import LONGEST, CanFrame
from humanoid_twin.errors import CanError

OK: Final = b"\r"
ERROR: Final = b"\a"
LONGEST_LINE: Final = 1 + 8 + 1 + 2 * LONGEST  # characters of a command
BITRATES: Final = (10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 800_000, 1_000_000)
# ^ [bit/s] of S0 to S8
MINUTE: Final = 60_000  # [ms] at which time stamps start again
_DIGITS: Final = frozenset(b"0123456789abcdefABCDEF")
# Identifier, length and data, by whether the frame is extended and whether it is a remote frame.
_LAYOUTS: Final = {
    (True, False): "T%08X%d%s",
    (True, True): "R%08X%d%s",
    (False, False): "t%03X%d%s",
    (False, True): "r%03X%d%s",
}


def encode(frame: CanFrame, milliseconds: int | None = None) -> bytes:
    """Return the line with a frame for the host, its end included."""
    layout = _LAYOUTS[frame.extended, frame.requested is not None]
    line = layout % (frame.identifier, frame.length, frame.data.hex().upper())
    if milliseconds is not None:
        line += f"{milliseconds % MINUTE:04X}"
    return line.encode() + OK


def decode(line: bytes) -> CanFrame:
    """Return the frame to send of a line `t`, `T`, `r` or `R` without its end.

    Raises:
        CanError: the line is no such command.
    """
    extended, remote = line[:1] in (b"T", b"R"), line[:1] in (b"r", b"R")
    if line[:1] not in (b"t", b"T", b"r", b"R"):
        raise CanError(f"{line!r} is no frame")
    at = 9 if extended else 4
    if len(line) <= at or not _DIGITS.issuperset(line[1:]):
        raise CanError(f"{line!r}: expected an identifier, a length and data in hexadecimal digits")
    length, data = line[at] - ord("0"), line[at + 1 :]
    if not 0 <= length <= LONGEST or len(data) != (0 if remote else 2 * length):
        raise CanError(f"{line!r}: length and data don't match")
    identifier = int(line[1:at], 16)
    if remote:
        return CanFrame(identifier, b"", extended, length)
    return CanFrame(identifier, bytes.fromhex(data.decode()), extended)


_VERSION: Final = b"V1013\r"  # of hardware and software (LAWICEL manual, example)
_SERIAL: Final = b"NTWIN\r"
_RX_FULL, _TX_FULL, _WARNING, _PASSIVE, _BUS_ERROR = 0x01, 0x02, 0x04, 0x20, 0x80
# ^ bits of the answer to F (LAWICEL manual); bus-off shows as error passive with bus errors


class LawicelAdapter:
    """Serves a host's commands with a node of the bus. A closed channel is off the bus.

    `write` sends bytes to the host, and returns whether the host could take them.
    """

    def __init__(self, bus: VirtualCanBus, write: Callable[[bytes], bool]) -> None:
        self.faults = LineFaults()
        self._bus, self._take = bus, write
        self.controller = bus.attach(self._receive, on_report=self._on_report, restarts=False)
        self.controller.set(powered=False)
        self.offers_flags = True  # has the command F, from the next opening of the channel on
        self._has_flags = True
        self._line = bytearray()
        self._bitrate: int | None = None
        self._stamps = False
        self._flags = 0

    @property
    def is_open(self) -> bool:
        """True if the channel takes part in the bus."""
        return self.controller.powered

    def forget_line(self) -> None:
        """Drop a half-written line, after another host has opened the channel."""
        self._line.clear()

    def feed(self, received: bytes, now: int) -> None:
        """Take characters from the host, at `now` [ns], or when a hold-up ends."""
        if now < self.controller.held_until:
            self._bus.after_hold_up(self.controller, lambda at: self.feed(received, at))
            return
        *lines, rest = (bytes(self._line) + self.faults.disturb(received)).split(b"\r")
        self._line[:] = rest[: LONGEST_LINE + 1]  # too long, and stays so until its end
        answers = b"".join(
            [
                answer
                for line in lines
                if (answer := self._answer(line, now)) and not self.faults.leaves_out(line)
            ]
        )
        if answers:
            self._write(answers)

    def _write(self, data: bytes) -> bool:
        return self._take(self.faults.disturb(data))

    def _answer(self, line: bytes, now: int) -> bytes:
        letter = line[:1]
        if letter in (b"t", b"T", b"r", b"R"):
            return self._send(line, letter, now)
        if letter == b"":
            return OK  # an empty line empties the adapter's buffer (LAWICEL manual)
        answers = {b"V": _VERSION, b"v": _VERSION, b"N": _SERIAL}
        if line in answers:
            return answers[line]
        if letter == b"F" and len(line) == 1 and self._has_flags:
            return self._status()
        accepted = {b"S": self._set_up, b"O": self._open, b"L": self._open, b"C": self._close,
                    b"Z": self._set_stamps}.get(letter)  # fmt: skip
        return OK if accepted and accepted(line) else ERROR

    def _send(self, line: bytes, letter: bytes, now: int) -> bytes:
        if not self.is_open:
            return ERROR
        try:
            frame = decode(line)
        except CanError:
            return ERROR
        if not self.controller.send(frame, now):
            return ERROR
        return (b"z" if letter in (b"t", b"r") else b"Z") + OK

    def _set_up(self, line: bytes) -> bool:
        number = line[1:]
        if self.is_open or len(number) != 1 or not b"0" <= number <= b"8":
            return False
        self._bitrate = BITRATES[int(number)]
        return True

    def _open(self, line: bytes) -> bool:
        if self.is_open or len(line) != 1 or self._bitrate is None:
            return False
        self._flags, self._has_flags = 0, self.offers_flags
        self.controller.set(powered=True, bitrate=self._bitrate, listens_only=line == b"L")
        return True

    def _close(self, line: bytes) -> bool:
        if not self.is_open or len(line) != 1:
            return False
        self.controller.set(powered=False)
        return True

    def _set_stamps(self, line: bytes) -> bool:
        if self.is_open or line[1:] not in (b"0", b"1"):
            return False
        self._stamps = line == b"Z1"
        return True

    def _status(self) -> bytes:
        if not self.is_open:
            return ERROR
        flags, self._flags = self._flags, 0
        if self.controller.full:
            flags |= _TX_FULL
        state = self.controller.state
        if state is not ErrorState.ACTIVE:
            flags |= _WARNING
        if state in (ErrorState.PASSIVE, ErrorState.BUS_OFF):
            flags |= _PASSIVE
        if state is ErrorState.BUS_OFF:
            flags |= _BUS_ERROR
        return b"F%02X\r" % flags

    def overrun(self) -> None:
        """Note that the host has not taken what it was to receive."""
        self._flags |= _RX_FULL

    # The bus.

    def _receive(self, frame: CanFrame, now: int) -> None:
        stamp = now // 1_000_000 if self._stamps else None
        if not self._write(encode(frame, stamp)):
            self.overrun()

    def _on_report(self, report: ControllerReport, now: int) -> None:
        del now
        if report.cause is Cause.OVERRUN:
            self._flags |= _TX_FULL
        elif report.cause not in (Cause.STATE, Cause.RESTARTED):
            self._flags |= _BUS_ERROR
