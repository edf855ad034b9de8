"""A frame whose working counter is wrong, as if one slave had not taken part."""

from typing import Final

from humanoid_devices_erob.wire.frame import (
    DATAGRAM_HEADER,
    HEADER_BYTES,
    LENGTH_MASK,
    MORE_FOLLOWS,
    WORKING_COUNTER,
    Command,
)

_LOGICAL: Final = (Command.LRD, Command.LWR, Command.LRW)


def miscount(frame: memoryview) -> None:
    """Take 1 from the working counter of the process data in an answer, if there are any."""
    position, flags = HEADER_BYTES, MORE_FOLLOWS
    while flags & MORE_FOLLOWS and position + DATAGRAM_HEADER.size <= len(frame):
        command, _, _, flags, _ = DATAGRAM_HEADER.unpack_from(frame, position)
        counter = position + DATAGRAM_HEADER.size + (flags & LENGTH_MASK)
        if counter + WORKING_COUNTER.size > len(frame):
            return
        if command in _LOGICAL:
            found = WORKING_COUNTER.unpack_from(frame, counter)[0]
            WORKING_COUNTER.pack_into(frame, counter, max(found - 1, 0))
        position = counter + WORKING_COUNTER.size
