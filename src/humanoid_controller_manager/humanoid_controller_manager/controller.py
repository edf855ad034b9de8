"""The contract between the control loop and controllers: `Controller` and `Broadcaster`.

    on_configure -> [check_start -> on_activate -> update* -> on_deactivate]* -> on_cleanup

The loop calls `update` once per tick in its own thread: it must not block, log or allocate much.
If it raises, the loop writes the command of the fallback in the same tick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.robot.joints import (
    FloatArray,
    IndexArray,
    JointLimits,
    JointSet,
    read_only,
)
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.hardware_component import CapabilityArray
from humanoid_motion.collision.path_check import PathCheck


class Controller(ABC):
    """Computes the command of each tick in one mode.

    Duties that are not abstract have defaults: override the ones the controller needs. A class
    whose duties are misspelt or have other parameters is refused when it is loaded, see `duties`.
    """

    Parameters: ClassVar[type[StrictModel]]  # model of its ROS parameters
    mode: ClassVar[Mode]  # that it implements
    needs: ClassVar[Mapping[str, Capability]]  # capabilities required on every joint, by interface

    @abstractmethod
    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Prepare with `parameters`, an instance of Parameters. Raises ConfigError."""

    def check_start(self, state: JointState, now: float) -> None:
        """Raise ControllerError, or a ReasonedError, if it cannot start from the measured `state`.

        Called before a switch begins: one that is refused here leaves the mode in force as it is.
        Called again right before `on_activate` if that waits until the gains of its mode are
        confirmed: an error is a fall then. DAMPING and ZERO_TORQUE begin without it: they are never
        refused.
        """

    @abstractmethod
    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """Start at `now` [s] from the measured `state` and a copy of the `command` in force."""

    @abstractmethod
    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """Write the command of this tick to `command`; it holds the controller's previous one.

        In the first update `command` is zero. `now` and `period` are in [s].
        """

    def on_held_back(self, target: FloatArray, why: str) -> None:
        """Continue from `target` [rad], (n,): the latest command reached only it, not its position.

        Called right before `update` when the limit stage kept links of the robot apart; `why` names
        them. A controller that ignores this would jump when its way is free.
        """

    def on_deactivate(self) -> None:
        """Release resources. Another controller is in charge already."""

    def on_cleanup(self) -> None:
        """Release what `on_configure` took: this instance is not used again.

        Called by another thread than the loop's. Called at the end of the process too, unless the
        loop hangs.
        """

    @property
    def gains(self) -> ModeGains | None:
        """The largest gains it commands by itself, valid after `on_configure`; None if unknown.

        Hardware that cannot realize them refuses the controller when it is configured.
        """
        return None

    @property
    def compensates_gravity(self) -> bool:
        """True if the loop adds a gravity compensation to its commands.

        Valid after `on_configure`, and constant then. Without effect in ZERO_TORQUE and DAMPING.
        See GravityCompensation.
        """
        return False

    @property
    def progress(self) -> Progress | None:
        """Return the progress; None for a controller without an end. Read after `update`."""
        return None

    @property
    def remark(self) -> str:
        """A warning for the operator, such as "no command received"; empty if there is none.

        Published as a WARN on /diagnostics. Use constant texts. Read after `update`, in the loop's
        thread.
        """
        return ""


class Broadcaster(ABC):
    """Publishes snapshots from its ROS side; the loop does not call it."""

    Parameters: ClassVar[type[StrictModel]]  # model of its ROS parameters

    @abstractmethod
    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """Prepare with `parameters`, an instance of Parameters. Raises ConfigError."""


CONTROLLER_CONTRACT: Final = Contract(Controller)
BROADCASTER_CONTRACT: Final = Contract(Broadcaster)


@dataclass(frozen=True, slots=True)
class RobotFacts:
    """Constant facts about the robot, or about the joints that a controller claims.

    Its arrays are read-only: the stack uses the same ones.
    """

    joints: JointSet
    limits: JointLimits
    update_rate: float  # [Hz]
    # Capability of each command interface on each joint, shape (5, n); None: all PER_TICK.
    capabilities: CapabilityArray | None = None
    # Makes a check of paths against self-collision; None: the robot's links are not kept apart.
    path_check: Callable[[], PathCheck] | None = None
    no_gravity: str = ""  # why gravity cannot be compensated; empty if it can
    # Of joints that no controller of a mode claims; None: each has gains of its own.
    hold_gains: ModeGains | None = None

    def __post_init__(self) -> None:
        if self.capabilities is not None:
            object.__setattr__(self, "capabilities", read_only(self.capabilities))

    def acts_per_tick(self, interface: str) -> NDArray[np.bool_]:
        """Return on which joints the command `interface` acts in every tick, shape (n,)."""
        if self.capabilities is None:
            return np.ones(len(self.joints), dtype=np.bool_)
        row = self.capabilities[COMMAND_INTERFACES.index(interface)]
        return np.asarray(row == Capability.PER_TICK)

    def of(self, rows: IndexArray) -> RobotFacts:
        """Return the facts about the joints at `rows`, in that order."""
        whole = self.path_check
        return RobotFacts(
            JointSet(self.joints.names_at(rows)),
            self.limits.of(rows),
            self.update_rate,
            None if self.capabilities is None else self.capabilities[:, rows],
            None if whole is None else lambda: whole().of(rows),
            self.no_gravity,
            self.hold_gains,
        )


class Progress(NamedTuple):
    """Progress of a controller that has an end."""

    current_segment: int
    total_segments: int
    fraction: float  # of the whole, 0 to 1

    @property
    def finished(self) -> bool:
        """True once the end is reached."""
        return self.fraction >= 1.0


class ModeGains(NamedTuple):
    """Gains of a mode, the same on all joints."""

    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]
