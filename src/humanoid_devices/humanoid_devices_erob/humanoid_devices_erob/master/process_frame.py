"""The frame that exchanges the process data of all slaves, with the clock and the AL states.

SOEM's own needs a second frame for the AL states, and a copy per slave and direction. The order of
the process data is that of SOEM: the outputs of all slaves, then the inputs of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

from humanoid_devices_erob.master.al_state import AlState
from humanoid_devices_erob.protocol.frame import (
    DATAGRAM_HEADER,
    ETHERTYPE,
    HEADER_BYTES,
    SHORTEST_FRAME,
    WORKING_COUNTER,
    Command,
    Datagram,
    encode_frame,
    physical,
)
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES

FIRST_STATION: Final = 0x1001  # SOEM: EC_NODEOFFSET, then one more for each slave
AL_STATUS: Final = 0x0130, 2  # register and length (ETG.1000.6)
FMMUS: Final = 0x0600, 32  # the two that SOEM uses (ETG.1000.4)
_SYSTEM_TIME: Final = 0x0910, 8  # of the reference clock, the first slave's (ETG.1000.4)
_FMMU: Final = Struct("<IHBBHBBB3x")  # logical start, length, …, type
_INPUTS, _OUTPUTS = 1, 2  # type of an FMMU
_ETHERTYPE: Final = ETHERTYPE.to_bytes(2, "big")
_LENGTH_AT: Final = 6  # in a datagram


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """The answer to a frame of process data."""

    working_counter: int  # of the process data
    inputs: bytes  # of all slaves; old ones of slaves that did not take part
    dc_time: int  # [ns] of the reference clock when the frame passed it
    present: int  # slaves that the frame has passed, with and without a set-up
    all_in_op: bool


class ProcessFrame:
    """The frame for `count` slaves; it is made once.

    Raises ProtocolError if their process data does not fit into one frame.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        datagrams = [
            Datagram(Command.LRW, 0, bytes(count * (RX_BYTES + TX_BYTES))),
            Datagram(
                Command.FRMW, physical(FIRST_STATION, _SYSTEM_TIME[0]), bytes(_SYSTEM_TIME[1])
            ),
            Datagram(Command.BRD, physical(0, AL_STATUS[0]), bytes(AL_STATUS[1])),
        ]
        self._frame = bytearray(encode_frame(datagrams).ljust(SHORTEST_FRAME, b"\0"))
        self._starts: list[int] = []  # of the datagrams' headers
        self._data: list[slice] = []
        position = HEADER_BYTES
        for datagram in datagrams:
            self._starts.append(position)
            start = position + DATAGRAM_HEADER.size
            position = start + len(datagram.data)
            self._data.append(slice(start, position))
            position += WORKING_COUNTER.size
        image = self._data[0]
        inputs = image.start + count * RX_BYTES
        self._outputs, self._inputs = slice(image.start, inputs), slice(inputs, image.stop)

    def request(self, index: int, outputs: bytes) -> bytes:
        """Return the frame with the outputs of all slaves, RX_BYTES each.

        Raises ValueError for outputs of another length.
        """
        if len(outputs) != self._count * RX_BYTES:
            raise ValueError(f"{len(outputs)} bytes of outputs for {self._count} slaves")
        for start in self._starts:
            self._frame[start + 1] = index
        self._frame[self._outputs] = outputs
        return bytes(self._frame)

    def answer(self, frame: bytes) -> ExchangeResult | None:
        """Return what `frame` brings, None if it is no answer to the latest request."""
        if len(frame) < len(self._frame) or frame[12:14] != _ETHERTYPE:
            return None
        for start in self._starts:
            length = start + _LENGTH_AT
            if (
                frame[start : start + 2] != self._frame[start : start + 2]
                or frame[length : length + 2] != self._frame[length : length + 2]
            ):
                return None
        counters = [WORKING_COUNTER.unpack_from(frame, data.stop)[0] for data in self._data]
        _, clock, states = self._data
        return ExchangeResult(
            counters[0],
            frame[self._inputs],
            int.from_bytes(frame[clock], "little"),
            counters[2],
            counters[2] == self._count and frame[states.start] == AlState.OP,
        )

    def keep(self, inputs: bytes) -> None:
        """Send `inputs` with the next requests: slaves that take no part leave them as they are."""
        self._frame[self._inputs] = inputs


def misplaced(fmmus: Sequence[bytes]) -> int | None:
    """Return the first slave whose process data is not where the frame has it, None if none.

    `fmmus`: the registers FMMUS of all slaves.
    """
    for place, registers in enumerate(fmmus):
        found = set()
        for logical, length, _, _, _, _, kind, _ in _FMMU.iter_unpack(registers):
            found.add((kind, logical, length))
        outputs = _OUTPUTS, place * RX_BYTES, RX_BYTES
        inputs = _INPUTS, len(fmmus) * RX_BYTES + place * TX_BYTES, TX_BYTES
        if not {outputs, inputs} <= found:
            return place
    return None
