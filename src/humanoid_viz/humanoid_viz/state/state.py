"""The state that the page shows at one moment, frozen. Unknown is None; old data are marked."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from humanoid_control_common.rules.safety import surplus
from humanoid_viz.state.model import RobotModel


class StreamState(Enum):
    """State of a topic's stream of messages."""

    NEVER = "never"
    FLOWING = "flowing"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Connection:
    """The stream of /prime/joint_states."""

    flow: StreamState
    age: float | None = None  # [s] since the last message; None if there was none
    rate: float | None = None  # [Hz] over the last second; None unless flowing


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the mode manager on /control_mode."""

    mode: int
    controller: str
    message: str  # why a request was refused or a mode was left; empty if neither
    codes: tuple[str, ...] = ()  # reason codes of the message


@dataclass(frozen=True, slots=True)
class ModeInForce:
    """The last statement, and whether statements still arrive."""

    flow: StreamState
    statement: Statement | None = None  # None if there was none
    age: float | None = None  # [s]


@dataclass(frozen=True, slots=True)
class StandbyProgress:
    """Progress of the STANDBY pose sequence."""

    segment: int  # from 0
    segments: int
    progress: float  # 0 to 1
    finished: bool


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """A report of one safety source; level and flags as in humanoid_control_msgs/SafetyStatus."""

    source: str
    level: int
    flags: int
    message: str


@dataclass(frozen=True, slots=True)
class SafetyRow:
    """The latest report of one safety source."""

    report: SafetyReport
    outdated: bool  # from before the connection was lost; its source may be gone


@dataclass(frozen=True, slots=True)
class JointRow:
    """One joint; None is unknown."""

    name: str
    position: float | None = None  # [rad]
    velocity: float | None = None  # [rad/s]
    effort: float | None = None  # [Nm]
    command_position: float | None = None  # [rad]
    command_stiffness: float | None = None  # [Nm/rad]
    command_damping: float | None = None  # [Nm*s/rad]


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of the operator's last click."""

    text: str
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything the page shows."""

    connection: Connection
    mode: ModeInForce
    standby: StandbyProgress | None = None  # None unless STANDBY is in force and its progress known
    safety: tuple[SafetyRow, ...] = ()
    joints: tuple[JointRow, ...] = ()
    model: RobotModel | None = None  # None if no valid description came
    description_error: str = ""
    unknown_joints: tuple[str, ...] = ()  # in the joint states, not in the description
    answer: Answer | None = None


class SafetyReports:
    """The latest report of each source; those beyond a bound become one FAULT with the latest."""

    def __init__(self) -> None:
        self._latest: dict[str, SafetyReport] = {}

    def __iter__(self) -> Iterator[SafetyReport]:
        return iter(self._latest.values())

    def put(self, report: SafetyReport) -> str:
        """Keep a report. Return the source under which it is kept."""
        if fault := surplus(report.source, self._latest):
            report = SafetyReport(fault.source, fault.level, fault.flags, fault.message)
        self._latest[report.source] = report
        return report.source
