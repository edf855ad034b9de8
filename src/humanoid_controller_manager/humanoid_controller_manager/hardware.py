"""The contract between the control loop and a hardware component.

A component sees only its own joints, in the order of its <ros2_control> block, in the joint frame:

    on_configure -> on_activate -> [ read; …; write ]* -> on_deactivate

Duties per tick: `read` and `write` don't block, log or allocate much.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.diagnosis import Diagnosis
from humanoid_control_common.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability, JointCommand, JointState
from humanoid_controller_manager.duties import Contract

CapabilityArray = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class JointInfo:
    """One <joint> of a <ros2_control> block."""

    name: str
    parameters: Mapping[str, str]
    initial_position: float | None  # [rad], <param name="initial_value"> of the position state


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareInfo:
    """One <ros2_control> block of the URDF, with what the component needs to know beside it."""

    name: str
    plugin: str
    parameters: Mapping[str, str]
    joints: tuple[JointInfo, ...]
    limits: JointLimits  # of `joints`, in their order
    update_rate: float  # [Hz] of the control loop
    urdf: str  # the whole robot description

    @property
    def joint_set(self) -> JointSet:
        """The names of the block's joints, in its order."""
        return JointSet(tuple(joint.name for joint in self.joints))


class HardwareComponent(ABC):
    """What the loop asks of a component. Arrays have one entry per joint of the block.

    The duties below `safety` have defaults: a component overrides those that it takes on. Which it
    does is decided from its class when it is loaded, see `duties`. Values are properties.
    """

    @abstractmethod
    def on_configure(self, info: HardwareInfo) -> None:
        """Check the configuration and prepare, touching nothing that moves. Raises ConfigError."""

    @abstractmethod
    def on_activate(self, state: JointState) -> None:
        """Bring the joints up and fill `state` with what was measured. Raises HardwareError."""

    @abstractmethod
    def read(self, state: JointState, now: float, period: float) -> None:
        """Fill `state` with the latest measurement. Times in [s]. Raises HardwareError."""

    @abstractmethod
    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Hand `command` to the actuators. Times in [s]. Raises HardwareError."""

    @abstractmethod
    def on_deactivate(self) -> None:
        """Leave every joint without torque, trying all before raising HardwareError."""

    @abstractmethod
    def capabilities(self) -> CapabilityArray:
        """How each command interface acts on each joint: Capability values, shape (5, n)."""

    @abstractmethod
    def effort_limit(self, position: FloatArray) -> FloatArray:
        """Largest effort [Nm] of each joint at `position` [rad], shape (n,).

        The same array as before only if nothing in it changed.
        """

    @abstractmethod
    def safety(self) -> SafetyReport:
        """What is observed now; the same object as before when nothing changed."""

    # Gains that are set per mode and must be confirmed before they are relied on: all or none.

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Told on every switch, between two ticks."""

    def impedance_confirmed(self) -> bool:
        """Whether the drives hold the gains of the mode and number told last."""
        return True

    def realized_stiffness(self) -> FloatArray | None:
        """Stiffness [Nm/rad] of each joint that acts whatever the command says, shape (n,).

        NaN where the command's acts, None while nothing is known. The same array as before only if
        nothing in it changed.
        """
        return None

    # Work on the bus between two ticks: both or none. One component at most; it is activated last.
    # It drives its bus by itself from `on_activate` until the loop's first `read` takes over, so
    # that the bus never stands still.

    def idle_until(self, deadline: float) -> None:
        """Work, then return at `deadline` [s, perf_counter]: the loop has nothing else to do."""

    def tick_correction(self) -> float:
        """How much later [s] the next tick is to come so that it keeps in phase with the bus."""
        return 0.0

    # What actuators can and can't do.

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        """Refuse a mode's gains [Nm/rad, Nm s/rad] that a joint can't realize.

        Raises ConfigError that begins with `where`, which says whose gains they are.
        """

    def watchdog_times(self) -> FloatArray | None:
        """After how long [s] each joint's own actuator lets go, shape (n,); infinite: never.

        None: there is no actuator. Once active, what the actuators have confirmed. May be called by
        any thread.
        """
        return None

    @property
    def exit_check(self) -> str:
        """What `on_deactivate` has made sure of when it raises nothing, in words."""
        return "deactivated"

    # What the component is told.

    def reset_faults(self) -> None:
        """Start resetting, between two ticks; `safety` tells when the faults are gone."""

    def loop_ended(self) -> None:
        """Told that the loop comes round no more, before the first component is deactivated."""

    def joint_states_published(self, published: float, measured: float) -> None:
        """Told that the joint states of a tick went out at `published`, read at `measured`.

        Both [s] of the monotonic clock (`time.monotonic`, `time.perf_counter`). Called by the
        publisher's thread after each publication: quick, and it waits for nothing.
        """

    # What the component tells.

    def diagnose(self) -> Sequence[Diagnosis]:
        """How "bus: NAME" and each "joint: NAME" are doing now.

        Called about once a second, by another thread than the loop's, one at a time: it only reads
        whole values and waits for nothing.
        """
        return ()

    @property
    def counter_names(self) -> tuple[str, ...]:
        """What `bus_counts` counts; known once configured, and always the same. Both or none."""
        return ()

    def bus_counts(self) -> Sequence[int]:
        """What the bus did, for the flight recorder. Called in every tick: cheap."""
        return ()

    @property
    def sample_age(self) -> float:
        """How old [s] the oldest measurement was that the last `read` gave."""
        return 0.0

    # A simulator: its time is the loop's time, `write` advances it by one period.

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
        """How often joints were measured elsewhere at once, by a simulator or found turns."""
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
    """The same capability on all five command interfaces of `joint_count` joints."""
    return np.full((len(COMMAND_INTERFACES), joint_count), level, dtype=np.int8)
