"""The contract between the control loop and hardware components: `HardwareComponent`.

    on_configure -> begin_activation -> on_activate -> [ read; …; write ]* -> on_deactivate

A component handles only its own joints, in the order of its <ros2_control> block, in the joint
frame. The loop calls `read` and `write` in every tick: they must not block, log or allocate much.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.duties import Contract

CapabilityArray = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class JointInfo:
    """One <joint> of a <ros2_control> block."""

    name: str
    parameters: Mapping[str, str]
    # [rad] of a simulation and a mock: <param name="initial_value"> of the position state, by
    # default the angle nearest to 0 within the limits.
    initial_position: float
    # [Nm] <limit effort> of the joint, which max of the block does not narrow: a property of the
    # drive, where its torque is measured in parts of it. 0: that of the block's limits.
    rated_effort: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareInfo:
    """One <ros2_control> block of the URDF, and facts that its component needs."""

    name: str
    plugin: str
    parameters: Mapping[str, str]
    joints: tuple[JointInfo, ...]
    limits: JointLimits  # of `joints`, in their order
    update_rate: float  # [Hz] of the control loop
    urdf: str  # the whole robot description
    file: str = ""  # that the block's parameters are from; empty: none but the description

    @property
    def block(self) -> str:
        """The block in the robot description, for messages."""
        return f"<ros2_control name='{self.name}'>"

    @property
    def place(self) -> str:
        """The place of the block's parameters, for messages: their file, and the block."""
        return f"{self.file}: {self.block}" if self.file else self.block

    @property
    def joint_set(self) -> JointSet:
        """The names of the block's joints, in its order."""
        return JointSet(tuple(joint.name for joint in self.joints))


class HardwareComponent(ABC):
    """Reads and writes the joints of one <ros2_control> block. Arrays have one entry per joint.

    Duties that are not abstract have defaults: override the ones the hardware can do. A class whose
    duties are misspelt or have other parameters is refused when it is loaded, see `duties`. Values
    are properties.
    """

    @abstractmethod
    def on_configure(self, info: HardwareInfo) -> None:
        """Check the configuration and prepare, without any motion. Raises ConfigError."""

    @abstractmethod
    def on_activate(self, state: JointState) -> None:
        """Enable the joints and fill `state` with their measurement. Raises HardwareError."""

    @abstractmethod
    def read(self, state: JointState, now: float, period: float) -> None:
        """Fill `state` with the latest measurement. Times in [s]. Raises HardwareError."""

    @abstractmethod
    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Pass `command` to the actuators. Times in [s]. Raises HardwareError."""

    @abstractmethod
    def on_deactivate(self) -> None:
        """Leave every joint without torque. Try all before raising HardwareError."""

    @abstractmethod
    def capabilities(self) -> CapabilityArray:
        """Return the Capability of each command interface on each joint, shape (5, n)."""

    @abstractmethod
    def effort_limit(self, position: FloatArray) -> FloatArray:
        """Return the largest effort [Nm] of each joint at `position` [rad], shape (n,).

        Return the same array object as long as its content does not change.
        """

    @abstractmethod
    def safety(self) -> SafetyReport:
        """Return the present report; the same object as long as nothing changes.

        Its source is the name of the component's block.
        """

    def begin_activation(self) -> None:
        """Begin what `on_activate` needs and what takes long, without any torque. Must not wait.

        Called for every component before the first `on_activate`; `on_deactivate` follows also if
        there is no `on_activate`, because another component failed. Raises HardwareError.
        """

    # Gains that are set per mode and must be confirmed: override all three or none.

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Set the gains of `mode`. Called at every switch, between two ticks."""

    def impedance_confirmed(self) -> bool:
        """Return whether the drives have the gains of the latest `mode_changed`."""
        return True

    def realized_stiffness(self) -> FloatArray | None:
        """Return the stiffness [Nm/rad] that acts whatever stiffness is commanded, shape (n,).

        Where 0 is commanded, the target of such a joint must follow the joint. NaN where the
        commanded stiffness acts; None while it is unknown. Return the same array object as long as
        its content does not change.
        """
        return None

    # Work on the bus between two ticks: override both or none. At most one component does; it is
    # activated last and drives its bus by itself from `on_activate` until the loop's first `read`,
    # so that the bus never stands still.

    def idle_until(self, deadline: float) -> None:
        """Work on the bus; return at `deadline` [s, monotonic], when the next tick is due."""

    def tick_correction(self) -> float:
        """Return by how much [s] to delay the next tick to keep it in phase with the bus."""
        return 0.0

    # Properties of the actuators.

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        """Refuse gains of a mode [Nm/rad, Nm s/rad] that a joint cannot realize.

        Raises ConfigError that begins with `where`, the origin of the gains.
        """

    def watchdog_times(self) -> FloatArray | None:
        """Return after how long [s] each joint's actuator releases the joint by itself, shape (n,).

        Infinite: never. None: there is no actuator. Once active, the times that the actuators have
        confirmed. Called by any thread. A component that does not override this duty says nothing
        about its actuators, which counts as never.
        """
        return None

    @property
    def bears_weight(self) -> bool:
        """True if gravity loads its joints; False for a mock. Constant once configured."""
        return True

    @property
    def exit_check(self) -> str:
        """The final state that a successful `on_deactivate` has verified, in words."""
        return "deactivated"

    # Notifications.

    def reset_faults(self) -> None:
        """Begin to reset faults, between two ticks; `safety` then reports whether they are gone."""

    def loop_ended(self) -> None:
        """Expect no more ticks. Called before the first component is deactivated."""

    def joint_states_published(self, published: float, measured: float) -> None:
        """Note that the joint states of a tick are published. Called by the publisher's thread.

        `published` and `measured` (begin of the tick's `read`): [s] of the monotonic clock. Must
        not wait.
        """

    # Diagnostics.

    def diagnose(self) -> Sequence[Diagnosis]:
        """Return the diagnoses "bus: NAME" and "joint: NAME" of all joints.

        Called about once a second by another thread than the loop's, never concurrently. Must not
        wait: read whole values only.
        """
        return ()

    @property
    def counter_names(self) -> tuple[str, ...]:
        """Names of the counters in `bus_counts`, constant once configured. Both or none."""
        return ()

    def bus_counts(self) -> Sequence[int]:
        """Return the counters of the bus for the tick recorder. Called in every tick."""
        return ()

    @property
    def sample_age(self) -> float:
        """Age [s] of the oldest measurement of the latest `read`."""
        return 0.0

    # A simulator: its time is the loop's time, and `write` advances it by one period.

    @property
    def time(self) -> float:
        """Simulated time [s]. With `real_time_factor`: both or none."""
        return 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per second; 0 = as fast as possible."""
        return 1.0

    @property
    def teleports(self) -> int:
        """Number of jumps of the measured position: by a simulator, or by turns found anew."""
        return 0


HARDWARE_CONTRACT: Final = Contract(
    HardwareComponent,
    (
        frozenset({"mode_changed", "impedance_confirmed", "realized_stiffness"}),
        frozenset({"idle_until", "tick_correction"}),
        frozenset({"counter_names", "bus_counts"}),
        frozenset({"time", "real_time_factor"}),
    ),
)


def uniform_capabilities(joint_count: int, level: Capability) -> CapabilityArray:
    """Return the capability `level` on all five command interfaces of `joint_count` joints."""
    return np.full((len(COMMAND_INTERFACES), joint_count), level, dtype=np.int8)
