"""Definition of a kind of fault: its injection, its end, and the required reaction of the robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from typing import Final

from fault_campaign.disturbing.stream import Stream
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.violation import ViolationType
from fault_campaign.robot import NotHealthyError, Robot
from fault_campaign.robot_joints import PRIME, RobotJoints, TargetJoint
from fault_campaign.scenario import ALL, Scenario, Start
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag
from humanoid_twin.can.control import CanMethods

JOINT: Final = "{joint}"  # in `Kind.named`: the joint that is struck
BLOCK: Final = "{block}"  # in `Kind.named` and `Kind.source`: its hardware component
HEALS: Final = 1.0  # [s] limit of the time from mending a fault until faults can be cleared
HEALS_UP: Final = 5.0  # [s] the same after a restart of the processes


class RefutedError(Exception):
    """The robot has violated a demand of the kind of fault."""


@contextmanager
def health_demanded(what: str) -> Iterator[None]:
    """Turn NotHealthyError into RefutedError: the robot must be healthy with `what`."""
    try:
        yield
    except NotHealthyError as error:
        raise RefutedError(f"not well with {what}: {error}") from error


class Outcome(Enum):
    """Required reaction of the robot to a fault."""

    SOFT = "falls to DAMPING and states the reason"
    OFF = "drives lose torque by themselves: the control process cannot report"
    STAYS = "goes on without a reaction"
    STOPS = "stops to follow its client, soft and in its mode, without a fault"
    EITHER = "goes on or falls to DAMPING, by chance"


class Recovery(Enum):
    """The documented recovery."""

    CLEAR = "clear_fault"
    RESTART = "restart of the control process"


class RequiredRecord(Enum):
    """Record that the black box must keep."""

    FALL = "a file with the fall, if there is one"
    END = "a file that goes to the last tick: the control process is killed"
    NOTHING = "no file: the control process ends in order"


@dataclass(slots=True)
class Scene:
    """One fault as it happens: its robot, joint and random numbers."""

    robot: Robot
    dice: Random
    scenario: Scenario
    joint: str  # the joint that is struck; empty: none
    stream: Stream | None  # in REMOTE
    alone: bool = True  # no other fault acts at the same time
    began: float = 0.0  # [s] robot time of the begin of the fault
    ends: ExitStack = field(default_factory=ExitStack)  # cleanup when the fault is mended

    def begins(self) -> None:
        """Set the begin of the fault to the present time."""
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


def struck(scene: Scene) -> list[str]:
    """Return the joint that is struck."""
    return [scene.joint]


def every_joint(scene: Scene) -> Sequence[str]:
    """Return all joints."""
    return scene.robot.joints.all


def on_the_ring(scene: Scene) -> Sequence[str]:
    """Return the joints on the EtherCAT ring."""
    return scene.robot.joints.of(TargetJoint.RING)


def on_its_bus(scene: Scene) -> Sequence[str]:
    """Return the joints on the CAN bus that is struck."""
    return scene.robot.joints.on_bus(scene.bus)


def nothing(_scene: Scene) -> None:
    """Do nothing: the fault ends by itself."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A bound of one kind that is wider than the general one, for one quantity."""

    type: ViolationType  # SPEED, EFFORT or JUMP
    upto: float
    why: str
    robot: str = ""  # name of the robot with this bound; empty: all robots


# The motors of Lite's arms lose torque at once if their watchdogs act or their bus breaks.
LETS_GO: Final = Allowed(
    ViolationType.JUMP, 0.06, "a raised arm without torque swings", robot="lite"
)


def widest(allowed: Sequence[Allowed]) -> list[Allowed]:
    """Return the widest bound of each quantity."""
    found: dict[str, Allowed] = {}
    for it in allowed:
        if it.type not in found or it.upto > found[it.type].upto:
            found[it.type] = it
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault."""

    name: str
    inject: Act
    mend: Act = nothing
    strikes: TargetJoint = TargetJoint.JOINT  # a robot without such a joint does not have it
    only: Sequence[str] = ()  # joints that can be struck; empty: all of that sort
    robot: RobotJoints = PRIME  # see `on`
    starts: Sequence[Start] = ALL
    outcome: Outcome = Outcome.SOFT
    within: float = 0.5  # [s] from the fault until no joint is stiff
    watched: float = 0.4  # [s] shortest time of the fault
    source: str = ""  # see Cause
    flags: SafetyFlag = SafetyFlag.NONE
    codes: Sequence[ReasonCode] = ()  # of a fall or a refusal
    named: Sequence[str] = ()  # see Cause
    either: Sequence[Cause] = ()  # alternatives, instead of these four
    recovery: Recovery = Recovery.CLEAR
    heals: float = 0.0  # [s] see HEALS, which is the default
    filed: RequiredRecord = RequiredRecord.FALL
    spared: Callable[[Scene], Sequence[str]] = lambda _scene: ()  # joints that cannot be reached
    # Joints that the fall leaves without damping, besides those that are spared.
    undamped: Callable[[Scene], Sequence[str]] = lambda _scene: ()
    follows: bool = False  # on the ring a target that follows counts as soft, whatever the gains
    adapter: str = ""  # CAN interface of the robot, see `Robot`; empty: the seed decides
    requests_modes: bool = False  # the fault itself requests modes
    allowed: Sequence[Allowed] = ()
    dies: Sequence[str] = ()  # labels of the processes that the fault ends
    unclean: bool = False  # a drive refuses the exit: the control process ends with code 1
    raises: str = ""  # regular expression of exceptions that may be in the logs; empty: none
    apart: bool = False  # links must not touch; no payload, no pushes
    alone: bool = False  # long, or it changes the mode or clears: not in a pair of faults
    drawn: Callable[[Random], Kind] | None = None  # draws the kind itself from the seed

    def on(self, robot: RobotJoints) -> Kind:
        """Return the kind for another robot."""
        allowed = [it for it in self.allowed if it.robot in ("", robot.robot)]
        return replace(self, robot=robot, allowed=widest(allowed))

    @property
    def joints(self) -> Sequence[str]:
        """Return the joints that can be struck; none: the robot does not have the kind."""
        return self.only or self.robot.of(self.strikes)

    def causes(self, joint: str) -> Sequence[Cause]:
        """Return the causes of a fall that strikes `joint`, one of which is required."""
        codes = tuple(code.name for code in self.codes)
        only = Cause(codes=codes, named=tuple(self.named), source=self.source, flags=self.flags)
        return [self._named(cause, joint) for cause in self.either or [only]]

    def _named(self, cause: Cause, joint: str) -> Cause:
        """Return a cause with the names of the joint and the component that are struck."""

        def name(word: str) -> str:
            if word == BLOCK:
                return self.robot.block(joint)
            return joint if word == JOINT else word

        named = tuple(name(word) for word in cause.named)
        return replace(cause, named=named, source=name(cause.source))

    @property
    def healed(self) -> float:
        """Return the longest time [s] after the mending in which clear_fault may be refused."""
        return self.heals or (HEALS_UP if self.recovery is Recovery.RESTART else HEALS)
