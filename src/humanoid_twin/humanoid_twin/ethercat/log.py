"""The events of a ring, for tests: requests, accesses, states and faults."""

from collections import deque
from collections.abc import Callable
from typing import Final

from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.coe.coe import CompletedAccess

Detail = dict[str, int | str | bool]
LONGEST_LOG: Final = 10_000  # lines, some 6 MB: minutes of a robot in STANDBY

# (ring time [s], ring position, kind, detail)
LogLine = tuple[float, int, str, Detail]
Note = Callable[[str, Detail], None]
_LONGEST_INTEGER: Final = 8  # [bytes]


class RingLog:
    """The lines since the last `take`, bounded in number."""

    def __init__(self, simulated_time: SimulatedTime) -> None:
        self._simulated_time = simulated_time
        self._lines: deque[LogLine] = deque(maxlen=LONGEST_LOG)
        self._added = 0  # since the last `take`

    def add(self, slave: int, kind: str, detail: Detail) -> None:
        """Add a line, at the present time."""
        self._lines.append((self._simulated_time.now / 1e9, slave, kind, detail))
        self._added += 1

    def take(self) -> list[LogLine]:
        """Return the lines since the last call; the first states how many were dropped, if any."""
        lines = list(self._lines)
        dropped = self._added - len(lines)
        self._lines.clear()
        self._added = 0
        if dropped:
            lines.insert(0, (lines[0][0], -1, "dropped", {"lines": dropped}))
        return lines


def request_detail(payload: bytes) -> Detail:
    """Return the fields of a CoE request; 0 for those it is too short for."""
    padded = payload[:6].ljust(6, b"\0")
    return {
        "service": padded[1] >> 4,
        "command": padded[2],
        "index": int.from_bytes(padded[3:5], "little"),
        "subindex": padded[5],
    }


def access_detail(access: CompletedAccess) -> Detail:
    """Return object and outcome of an access; `value` is a signed integer or hex digits."""
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
