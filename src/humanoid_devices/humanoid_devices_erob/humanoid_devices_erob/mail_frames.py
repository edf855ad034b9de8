"""Frames with datagrams to many slaves: SOEM's own have one each, and every frame has its price.

They go through the socket that SOEM has opened, while SOEM is not using it. Their indices are none
of SOEM's 16, so that neither takes the other's answer for its own, however late it comes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from humanoid_devices_erob.mailbox_port import Access
from humanoid_devices_erob.stale_frames import StaleFrames
from humanoid_devices_erob.wire.errors import WireError
from humanoid_devices_erob.wire.frame import (
    SHORTEST_FRAME,
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)

_FIRST_STATION: Final = 0x1001  # SOEM: EC_NODEOFFSET, then one more for each slave
_FIRST_INDEX: Final = 16  # SOEM: EC_MAXBUF
_LAST_INDEX: Final = 0xFF


class MailFrames:
    """Asks one frame at a time and waits for its answer."""

    def __init__(self, line: StaleFrames, patience: float) -> None:
        """`patience`: [s] an answer is waited for."""
        self._line, self._patience = line, patience
        self._index = _FIRST_INDEX

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """See MailboxPort."""
        index = self._next_index()
        asked = [_datagram(access, index) for access in accesses]
        self._line.drop()
        self._line.send(_frame(asked))
        answers = self._answers(asked, self._patience)
        return [it.data if it.counter else None for it in answers] or [None] * len(asked)

    def ask_everyone(self, address: int, length: int) -> Datagram:
        """Send a BRD, to be answered by `everyone`; other frames may be under way."""
        asked = Datagram(Command.BRD, physical(0, address), bytes(length), self._next_index())
        self._line.send(_frame([asked]))
        return asked

    def everyone(self, asked: Datagram, patience: float) -> tuple[bytes, int]:
        """What all slaves have answered, or-ed, and how many they were; 0 if the frame is lost."""
        for answer in self._answers([asked], patience):
            return answer.data, answer.counter
        return asked.data, 0

    def _answers(self, asked: Sequence[Datagram], patience: float) -> Sequence[Datagram]:
        """Empty if they don't come within `patience` [s]; other frames are thrown away."""
        questions = _questions(asked)
        end = time.perf_counter() + patience
        while (left := end - time.perf_counter()) > 0.0 and self._line.wait(left):
            try:
                found = decode_frame(self._line.receive())
            except WireError:
                continue
            if _questions(found) == questions:
                return found
        return ()

    def _next_index(self) -> int:
        self._index = self._index + 1 if self._index < _LAST_INDEX else _FIRST_INDEX
        return self._index


def _frame(datagrams: Sequence[Datagram]) -> bytes:
    return encode_frame(datagrams).ljust(SHORTEST_FRAME, b"\0")


def _datagram(access: Access, index: int) -> Datagram:
    address = physical(_FIRST_STATION + access.slave, access.address)
    if access.data:
        return Datagram(Command.FPWR, address, access.data, index)
    return Datagram(Command.FPRD, address, bytes(access.length), index)


def _questions(datagrams: Sequence[Datagram]) -> list[tuple[int, int, int]]:
    """What tells an answer from that to anything else."""
    return [(it.command, it.index, len(it.data)) for it in datagrams]
