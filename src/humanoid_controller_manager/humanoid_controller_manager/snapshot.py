"""What one tick of the loop looked like: whole values for whoever publishes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from humanoid_control_common.joints import FloatArray
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.controller import Progress
from humanoid_controller_manager.hardware_member import Fault


class Phase(Enum):
    """Whether the active controller commands already."""

    PREPARING = "preparing"  # the measured pose is held until the hardware confirms the impedance
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Fall:
    """The loop left a controller by itself."""

    number: int  # counts the falls since the start
    reason: str
    error: BaseException | None = None  # what the controller raised, for the log


@dataclass(frozen=True, slots=True)
class Refusal:
    """A switch request that was not carried out; `ticket` is the request's."""

    ticket: int
    reason: str


class Snapshot(NamedTuple):
    """One tick. The arrays are copies nobody changes; their rows are named where they are read."""

    tick: int
    now: float  # [s], the loop's time
    measured: float  # [s], monotonic: when this tick's `read` began
    measured_at: int  # [ns], the system's time: the same moment
    state_array: FloatArray  # (3, n) as read in this tick
    command_array: FloatArray  # (5, n) as written in this tick, after limits
    controller: str  # name of the active mode controller
    mode: Mode
    switch_number: int
    phase: Phase
    progress: Progress | None  # of the active controller, if it reports any
    remark: str  # of the active controller, for the operator; empty if it has none
    unconfirmed: str  # components that have not confirmed the mode's impedance; empty if all have
    reports: tuple[SafetyReport, ...]  # one per hardware component
    fault: Fault | None  # the latest of a hardware component
    fall: Fall | None  # the latest
    ticket: int  # of the latest request the loop has looked at
    refusal: Refusal | None  # the latest

    @property
    def state(self) -> JointState:
        """What was measured in this tick."""
        return JointState(self.state_array.shape[1], self.state_array)

    @property
    def command(self) -> JointCommand:
        """What was written in this tick, after limits."""
        return JointCommand(self.command_array.shape[1], self.command_array)


# Who is told every tick, in the publisher's thread.
SnapshotListener: TypeAlias = Callable[[Snapshot], None]
