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
        self._index = self._index + 1 if self._index < _LAST_INDEX else _FIRST_INDEX
        asked = [_datagram(access, self._index) for access in accesses]
        self._line.drop()
        self._line.send(encode_frame(asked).ljust(SHORTEST_FRAME, b"\0"))
        end = time.perf_counter() + self._patience
        while (left := end - time.perf_counter()) > 0.0 and self._line.wait(left):
            answers = _answers(self._line.receive(), asked)
            if answers is not None:
                return answers
        return [None] * len(asked)


def _datagram(access: Access, index: int) -> Datagram:
    address = physical(_FIRST_STATION + access.slave, access.address)
    if access.data:
        return Datagram(Command.FPWR, address, access.data, index)
    return Datagram(Command.FPRD, address, bytes(access.length), index)


def _answers(frame: bytes, asked: Sequence[Datagram]) -> list[bytes | None] | None:
    """What came back, None for a datagram that no slave has served; None for another frame."""
    try:
        found = decode_frame(frame)
    except WireError:
        return None
    if [_question(it) for it in found] != [_question(it) for it in asked]:
        return None
    return [it.data if it.counter else None for it in found]


def _question(datagram: Datagram) -> tuple[int, int, int, int]:
    return datagram.command, datagram.index, datagram.address, len(datagram.data)
