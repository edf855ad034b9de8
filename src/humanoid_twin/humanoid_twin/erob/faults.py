"""The errors of a drive: 0x603F, 0x1001 and the stored history 0x1003."""

from collections import deque
from enum import IntEnum


class DriveError(IntEnum):
    """Error codes of the eRob seen on Prime (actuator documents)."""

    COMMUNICATION = 0xA000
    POSITION_ERROR = 0x8500
    VELOCITY_ERROR = 0x8400
    CAN_HEARTBEAT = 0x8130
    ENCODER_BATTERY = 0x730F  # a public host project; no fault reset clears it


class FaultMemory:
    """The error in force and the last ones, newest first.

    The history is stored: a power cycle clears the error in force, not the history (assumed).
    """

    def __init__(self, length: int) -> None:
        self.code = 0  # 0x603F, 0: none
        self._history: deque[int] = deque(maxlen=length)

    def record(self, code: int) -> None:
        """Record an error."""
        self.code = code
        self._history.appendleft(code)

    def reset(self) -> None:
        """Clear the error in force; the history stays."""
        self.code = 0

    def clear_history(self) -> None:
        """Clear the history, as a write of 0 to 0x1003:00 does (CiA 301)."""
        self._history.clear()

    @property
    def count(self) -> int:
        """Errors in the history."""
        return len(self._history)

    def entry(self, subindex: int) -> int:
        """Return the error at 0x1003:`subindex`, 1 being the newest; 0 without one."""
        return self._history[subindex - 1] if subindex <= len(self._history) else 0

    @property
    def register(self) -> int:
        """0x1001: generic, communication or device-profile bit (CiA 301)."""
        if not self.code:
            return 0
        family = 0x10 if self.code in (DriveError.COMMUNICATION, DriveError.CAN_HEARTBEAT) else 0x20
        return 0x01 | family
