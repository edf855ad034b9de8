"""What happened on a ring, for tests: who was asked what, and when."""

from collections import deque
from collections.abc import Callable
from typing import Final

from humanoid_twin.clock import Moment
from humanoid_twin.ethercat.coe import Accessed

Detail = dict[str, int | str | bool]
LONGEST_LOG: Final = 10_000  # lines, some 6 MB: what a robot in STANDBY does in some minutes

# (ring time [s], ring position, kind, detail)
LogLine = tuple[float, int, str, Detail]
Note = Callable[[str, Detail], None]
_LONGEST_INTEGER: Final = 8  # [bytes]


class RingLog:
    """The latest lines since they were last taken: it doesn't grow where nothing takes them."""

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self._lines: deque[LogLine] = deque(maxlen=LONGEST_LOG)
        self._added = 0  # since they were last taken

    def add(self, slave: int, kind: str, detail: Detail) -> None:
        """One more line, at the time that is being dealt with."""
        self._lines.append((self._moment.now / 1e9, slave, kind, detail))
        self._added += 1

    def take(self) -> list[LogLine]:
        """The lines since the last call. If the oldest were dropped, the first line says so."""
        lines = list(self._lines)
        dropped = self._added - len(lines)
        self._lines.clear()
        self._added = 0
        if dropped:
            lines.insert(0, (lines[0][0], -1, "dropped", {"lines": dropped}))
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
