"""All hardware components of the robot behind whole-robot arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.joints import FloatArray, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability, JointCommand, JointState
from humanoid_controller_manager.hardware_activation import activate_member, deactivate_members
from humanoid_controller_manager.hardware_member import (
    COMPONENT_ERRORS,
    Fault,
    Member,
    block_named,
)
from humanoid_controller_manager.mode_gains import mode_gains
from humanoid_controller_manager.results import finite_number
from humanoid_controller_manager.timing import sleep_until

STIFFNESS: Final = COMMAND_INTERFACES.index("stiffness")


class HardwareGroup:
    """Configures, activates, reads and writes the components of a robot.

    A component that raises is called again in the next tick (so it can recover, and gets every
    damping command), its joints keep their last state, and its safety report becomes a FAULT.
    """

    def __init__(self, joints: JointSet, members: Sequence[Member]) -> None:
        self.joints = joints
        self.members = tuple(members)
        # Of the joints with gains per mode, as configured: (modes, 2, n); NaN where not known.
        self.mode_gains = np.full((len(Mode), 2, len(joints)), np.nan)
        self.capabilities = np.zeros((len(COMMAND_INTERFACES), len(joints)), dtype=np.int8)
        self.reports: tuple[SafetyReport, ...] = ()
        self.fault: Fault | None = None  # the latest, also when it is gone again
        self.time = 0.0  # [s], as simulated; read last by `read_time`
        self.real_time_factor = 1.0  # simulated seconds per second; 0: as fast as possible
        self._clock: Member | None = None  # the simulator among them, once configured
        self._confirming: list[Member] = []
        self._teleporting: list[Member] = []
        self._aging: list[Member] = []
        self._listening: list[Member] = []
        self._idle_owner: Member | None = None
        self._told = Mode.ZERO_TORQUE, 0  # mode and switch number in force
        # One component that serves all joints in order needs no copies.
        self._direct = len(self.members) == 1 and np.array_equal(
            self.members[0].rows, np.arange(len(joints))
        )

    @property
    def confirms_impedance(self) -> bool:
        """Whether there are components whose gains are set per mode."""
        return bool(self._confirming)

    def configure(self) -> None:
        """Configure every component.

        Raises ConfigError of the first that refuses, and if two provide time or own the idle time.
        """
        for member in self.members:
            member.configure()
            self.capabilities[:, member.rows] = member.capabilities()
            self._take_mode_gains(member)
        confirming = self._with("impedance_confirmed")
        # Where gains act in every tick there is nothing to wait for.
        self._confirming = [m for m in confirming if self._per_mode(m).any()]
        self._teleporting = self._with("teleports")
        self._aging = self._with("sample_age")
        self._listening = self._with("joint_states_published")
        clocks = self._with("time")
        if len(clocks) > 1:
            raise ConfigError("more than one hardware component simulates time")
        self._clock = clocks[0] if clocks else None
        if self._clock is not None:
            self.real_time_factor = _real_time_factor(self._clock)
        owners = self._with("idle_until")
        if len(owners) > 1:
            names = ", ".join(member.info.name for member in owners)
            raise ConfigError(f"more than one hardware component works between ticks: {names}")
        self._idle_owner = owners[0] if owners else None

    def _with(self, duty: str) -> list[Member]:
        """The members that take `duty` on."""
        return [member for member in self.members if duty in member.duties]

    def _per_mode(self, member: Member) -> NDArray[np.bool_]:
        """Which joints of the whole robot are `member`'s and have gains per mode, shape (n,)."""
        mine = np.zeros(len(self.joints), dtype=np.bool_)
        mine[member.rows] = True
        per_mode: NDArray[np.bool_] = self.capabilities[STIFFNESS] == Capability.PER_MODE
        return mine & per_mode

    def _take_mode_gains(self, member: Member) -> None:
        """Note what its joints with gains per mode are to have. Raises ConfigError."""
        where = f"<ros2_control name='{member.info.name}'>"
        gains = mode_gains(member.info.parameters, where)
        if gains is not None:
            self.mode_gains[:, :, self._per_mode(member)] = gains[:, :, np.newaxis]

    def check_gains(self, mode: Mode, stiffness: float, damping: float, where: str) -> None:
        """Raises ConfigError if these gains of a mode can't be had on all joints.

        A component can't realize them, or its joints are given others in that mode.
        """
        for member in self.members:
            member.component.check_gains(stiffness, damping, where)
        given = self.mode_gains[mode]
        differs = np.isfinite(given[0]) & (given != [[stiffness], [damping]]).any(axis=0)
        if differs.any():
            other = given[:, np.flatnonzero(differs)[0]]
            raise ConfigError(
                f"{where}: stiffness {stiffness:g}, damping {damping:g}, but in {mode.name} the "
                f"impedance manager gives stiffness {other[0]:g}, damping {other[1]:g} (mode_kp "
                f"and mode_kd, value {mode.value}) to {self.joints.named(differs)}, which take "
                "their gains from there alone: make them equal"
            )

    def activate(self, state: JointState) -> None:
        """Activate every component and fill `state`; whole or not at all.

        The owner of the idle time comes last: its bus may not wait for a slow component.

        Raises HardwareError naming the component, or the joints that have no measured position.
        """
        active: list[Member] = []
        try:
            for member in self._activation_order():
                active.append(member)
                activate_member(member)
                state.array[:, member.rows] = member.state.array
            unknown = np.asarray(~np.isfinite(state.array).all(axis=0))
            if unknown.any():
                raise HardwareError(f"no measured state of {self.joints.named(unknown)}")
        except HardwareError as error:
            for failure in deactivate_members(active):
                error.add_note(f"joints may still be powered: {failure}")
            raise
        self.reports = tuple(member.report for member in self.members)

    def deactivate(self) -> None:
        """Deactivate every component, trying all. Raises ExceptionGroup of what failed."""
        for member in self.members:
            member.guarded("loop_ended")
        failures = deactivate_members(self._activation_order())
        if failures:
            raise ExceptionGroup("joints may still be powered", failures)

    def read(self, state: JointState, now: float, period: float) -> None:
        """Fill `state` with what was measured."""
        for member in self.members:
            measured = member.state.array
            member.guarded("read", member.state, now, period)
            if "read" not in member.failures:
                if np.count_nonzero(np.isfinite(measured)) < measured.size:
                    unknown = member.info.joint_set.named(~np.isfinite(measured.sum(axis=0)))
                    member.failures["read"] = f"no finite state of {unknown}"
                elif self._direct:
                    state.array[:] = measured
                else:
                    state.array[:, member.rows] = measured

    def unread(self) -> str:
        """Which components gave no measurement in this tick, and why; empty if all did."""
        failed = [m for m in self.members if m.failures and "read" in m.failures]
        return "; ".join(f"{m.info.name}: {m.failures['read']}" for m in failed) if failed else ""

    @property
    def simulates_time(self) -> bool:
        """Whether a component, a simulator, provides the loop's time."""
        return self._clock is not None

    def read_time(self) -> None:
        """Read the simulated time; it stands still while the simulator fails to tell it."""
        if self._clock is not None:
            self.time = self._clock.number("time", self.time, least=self.time)

    @property
    def teleports(self) -> float:
        """How often a simulator put joints somewhere else."""
        if not self._teleporting:
            return 0
        for member in self._teleporting:
            member.teleports = member.number("teleports", member.teleports, least=0.0)
        return sum(member.teleports for member in self._teleporting)

    @property
    def sample_age(self) -> float:
        """How old [s] the oldest measurement is that `read` gave last.

        A component that fails to tell gets no allowance for old measurements.
        """
        if not self._aging:
            return 0.0
        return max(member.number("sample_age", 0.0, least=0.0) for member in self._aging)

    def joint_states_published(self, published: float, measured: float) -> None:
        """Tell the components that a tick's joint states went out, see HardwareComponent.

        Called by the publisher's thread.
        """
        for member in self._listening:
            member.told_of_publication(published, measured)

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Hand each component its part of `command`."""
        for member in self.members:
            part = command
            if not self._direct:
                # The rows are our own; without "clip" numpy would copy the output to be safe.
                command.array.take(member.rows, 1, member.command.array, "clip")
                part = member.command
            member.guarded("write", part, now, period)
        self.read_time()

    def refresh_reports(self) -> bool:
        """Take every safety report and what failed in this tick. Whether any changed."""
        changed = False
        for member in self.members:
            if member.refresh_report():
                changed = True
                if member.report.level >= SafetyLevel.FAULT:
                    self.fault = Fault(self.fault.number + 1 if self.fault else 1, member.report)
        if changed:
            self.reports = tuple(member.report for member in self.members)
        return changed

    def effort_limit(self, state: JointState, out: FloatArray) -> bool:
        """Effort limit [Nm] of every joint at its position in `state`, into `out` (n,).

        Whether a component gave a new one.
        """
        changed = False
        for member in self.members:
            position = state.position if self._direct else state.position[member.rows]
            limit = member.asked("effort_limit", position)
            if limit is not None and limit is not member.effort_limit:
                member.effort_limit = limit
                out[member.rows] = limit
                changed = True
        return changed

    def realized_stiffness(self, out: FloatArray) -> bool:
        """Stiffness [Nm/rad] that acts whatever is commanded, into `out` (n,), NaN elsewhere.

        Whether a component gave a new one.
        """
        changed = False
        for member in self._confirming:
            stiffness = member.asked("realized_stiffness")
            if stiffness is not member.realized_stiffness:
                member.realized_stiffness = stiffness
                out[member.rows] = np.nan if stiffness is None else stiffness
                changed = True
        return changed

    def idle_until(self, deadline: float) -> None:
        """Leave the time until `deadline` [s, perf_counter] to whom it belongs, else sleep."""
        if self._idle_owner is not None:
            self._idle_owner.guarded("idle_until", deadline)
        sleep_until(deadline)

    def tick_correction(self) -> float:
        """How much later [s] the next tick is to come."""
        return 0.0 if self._idle_owner is None else self._idle_owner.tick_correction()

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Tell the components that set gains per mode."""
        self._told = mode, switch_number
        for member in self._confirming:
            member.guarded("mode_changed", mode, switch_number)

    def unconfirmed(self) -> str:
        """Names of the components that have not confirmed the present mode's impedance."""
        if not self._confirming:
            return ""
        return ", ".join(m.info.name for m in self._confirming if not m.confirms())

    def reset_faults(self) -> None:
        """Ask every component that can to reset its faults; tell those that missed it the mode."""
        for member in self.members:
            member.guarded("reset_faults")
        for member in self._confirming:
            if "mode_changed" in member.failures:
                member.guarded("mode_changed", *self._told)

    def failure(self) -> str:
        """What the components failed at latest; empty if nothing."""
        return "; ".join(
            f"{member.info.name}: {failure}"
            for member in self.members
            for failure in member.failures.values()
        )

    def _activation_order(self) -> list[Member]:
        return sorted(self.members, key=lambda member: member is self._idle_owner)

    def lacking(self, needs: Mapping[str, Capability]) -> str:
        """Which joints don't offer `needs`, in words; empty if all do."""
        problems = []
        for interface, level in needs.items():
            row = self.capabilities[COMMAND_INTERFACES.index(interface)]
            if (row < level).any():
                joints = self.joints.named(row < level)
                problems.append(f"{interface} {level.name.lower()} not offered by {joints}")
        return "; ".join(problems)


def _real_time_factor(clock: Member) -> float:
    """Simulated seconds per second. Raises ConfigError."""
    where = f"{block_named(clock.info)}: real_time_factor"
    try:
        factor = finite_number(clock.component, "real_time_factor")
    except COMPONENT_ERRORS as error:
        raise ConfigError(f"{where}: {error!r}") from error
    if factor < 0.0:
        raise ConfigError(f"{where}: found {factor:g}, expected 0 or more")
    return factor
