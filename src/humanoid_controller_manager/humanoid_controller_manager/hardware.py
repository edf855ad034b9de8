"""The contract between the control loop and a hardware component.

A component sees only its own joints, in the order of its <ros2_control> block, in the joint frame:

    on_configure -> on_activate -> [ read; …; write ]* -> on_deactivate

Duties per tick: `read` and `write` don't block, log or allocate much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.diagnosis import Diagnosis
from humanoid_control_common.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability, JointCommand, JointState

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


class HardwareComponent(Protocol):
    """What the loop asks of a component. Arrays have one entry per joint of the block."""

    def on_configure(self, info: HardwareInfo) -> None:
        """Check the configuration and prepare, touching nothing that moves. Raises ConfigError."""

    def on_activate(self, state: JointState) -> None:
        """Bring the joints up and fill `state` with what was measured. Raises HardwareError."""

    def read(self, state: JointState, now: float, period: float) -> None:
        """Fill `state` with the latest measurement. Times in [s]. Raises HardwareError."""

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Hand `command` to the actuators. Times in [s]. Raises HardwareError."""

    def on_deactivate(self) -> None:
        """Leave every joint without torque, trying all before raising HardwareError."""

    def capabilities(self) -> CapabilityArray:
        """How each command interface acts on each joint: Capability values, shape (5, n)."""

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """Largest effort [Nm] of each joint at `position` [rad], shape (n,).

        The same array as before only if nothing in it changed.
        """

    def safety(self) -> SafetyReport:
        """What is observed now; the same object as before when nothing changed."""


@runtime_checkable
class ConfirmsImpedance(Protocol):
    """A component whose gains are set per mode and must be confirmed before they are relied on."""

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Told on every switch, between two ticks."""

    def impedance_confirmed(self) -> bool:
        """Whether the drives hold the gains of the mode and number told last."""

    def realized_stiffness(self) -> FloatArray | None:
        """Stiffness [Nm/rad] of each joint that acts whatever the command says, shape (n,).

        NaN where the command's acts, None while nothing is known. The same array as before only if
        nothing in it changed.
        """


@runtime_checkable
class OwnsIdleTime(Protocol):
    """A component that works on its bus between two ticks. One at most; it is activated last.

    It drives its bus by itself from `on_activate` until the loop's first `read` takes over, so that
    the bus never stands still. Times in [s] of `time.perf_counter`.
    """

    def idle_until(self, deadline: float) -> None:
        """Work, then return at `deadline`: the loop's thread has nothing else to do until then."""

    def tick_correction(self) -> float:
        """How much later [s] the next tick is to come so that it keeps in phase with the bus."""


@runtime_checkable
class ChecksGains(Protocol):
    """A component whose actuators can't have any gains."""

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        """Refuse a mode's gains [Nm/rad, Nm s/rad] that a joint can't realize.

        Raises ConfigError that begins with `where`, which says whose gains they are.
        """


@runtime_checkable
class ResetsFaults(Protocol):
    """A component whose faults are reset on request, between two ticks."""

    def reset_faults(self) -> None:
        """Start resetting; `safety` tells when the faults are gone."""


@runtime_checkable
class MindsTheLoop(Protocol):
    """A component that takes it for a failure when the loop stops coming round."""

    def loop_ended(self) -> None:
        """Told that it is the end, before the first component is deactivated."""


@runtime_checkable
class Diagnoses(Protocol):
    """A component that can say more about its bus and its joints than its safety report does."""

    def diagnose(self) -> Sequence[Diagnosis]:
        """How "bus: NAME" and each "joint: NAME" are doing now.

        Called about once a second, by another thread than the loop's, one at a time: it only reads
        whole values and waits for nobody.
        """


@runtime_checkable
class HasWatchdog(Protocol):
    """A component whose actuators may let go by themselves when this computer says nothing."""

    def watchdog_times(self) -> FloatArray:
        """After how long [s] each joint's own actuator lets go, shape (n,); infinite: never.

        Once active, what the actuators have confirmed. May be called by any thread.
        """


@runtime_checkable
class SaysHowItEnds(Protocol):
    """A component that can say what its exit makes sure of."""

    @property
    def exit_check(self) -> str:
        """What `on_deactivate` has read back when it raises nothing, in words."""


@runtime_checkable
class CountsOnTheBus(Protocol):
    """A component that counts what its bus does, for the flight recorder: in every tick."""

    @property
    def counter_names(self) -> tuple[str, ...]:
        """What is counted; known once configured, and always the same."""

    def bus_counts(self) -> Sequence[int]:
        """The counts, in the order of their names. Called in the loop's thread: cheap."""


@runtime_checkable
class TellsSampleAge(Protocol):
    """A component whose measurements may be older than `read`: a bus that lost them, say."""

    @property
    def sample_age(self) -> float:
        """How old [s] the oldest measurement was that the last `read` gave. Never raises."""


@runtime_checkable
class ProvidesTime(Protocol):
    """A simulator: its time is the loop's time, `write` advances it by one period."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per second; 0 = as fast as possible."""


@runtime_checkable
class Teleports(Protocol):
    """A simulator that can put its joints somewhere else at once: no joint has moved then."""

    @property
    def teleports(self) -> int:
        """How often it has done so."""


def uniform_capabilities(joint_count: int, level: Capability) -> CapabilityArray:
    """The same capability on all five command interfaces of `joint_count` joints."""
    return np.full((len(COMMAND_INTERFACES), joint_count), level, dtype=np.int8)
