"""Reads the numbers of messages whose other fields are known.

rclpy makes a Python object of every name and number of a message. For a command of 14 joints that
takes 0.3 ms, check included, in a process that does it 100 times a second.
"""

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.ros.topics.message_template import DOUBLE, SECOND, STAMP, STAMP_AT

_BEGIN: Final = STAMP_AT  # of the first field, a header; alignment counts from there
_LITTLE_ENDIAN: Final = b"\x00\x01"  # CDR; two bytes of options follow, which have no meaning
_LENGTH: Final = struct.Struct("<I")  # of a string, with its zero at the end, or of a sequence


class RowsReader:
    """Reads messages of a header, the sequence `names`, and `count` sequences of as many float64.

    Args:
        frame_id: of the header.
    """

    def __init__(self, frame_id: str, names: Sequence[str], count: int) -> None:
        self._shape = (count, len(names) + 1)  # each row behind its length, which takes a double
        self._fixed, self._meant = bytearray(), bytearray()  # bytes, and which of them count: 0xFF
        self._put(_LITTLE_ENDIAN)
        self._put(bytes(2 + STAMP.size), meant=False)
        self._put_string(frame_id)
        self._put_length(len(names))
        for name in names:
            self._put_string(name)
        for _ in range(count):
            self._put_length(len(names))
            self._align(DOUBLE)
            self._put(bytes(len(names) * DOUBLE), meant=False)
        self._size = len(self._fixed)
        self._known = int.from_bytes(self._fixed, "little")
        self._mask = int.from_bytes(self._meant, "little")

    def read(self, data: bytes) -> tuple[int, FloatArray] | None:
        """Return stamp [ns] and numbers, shape (count, n), of a serialized message.

        Returns None if another field differs. Gaps between fields may have any content.
        """
        if len(data) != self._size or int.from_bytes(data, "little") & self._mask != self._known:
            return None
        seconds, nanoseconds = STAMP.unpack_from(data, STAMP_AT)
        count, width = self._shape
        rows = np.frombuffer(data, "<f8", count * width, self._size - count * width * DOUBLE)
        return seconds * SECOND + nanoseconds, rows.reshape(count, width)[:, 1:].copy()

    def _put(self, content: bytes, *, meant: bool = True) -> None:
        self._fixed += content
        self._meant += (b"\xff" if meant else b"\x00") * len(content)

    def _align(self, size: int) -> None:
        self._put(bytes((_BEGIN - len(self._fixed)) % size), meant=False)

    def _put_length(self, length: int) -> None:
        self._align(_LENGTH.size)
        self._put(_LENGTH.pack(length))

    def _put_string(self, text: str) -> None:
        content = text.encode() + b"\x00"
        self._put_length(len(content))
        self._put(content)
