"""Messages that are serialized once; later ones differ in stamp and numbers only.

rclpy converts each field of a message, names included: 0.2 ms for the joint states of 14 joints in
a process that does it every 20 ms. To write stamp and numbers into the bytes takes half of it.
"""

import struct
from collections.abc import Sequence
from typing import Any, Final

from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message

from humanoid_control_common.robot.joints import FloatArray

STAMP: Final = struct.Struct("<iI")
STAMP_AT: Final = 4  # behind CDR's own header; a message's header is its first field
SECOND: Final = 1_000_000_000  # [ns]
DOUBLE: Final = 8  # bytes; also the size of each sequence's head: its length and a gap


def nanoseconds(stamp: Time) -> int:
    """Return a stamp in [ns]."""
    return int(stamp.sec * SECOND + stamp.nanosec)


def time_of(stamp: int) -> Time:
    """Return a stamp [ns] as a message."""
    seconds, rest = divmod(stamp, SECOND)
    return Time(sec=seconds, nanosec=rest)


class MessageTemplate:
    """A message whose last fields are `count` sequences of float64, all of `width` numbers.

    Args:
        message: with sequences of that length in it.
        stamped: whether it begins with a header.
    """

    def __init__(
        self, message: Any, count: int = 0, width: int = 1, *, stamped: bool = True
    ) -> None:
        assert width > 0, "rclpy serializes empty sequences in another way than the wire has them"
        self._data = bytearray(serialize_message(message))
        self._stamped = stamped
        length = width * DOUBLE
        self._rows: Sequence[slice] = [
            slice(start, start + length)
            for i in range(count)
            for start in [len(self._data) - (count - i) * length - (count - i - 1) * DOUBLE]
        ]

    def filled(self, stamp: int, values: FloatArray | Sequence[FloatArray] = ()) -> bytes:
        """Return the message at `stamp` [ns] with `values`, shape (count, width)."""
        data = self._data
        if self._stamped:
            STAMP.pack_into(data, STAMP_AT, *divmod(stamp, SECOND))
        for place, row in zip(self._rows, values, strict=True):
            data[place] = row.tobytes()
        return bytes(data)
