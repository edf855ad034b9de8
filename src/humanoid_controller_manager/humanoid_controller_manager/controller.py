"""The contract between the control loop and its plugins: mode controllers and broadcasters.

    on_configure(parameters) -> on_activate -> update* -> on_deactivate

`update` is called once per tick in the loop's thread: no blocking, logging or heavy allocation.
It may raise; the loop then writes the fallback's command in the same tick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.config import StrictModel
from humanoid_control_common.joints import JointLimits, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.hardware import CapabilityArray


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """What a controller may know about the robot."""

    joints: JointSet
    limits: JointLimits
    update_rate: float  # [Hz]
    # How each command interface acts on each joint, shape (5, n); None: all act in every tick.
    capabilities: CapabilityArray | None = None

    def acts_per_tick(self, interface: str) -> NDArray[np.bool_]:
        """On which joints the command `interface` acts in every tick, shape (n,)."""
        if self.capabilities is None:
            return np.ones(len(self.joints), dtype=np.bool_)
        row = self.capabilities[COMMAND_INTERFACES.index(interface)]
        return np.asarray(row == Capability.PER_TICK)


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


class Controller(ABC):
    """A mode controller.

    The duties that are not abstract have defaults: a controller overrides those that it takes on.
    Values are properties. See `duties` for what is refused when a class is loaded.
    """

    Parameters: ClassVar[type[StrictModel]]  # the model its ROS parameters are checked against
    mode: ClassVar[Mode]  # that it implements
    needs: ClassVar[Mapping[str, Capability]]  # the interfaces it relies on, and at which level

    @abstractmethod
    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Take `parameters` (an instance of Parameters). Raises ConfigError."""

    @abstractmethod
    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """Start from the measured `state` and a copy of the `command` in force."""

    @abstractmethod
    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """Fill `command`, which holds what was written last (zeros at first). Times in [s]."""

    def on_deactivate(self) -> None:
        """Let go. The loop has another controller already."""

    @property
    def gains(self) -> ModeGains | None:
        """The largest it commands by itself, from `on_configure` on; None if it can't know.

        Hardware that can't have them refuses them before the controller runs.
        """
        return None

    @property
    def progress(self) -> Progress | None:
        """How far it has come, if it has an end. Read after `update`, in the loop's thread."""
        return None

    @property
    def remark(self) -> str:
        """Something to tell the operator, such as that no program commands it; empty if nothing.

        A WARN on /diagnostics. The same words each time. Read after `update`, in the loop's thread.
        """
        return ""


class Broadcaster(ABC):
    """A plugin that only publishes: its ROS side listens to snapshots, the loop ignores it."""

    Parameters: ClassVar[type[StrictModel]]  # the model its ROS parameters are checked against

    @abstractmethod
    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Take `parameters` (an instance of Parameters). Raises ConfigError."""


CONTROLLER_CONTRACT: Final = Contract(Controller)
BROADCASTER_CONTRACT: Final = Contract(Broadcaster)
