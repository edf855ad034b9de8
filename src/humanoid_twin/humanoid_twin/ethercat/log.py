"""What happened on a ring, for tests: who was asked what, and when."""

from collections import deque
from collections.abc import Callable
from typing import Final

from humanoid_twin.clock import Moment
from humanoid_twin.ethercat.coe import Accessed

Detail = dict[str, int | str | bool]
LONGEST_LOG: Final = 200_000  # entries; the oldest are lost then

# (ring time [s], ring position, kind, detail)
LogLine = tuple[float, int, str, Detail]
Note = Callable[[str, Detail], None]
_LONGEST_INTEGER: Final = 8  # [bytes]


class RingLog:
    """Lines since they were last taken."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self._lines: deque[LogLine] = deque(maxlen=LONGEST_LOG)

    def add(self, slave: int, kind: str, detail: Detail) -> None:
        """One more line, at the time that is being dealt with."""
        self._lines.append((self._moment.now / 1e9, slave, kind, detail))

    def take(self) -> list[LogLine]:
        """All lines since the last call."""
        lines = list(self._lines)
        self._lines.clear()
        return lines


def request_detail(payload: bytes) -> Detail:
    """What a CoE message that has just arrived asks for, as far as it can be told."""
    padded = payload[:6].ljust(6, b"\0")
    return {
        "service": padded[1] >> 4,
        "command": padded[2],
        "index": int.from_bytes(padded[3:5], "little"),
        "subindex": padded[5],
    }


def access_detail(access: Accessed) -> Detail:
    """What was read or written, and with what end; `value` is a signed integer or hex digits."""
    detail: Detail = {
        "index": access.index,
        "subindex": access.subindex,
        "abort": access.abort,
        "complete": access.complete,
    }
    if access.complete or len(access.data) > _LONGEST_INTEGER:
        detail["value"] = access.data.hex()
    else:
        detail["value"] = int.from_bytes(access.data, "little", signed=True)
    return detail
