"""An adapter that speaks the LAWICEL protocol, without the serial line: bytes in, bytes out."""

from collections.abc import Callable
from typing import Final

from humanoid_twin.can import lawicel
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import Cause, ErrorState, Trouble
from humanoid_twin.can.errors import CanError
from humanoid_twin.can.frame import CanFrame

_VERSION: Final = b"V1013\r"  # of hardware and software (LAWICEL manual, example)
_SERIAL: Final = b"NTWIN\r"
_RX_FULL, _TX_FULL, _WARNING, _PASSIVE, _BUS_ERROR = 0x01, 0x02, 0x04, 0x20, 0x80
# ^ bits of the answer to F (LAWICEL manual); bus-off shows as error passive with bus errors


class LawicelAdapter:
    """Commands of a host, and a node of the bus. A closed channel is off the bus.

    `write` gets what goes to the host; it says whether the host could take it.
    """

    def __init__(self, bus: VirtualCanBus, write: Callable[[bytes], bool]) -> None:
        self._bus, self._write = bus, write
        self.controller = bus.attach(self._receive, trouble=self._trouble, restarts=False)
        self.controller.set(powered=False)
        self.tells_flags = True  # knows the command F, from the next opening of the channel on
        self._knows_flags = True
        self._line = bytearray()
        self._bitrate: int | None = None
        self._stamps = False
        self._flags = 0

    @property
    def is_open(self) -> bool:
        """Whether the channel takes part in the bus."""
        return self.controller.powered

    def forget_line(self) -> None:
        """Another host has opened the line: what the last one left half-written is void."""
        self._line.clear()

    def feed(self, received: bytes, now: int) -> None:
        """Characters from the host, at `now` [ns]."""
        *lines, rest = (bytes(self._line) + received).split(b"\r")
        self._line[:] = rest[: lawicel.LONGEST_LINE + 1]  # too long, and stays so until its end
        answers = b"".join([self._answer(line, now) for line in lines])
        if answers:
            self._write(answers)

    def _answer(self, line: bytes, now: int) -> bytes:
        letter = line[:1]
        if letter in (b"t", b"T", b"r", b"R"):
            return self._send(line, letter, now)
        if letter == b"":
            return lawicel.OK  # an empty line empties the adapter's buffer (LAWICEL manual)
        answers = {b"V": _VERSION, b"v": _VERSION, b"N": _SERIAL}
        if line in answers:
            return answers[line]
        if letter == b"F" and len(line) == 1 and self._knows_flags:
            return self._status()
        accepted = {b"S": self._set_up, b"O": self._open, b"L": self._open, b"C": self._close,
                    b"Z": self._set_stamps}.get(letter)  # fmt: skip
        return lawicel.OK if accepted and accepted(line) else lawicel.ERROR

    def _send(self, line: bytes, letter: bytes, now: int) -> bytes:
        if not self.is_open:
            return lawicel.ERROR
        try:
            frame = lawicel.decode(line)
        except CanError:
            return lawicel.ERROR
        if not self.controller.send(frame, now):
            return lawicel.ERROR
        return (b"z" if letter in (b"t", b"r") else b"Z") + lawicel.OK

    def _set_up(self, line: bytes) -> bool:
        number = line[1:]
        if self.is_open or len(number) != 1 or not b"0" <= number <= b"8":
            return False
        self._bitrate = lawicel.BITRATES[int(number)]
        return True

    def _open(self, line: bytes) -> bool:
        if self.is_open or len(line) != 1 or self._bitrate is None:
            return False
        self._flags, self._knows_flags = 0, self.tells_flags
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
            return lawicel.ERROR
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

    # The bus.

    def _receive(self, frame: CanFrame, now: int) -> None:
        stamp = now // 1_000_000 if self._stamps else None
        if not self._write(lawicel.encode(frame, stamp)):
            self._flags |= _RX_FULL

    def _trouble(self, trouble: Trouble, now: int) -> None:
        del now
        if trouble.cause is Cause.OVERRUN:
            self._flags |= _TX_FULL
        elif trouble.cause not in (Cause.STATE, Cause.RESTARTED):
            self._flags |= _BUS_ERROR
