"""The contract between the control loop and its plugins: mode controllers and broadcasters.

    on_configure(parameters) -> on_activate -> update* -> on_deactivate

`update` is called once per tick in the loop's thread: no blocking, logging or heavy allocation.
It may raise; the loop then writes the fallback's command in the same tick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from humanoid_control_common.config import StrictModel
from humanoid_control_common.joints import JointLimits, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import Capability, JointCommand, JointState


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """What a controller may know about the robot."""

    joints: JointSet
    limits: JointLimits
    update_rate: float  # [Hz]


class Progress(NamedTuple):
    """How far a controller with an end has come."""

    current_segment: int
    total_segments: int
    fraction: float  # of the whole, 0 to 1

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return self.fraction >= 1.0


class ModeGains(NamedTuple):
    """Gains of a mode, the same on all joints."""

    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]


class Controller(Protocol):
    """A mode controller. `needs` names the interfaces it relies on and at which level."""

    @property
    def Parameters(self) -> type[StrictModel]:  # noqa: N802 - a class attribute of the plugin
        """The model its ROS parameters are checked against."""

    mode: ClassVar[Mode]
    needs: ClassVar[Mapping[str, Capability]]

    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Take `parameters` (an instance of Parameters). Raises ConfigError."""

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """Start from the measured `state` and a copy of the `command` in force."""

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """Fill `command`, which holds what was written last (zeros at first). Times in [s]."""

    def on_deactivate(self) -> None:
        """Let go. The loop has another controller already."""


@runtime_checkable
class HasGains(Protocol):
    """A controller whose gains are known before it runs: hardware that can't have them refuses."""

    @property
    def gains(self) -> ModeGains:
        """The largest it commands by itself, from `on_configure` on."""


@runtime_checkable
class ReportsProgress(Protocol):
    """A controller with an end, such as the STANDBY sequence."""

    @property
    def progress(self) -> Progress:
        """How far it has come."""


@runtime_checkable
class HasRemark(Protocol):
    """A controller with something to tell the operator, such as that nobody commands it."""

    @property
    def remark(self) -> str:
        """Empty if there is nothing; a WARN on /diagnostics else. The same words each time."""


class Broadcaster(Protocol):
    """A plugin that only publishes: its ROS side listens to snapshots, the loop ignores it."""

    @property
    def Parameters(self) -> type[StrictModel]:  # noqa: N802 - a class attribute of the plugin
        """The model its ROS parameters are checked against."""

    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Take `parameters` (an instance of Parameters). Raises ConfigError."""
