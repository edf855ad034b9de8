"""What a guard must know to do its work; it reads it from its standard input."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final

from humanoid_devices_can.bus import BusSettings, CanFrame

GOOD_BYE: Final = b"good-bye\n"


@dataclass(frozen=True, slots=True)
class GuardJob:
    """The bus, and what disables all motors on it."""

    bus: BusSettings
    motors: str  # their names, for messages
    frames: tuple[CanFrame, ...]
    voices: tuple[int, ...]  # identifiers the motors speak with; none: every data frame is theirs
    patience: float  # [s] the loop may stand still
    page: int  # descriptor of the shared memory

    def encode(self) -> bytes:
        """One line."""
        content = asdict(self)
        content["bus"]["options"] = dict(self.bus.options)
        content["frames"] = [(identifier, data.hex()) for identifier, data in self.frames]
        return json.dumps(content).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> GuardJob:
        """The job of a line. Raises ValueError or TypeError."""
        content = json.loads(line)
        content["bus"] = BusSettings(**content["bus"])
        content["voices"] = tuple(content["voices"])
        content["frames"] = tuple((it[0], bytes.fromhex(it[1])) for it in content["frames"])
        return cls(**content)
