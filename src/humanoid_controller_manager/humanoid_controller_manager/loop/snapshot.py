"""The snapshot: the state of the loop after one tick, immutable."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Self, TypeAlias

from humanoid_control_common.robot.joints import FloatArray, IndexArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.controller import Progress
from humanoid_controller_manager.hardware.member import Fault


class Phase(Enum):
    """Phase of the controller in charge."""

    PREPARING = "preparing"  # the pose is held until the hardware confirms the impedance
    RUNNING = "running"  # it commands


@dataclass(frozen=True, slots=True)
class Fall:
    """A change to a fallback that the loop made by itself."""

    number: int  # counts falls since the start
    reason: Reason
    error: BaseException | None = None  # what the controller raised, for the log


@dataclass(frozen=True, slots=True)
class Refusal:
    """A switch request that was not carried out; `ticket` is the request's."""

    ticket: int
    reason: Reason


class MemberReport(NamedTuple):
    """The report of one of several controllers side by side after its update."""

    name: str
    progress: Progress | None
    remark: str


class Snapshot(NamedTuple):
    """One tick. The arrays are copies; the rows are those of JointState and JointCommand."""

    tick: int
    now: float  # [s], the loop's time
    measured: float  # [s], monotonic: begin of this tick's `read`
    measured_at: int  # [ns] of the system's clock: the same moment
    state_array: FloatArray  # (3, n) as read in this tick
    command_array: FloatArray  # (5, n) as written in this tick, after limits, with compensation
    controller: str  # name of the mode controller in charge, or of the group of them
    mode: Mode
    switch_number: int
    phase: Phase
    progress: Progress | None  # of the controller in charge, if it has any
    remark: str  # of the controller in charge; empty if it has none
    unconfirmed: str  # components that have not confirmed the mode's impedance; empty if all have
    reports: tuple[SafetyReport, ...]  # one per hardware component
    fault: Fault | None  # the latest of a hardware component
    fall: Fall | None  # the latest
    ticket: int  # of the latest request that the loop has looked at
    refusal: Refusal | None  # the latest
    members: tuple[MemberReport, ...] = ()  # of the group in charge; empty for a single controller
    # What of the command compensates gravity: position [rad], and its torque or the effort [Nm].
    compensation: FloatArray | None = None  # (2, n); None: nothing

    @property
    def controllers(self) -> tuple[str, ...]:
        """The names of the mode controllers in charge."""
        return tuple(it.name for it in self.members) or (self.controller,)

    def of_member(self, name: str, rows: IndexArray) -> Self:
        """Return the tick in the view of controller `name`, which claims the joints `rows`.

        The arrays have the columns of its joints. While it is a member of the group in charge, it
        is `controller`, with its own progress and remark.
        """
        own = next((it for it in self.members if it.name == name), None)
        own = own or MemberReport(self.controller, self.progress, self.remark)
        return self._replace(
            state_array=self.state_array[:, rows],
            command_array=self.command_array[:, rows],
            controller=own.name,
            progress=own.progress,
            remark=own.remark,
            members=(),
            compensation=None if self.compensation is None else self.compensation[:, rows],
        )

    @property
    def state(self) -> JointState:
        """The measurement of this tick."""
        return JointState(self.state_array.shape[1], self.state_array)

    @property
    def command(self) -> JointCommand:
        """The command written in this tick, after limits."""
        return JointCommand(self.command_array.shape[1], self.command_array)


# Called with every snapshot, in the publisher's thread.
SnapshotListener: TypeAlias = Callable[[Snapshot], None]
