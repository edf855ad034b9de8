"""What a kind of fault is: how it comes and goes, and what the robot must do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Final

from faults.judge import JUMP
from faults.robot import Robot
from faults.situation import ALL, Situation, Start
from faults.stream import Stream
from humanoid_control_common.safety import SafetyFlag
from humanoid_twin.prime import CAN_JOINTS, JOINTS, RING_JOINTS

RING: Final = "PrimeEtherCATSide"
CAN: Final = "PrimeSitoCAN"
_IDS: Final = {joint: device for device, joint in CAN_JOINTS.items()}


class RefutedError(Exception):
    """The robot did at once what it must not do."""


class Outcome(Enum):
    """What must become of the robot."""

    SOFT = "falls to DAMPING and says why"
    OFF = "drives let go by themselves: nobody is there to say anything"
    STAYS = "goes on as if nothing had happened"
    EITHER = "goes on or falls to DAMPING, whichever the fault's luck makes it"


class Recovery(Enum):
    """The documented way back."""

    CLEAR = "clear_fault"
    RESTART = "restart of the control process"


class Filed(Enum):
    """What the black box must have kept of it."""

    FALL = "a file that tells of the fall, if there is one"
    END = "a file that goes to the last tick: the control process is killed"
    NOTHING = "no file: the control process ends in order"


@dataclass(slots=True)
class Scene:
    """One fault as it happens: whom it strikes, and with what."""

    robot: Robot
    dice: Random
    situation: Situation
    joint: str  # whom it strikes, if anybody
    stream: Stream | None  # in REMOTE
    began: float = 0.0  # [s] of the robot: when the fault did

    def begins(self) -> None:
        """It begins now."""
        self.began = self.robot.twin.time()

    @property
    def slave(self) -> int:
        """Ring position of the joint."""
        return RING_JOINTS.index(self.joint)

    @property
    def motor(self) -> int:
        """CAN id of the joint."""
        return _IDS[self.joint]


Act = Callable[[Scene], object]


def nothing(_scene: Scene) -> None:
    """It mends itself, or is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault.

    `said` are regular expressions; `{joint}` in them is the joint it strikes.
    """

    name: str
    inject: Act
    mend: Act = nothing
    joints: Sequence[str] = JOINTS  # whom it may strike
    starts: Sequence[Start] = ALL
    outcome: Outcome = Outcome.SOFT
    within: float = 0.5  # [s] from the fault until no joint is stiff
    watched: float = 0.4  # [s] the fault lasts, at least
    source: str = ""  # of the SafetyStatus; empty: none is expected
    flags: SafetyFlag = SafetyFlag.NONE  # in it, among others
    said: str = ""  # in its message or, without a source, in the statement
    recovery: Recovery = Recovery.CLEAR
    filed: Filed = Filed.FALL
    spared: Callable[[Scene], Sequence[str]] = lambda _scene: ()  # joints beyond anybody's reach
    follows: bool = False  # a target that follows the joint counts as soft, whatever the gains
    starves: bool = False  # the machine is meant to be held up
    jump: float = JUMP  # [rad] a joint may leave its course by within a period of the loop
    known: str = ""  # why bounds are known not to hold; such violations are counted apart
    quick: bool = False  # one of the short form


RING_ONLY: Final = tuple(RING_JOINTS)
CAN_ONLY: Final = tuple(CAN_JOINTS.values())
