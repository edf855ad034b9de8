"""The layout of the tick recorder's files, for its writer and its readers.

A file has a header and three rings of records of fixed size: the ticks of the control loop, the
events of the loop, and the events of its ROS side. Each ring has one writer. A record is whole if
the numbers at its two ends are equal: the writer writes one first and the other last.
`record_types` has the numpy types of their fields.
"""

import json
import struct
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Final, Self

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import Layout

LAYOUT: Final = Layout("tick records", b"HCFLIGHT", version=3, words=64)  # words: see Word
EVENT_SLOTS: Final = 1024  # in each ring of events
TEXT: Final = 728  # bytes of an event's text; longer ones are cut
CODES: Final = 256  # bytes of its reason codes, with spaces between; those beyond are left out
CONTROLLER: Final = 48  # bytes of a controller's name
# Of a tick: the fields of `tick_type` up to the controller's name; native, so that numbers are
# stored whole (all fields are aligned).
TICK_HEAD: Final = struct.Struct(f"@QqqQddQIBBH{CONTROLLER}s")
TICK_END: Final = struct.Struct("@Q")
_NUMBER: Final = 8  # bytes of every other number


class Word(IntEnum):
    """Numbers behind those of `HeaderWord`; each has one writer and may be read at any time."""

    ENDED = 3  # 1: the control process has ended in order
    TICKS = 4  # records written so far
    LOOP_EVENTS = 5
    ROS_EVENTS = 6
    SAVED_LOOP_EVENTS = 7  # events saved to a file; written by the black box
    SAVED_ROS_EVENTS = 8
    TICKS_ENDED = 9  # 1: the loop has ended as requested; the exit of the hardware may take longer


class EventKind(IntEnum):
    """Kinds of events. The text is for operators; `level` is that of a SafetyReport."""

    SWITCH = 0  # another controller is in force
    FALL = 1  # by the loop, or by the mode manager
    REPORT = 2  # of a safety source: "source<tab>flags<tab>message"
    REFUSAL = 3
    REQUEST = 4
    STATEMENT = 5  # a status message of the mode manager


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFacts:
    """Constant facts about a control process."""

    pid: int
    process_start: int  # [clock ticks since boot]: differs for a later process with this pid
    boot_id: str
    domain: int  # ROS_DOMAIN_ID
    backend: str  # the bring-up's name of what moves the joints; empty: unknown
    update_rate: float  # [Hz]
    wall_period: float  # [s] of wall time between two ticks; 0: as fast as possible
    seconds: float  # length of the ring of ticks
    joints: tuple[str, ...]
    sources: tuple[str, ...]  # hardware components, in the order of their reports
    counters: tuple[str, ...]  # of the buses; they only grow
    limited: tuple[str, ...]  # kinds of limits
    robot_description: str  # URDF
    state_topic: str
    command_topic: str
    namespace: str = ""  # of the robot, see robot_namespace

    @property
    def tick_slots(self) -> int:
        """Number of records in the ring of ticks."""
        return max(2, round(self.seconds * self.update_rate))

    @property
    def tick_size(self) -> int:
        """Size of one record of a tick [bytes]."""
        joints = len(self.joints)
        numbers = len(self.sources) + len(self.counters) + (len(self.limited) + 3 + 5) * joints
        return TICK_HEAD.size + numbers * _NUMBER + TICK_END.size

    def to_bytes(self) -> bytes:
        """Return the facts as in the file."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the facts in `data`. Raises RobotError if there are none."""
        try:
            plain: dict[str, Any] = json.loads(data)
            lists = {key: tuple(value) for key, value in plain.items() if isinstance(value, list)}
            return cls(**(plain | lists))
        except (ValueError, TypeError) as error:
            raise RobotError(f"the facts of the tick records cannot be read: {error}") from error
