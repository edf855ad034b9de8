"""Definition of a kind of fault: its injection, its end, and the robot's duty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from typing import Final

from fault_campaign.disturbing.stream import Stream
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.violation import Breach
from fault_campaign.robot import NotHealthyError, Robot
from fault_campaign.robot_joints import PRIME, RobotJoints, Struck
from fault_campaign.scenario import ALL, Scenario, Start
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag
from humanoid_twin.can.control import CanMethods

JOINT: Final = "{joint}"  # in `Kind.named`: the joint it strikes
BLOCK: Final = "{block}"  # in `Kind.named` and `Kind.source`: the hardware component of that joint
HEALS: Final = 1.0  # [s] a robot may take, once the fault is mended, until faults can be cleared
HEALS_UP: Final = 5.0  # [s] the same of one whose processes were started again


class RefutedError(Exception):
    """The robot did at once what it must not do."""


@contextmanager
def health_demanded(what: str) -> Iterator[None]:
    """Turn NotHealthyError into RefutedError: the robot must be well with `what`."""
    try:
        yield
    except NotHealthyError as error:
        raise RefutedError(f"not well with {what}: {error}") from error


class Outcome(Enum):
    """Required outcome."""

    SOFT = "falls to DAMPING and says why"
    OFF = "drives let go by themselves: the control process can't say anything"
    STAYS = "goes on as if nothing had happened"
    EITHER = "goes on or falls to DAMPING, whichever the fault's luck makes it"


class Recovery(Enum):
    """The documented way back."""

    CLEAR = "clear_fault"
    RESTART = "restart of the control process"


class Filed(Enum):
    """Record that the black box must keep."""

    FALL = "a file that tells of the fall, if there is one"
    END = "a file that goes to the last tick: the control process is killed"
    NOTHING = "no file: the control process ends in order"


@dataclass(slots=True)
class Scene:
    """One fault as it happens: its robot, joint and random numbers."""

    robot: Robot
    dice: Random
    scenario: Scenario
    joint: str  # the joint that it strikes, if any
    stream: Stream | None  # in REMOTE
    began: float = 0.0  # [s] of the robot: when the fault did
    ends: ExitStack = field(default_factory=ExitStack)  # of what the fault leaves to its mending

    def begins(self) -> None:
        """Set its beginning to the present time."""
        self.began = self.robot.twin.time()

    @property
    def slave(self) -> int:
        """Ring position of the joint."""
        return self.robot.joints.slave(self.joint)

    @property
    def motor(self) -> int:
        """CAN id of the joint."""
        return self.robot.joints.motor(self.joint)

    @property
    def bus(self) -> str:
        """Name of the joint's CAN bus."""
        return self.robot.joints.bus(self.joint)

    @property
    def can(self) -> CanMethods:
        """Commands of the joint's CAN bus."""
        return self.robot.twin.bus(self.bus)

    @property
    def block(self) -> str:
        """Name of the joint's hardware component."""
        return self.robot.joints.block(self.joint)


Act = Callable[[Scene], object]


def nothing(_scene: Scene) -> None:
    """Do nothing: the fault ends by itself."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A bound of one kind that is wider than the general one, for one quantity."""

    breach: Breach  # SPEED, EFFORT or JUMP
    upto: float
    why: str
    robot: str = ""  # the only one that it is for; empty: all


# The motors of Lite's arms let go at once where their watchdogs act or their bus is broken.
LETS_GO: Final = Allowed(Breach.JUMP, 0.06, "a raised arm without torque swings", robot="lite")


def widest(allowed: Sequence[Allowed]) -> list[Allowed]:
    """Return the widest bound of each quantity."""
    found: dict[str, Allowed] = {}
    for it in allowed:
        if it.breach not in found or it.upto > found[it.breach].upto:
            found[it.breach] = it
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault."""

    name: str
    inject: Act
    mend: Act = nothing
    strikes: Struck = Struck.JOINT  # a robot without such a joint does not have it
    only: Sequence[str] = ()  # joints it may strike, if not all of that sort
    robot: RobotJoints = PRIME  # see `on`
    starts: Sequence[Start] = ALL
    outcome: Outcome = Outcome.SOFT
    within: float = 0.5  # [s] from the fault until no joint is stiff
    watched: float = 0.4  # [s] the fault lasts, at least
    source: str = ""  # see Cause
    flags: SafetyFlag = SafetyFlag.NONE
    codes: Sequence[ReasonCode] = ()  # of a fall, if there is one; or of what is refused
    named: Sequence[str] = ()  # see Cause
    either: Sequence[Cause] = ()  # alternatives, instead of these four
    recovery: Recovery = Recovery.CLEAR
    heals: float = 0.0  # [s] see HEALS, which is the default
    filed: Filed = Filed.FALL
    spared: Callable[[Scene], Sequence[str]] = lambda _scene: ()  # joints that can't be reached
    follows: bool = False  # a target that follows the joint counts as soft, whatever the gains
    starves: bool = False  # the machine is meant to be held up
    kernel: bool = False  # needs the processes, the memory or the adapter of a real machine
    requests_modes: bool = False  # by itself
    allowed: Sequence[Allowed] = ()
    dies: Sequence[str] = ()  # labels of the processes that the fault ends
    unclean: bool = False  # its exit is refused by a drive: the control process ends with code 1
    raises: str = ""  # regular expression of exceptions that may be in the logs; empty: none
    apart: bool = False  # no two links may touch; without payload and pushes
    quick: bool = False  # one of the short form in wall time
    alone: bool = False  # takes long, changes the mode or clears: not one of two faults at once
    parts: Sequence[tuple[Kind, str]] = ()  # two faults at once, and the joints they strike
    drawn: Callable[[Random], Kind] | None = None  # the kind itself comes from the seed

    def on(self, robot: RobotJoints) -> Kind:
        """Return the kind as another robot has it."""
        allowed = [it for it in self.allowed if it.robot in ("", robot.robot)]
        return replace(self, robot=robot, allowed=widest(allowed))

    @property
    def joints(self) -> Sequence[str]:
        """The joints it may strike; none: the robot does not have the kind."""
        return self.only or self.robot.of(self.strikes)

    def causes(self, joint: str) -> Sequence[Cause]:
        """Return the causes of a fall that strikes `joint`, one of which is required."""
        codes = tuple(code.name for code in self.codes)
        only = Cause(codes=codes, named=tuple(self.named), source=self.source, flags=self.flags)
        return [self._named(cause, joint) for cause in self.either or [only]]

    def _named(self, cause: Cause, joint: str) -> Cause:
        """Return a cause with the names of what is struck."""

        def name(word: str) -> str:
            if word == BLOCK:
                return self.robot.block(joint)
            return joint if word == JOINT else word

        named = tuple(name(word) for word in cause.named)
        return replace(cause, named=named, source=name(cause.source))

    @property
    def healed(self) -> float:
        """From its mending on, the longest time [s] in which clear_fault may be refused."""
        return self.heals or (HEALS_UP if self.recovery is Recovery.RESTART else HEALS)
