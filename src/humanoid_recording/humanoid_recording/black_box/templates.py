"""Messages in which only numbers change: serialized once, then filled in.

Serializing each tick of a minute would take a second of the robot's processor.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final

from rclpy.serialization import serialize_message

from humanoid_control_common.joints import FloatArray

_STAMP: Final = struct.Struct("<iI")
_STAMP_AT: Final = 4  # behind CDR's own header; a message's header is its first field
_SECOND: Final = 1_000_000_000  # [ns]
_DOUBLE: Final = 8  # bytes; also the size of each sequence's head: its length and a gap


class Template:
    """A message whose last fields are `count` sequences of float64, all of `width` numbers.

    Args:
        message: with sequences of that length in it.
        stamped: whether it begins with a header.
    """

    def __init__(self, message: Any, count: int, width: int, *, stamped: bool = True) -> None:
        assert width > 0, "rclpy serializes empty sequences in another way than the wire has them"
        self._data = bytearray(serialize_message(message))
        self._stamped = stamped
        length = width * _DOUBLE
        self._rows: Sequence[slice] = [
            slice(start, start + length)
            for i in range(count)
            for start in [len(self._data) - (count - i) * length - (count - i - 1) * _DOUBLE]
        ]

    def filled(self, stamp: int, values: FloatArray) -> bytes:
        """Return the message with `values`, shape (count, width), at `stamp` [ns]."""
        data = self._data
        if self._stamped:
            _STAMP.pack_into(data, _STAMP_AT, *divmod(stamp, _SECOND))
        for place, row in zip(self._rows, values, strict=True):
            data[place] = row.tobytes()
        return bytes(data)
