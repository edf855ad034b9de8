"""What the page shows at one moment, frozen. Unknown is None, never 0; what is old says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from humanoid_viz.model import RobotModel


class Flow(Enum):
    """Whether a topic's messages arrive."""

    NEVER = "never"
    FLOWING = "flowing"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Connection:
    """How /prime/joint_states arrives."""

    flow: Flow
    age: float | None = None  # [s] since the last message; None if there was none
    rate: float | None = None  # [Hz] over the last second; None unless flowing


@dataclass(frozen=True, slots=True)
class Statement:
    """What the mode manager states on /control_mode."""

    mode: int
    controller: str
    message: str  # why a request was refused or a mode was left; empty if neither


@dataclass(frozen=True, slots=True)
class ModeInForce:
    """The last statement, and whether it may still be believed."""

    flow: Flow
    statement: Statement | None = None  # None if there was none
    age: float | None = None  # [s]


@dataclass(frozen=True, slots=True)
class StandbyProgress:
    """How far the STANDBY pose sequence is."""

    segment: int  # from 0
    segments: int
    progress: float  # 0 to 1
    finished: bool


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """What one safety source reported; level and flags as in humanoid_control_msgs/SafetyStatus."""

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
    """What became of the operator's last click."""

    text: str
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything the page shows."""

    connection: Connection
    mode: ModeInForce
    standby: StandbyProgress | None = None  # None unless STANDBY is in force and told its progress
    safety: tuple[SafetyRow, ...] = ()
    joints: tuple[JointRow, ...] = ()
    model: RobotModel | None = None  # None if no valid description came
    description_error: str = ""
    unknown_joints: tuple[str, ...] = ()  # in the joint states, not in the description
    answer: Answer | None = None
