"""All hardware components of a robot: loading, activating, reading and writing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.controller import ModeGains
from humanoid_controller_manager.hardware.activation import activate_all, deactivate_all
from humanoid_controller_manager.hardware.member import (
    Fault,
    Member,
    block_named,
)
from humanoid_controller_manager.hardware.mode_gains import mode_gains, torque_efficiency
from humanoid_controller_manager.hardware.result_checks import finite_number
from humanoid_controller_manager.hardware.urdf import GAINS, RobotDescription
from humanoid_controller_manager.hardware_component import (
    HARDWARE_CONTRACT,
    HardwareComponent,
    HardwareInfo,
)
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS
from humanoid_controller_manager.plugins import HARDWARE, require_plugin
from humanoid_controller_manager.reason_codes import COMPONENT_FAILED

BoolArray: TypeAlias = NDArray[np.bool_]

STIFFNESS: Final = COMMAND_INTERFACES.index("stiffness")


class HardwareGroup:
    """Configures, activates, reads and writes the components of a robot.

    A component that raises is called again in the next tick, so that it can recover and gets every
    damping command. Its joints keep their last state, and its safety report becomes a FAULT.
    """

    def __init__(self, joints: JointSet, members: Sequence[Member]) -> None:
        self.joints = joints
        self.members = tuple(members)
        # Configured gains of the joints with gains per mode: (modes, 2, n); NaN where unknown.
        self.mode_gains = np.full((len(Mode), 2, len(joints)), np.nan)
        # Realized / nominal torque of each joint, (n,).
        self.torque_efficiency = np.ones(len(joints))
        # Configured gains of held joints, where those of the mode are unknown; None: not given.
        self.hold_gains: ModeGains | None = None
        self.capabilities = np.zeros((len(COMMAND_INTERFACES), len(joints)), dtype=np.int8)
        self.reports: tuple[SafetyReport, ...] = ()
        self.fault: Fault | None = None  # the latest, also if it has passed
        self.time = 0.0  # [s], simulated; see `read_time`
        self.real_time_factor = 1.0  # simulated seconds per second; 0: as fast as possible
        self._clock: Member | None = None  # the simulator, if there is one
        self._confirming: list[Member] = []
        self._teleporting: list[Member] = []
        self._aging: list[Member] = []
        self._listening: list[Member] = []
        self._idle_owner: Member | None = None
        self._in_force = Mode.ZERO_TORQUE, 0  # mode and switch number
        # A single component with all joints in order needs no copies.
        self._direct = len(self.members) == 1 and np.array_equal(
            self.members[0].rows, np.arange(len(joints))
        )

    @property
    def confirms_impedance(self) -> bool:
        """True if there are components whose gains are set per mode."""
        return bool(self._confirming)

    def configure(self) -> None:
        """Configure every component.

        Raises ConfigError of the first one that refuses, and if two provide time or the idle time.
        """
        for member in self.members:
            member.configure()
            self.capabilities[:, member.rows] = member.capabilities()
            self._store_mode_gains(member)
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
        """Return the members that override `duty`."""
        return [member for member in self.members if duty in member.duties]

    def _per_mode(self, member: Member) -> NDArray[np.bool_]:
        """Return which joints of the robot are `member`'s and have gains per mode, shape (n,)."""
        mine = np.zeros(len(self.joints), dtype=np.bool_)
        mine[member.rows] = True
        per_mode: NDArray[np.bool_] = self.capabilities[STIFFNESS] == Capability.PER_MODE
        return mine & per_mode

    def _store_mode_gains(self, member: Member) -> None:
        """Store configured gains and efficiencies of its joints. Raises ConfigError."""
        info = member.info
        self.torque_efficiency[member.rows] = [
            torque_efficiency(joint.parameters, f"{info.place}: joint '{joint.name}'")
            for joint in info.joints
        ]
        gains = mode_gains(info.parameters, info.block)
        if gains is not None:
            per_mode = self._per_mode(member)
            self.mode_gains[:, :, per_mode] = gains[:, :, np.newaxis]
            _refuse_above_largest(info, gains, per_mode[member.rows])

    def check_gains(
        self,
        mode: Mode,
        stiffness: float,
        damping: float,
        where: str,
        rows: IndexArray | None = None,
    ) -> None:
        """Refuse gains of a mode that not all joints at `rows` (None: of the robot) can have.

        Raises ConfigError if a component cannot realize them, or gives its joints others in `mode`.
        """
        for member in self.members:
            if rows is None or np.isin(member.rows, rows).any():
                member.component.check_gains(stiffness, damping, where)
        given = self.mode_gains[mode]
        differs = np.isfinite(given[0]) & (given != [[stiffness], [damping]]).any(axis=0)
        if rows is not None:
            differs &= np.isin(np.arange(len(self.joints)), rows)
        if differs.any():
            other = given[:, np.flatnonzero(differs)[0]]
            raise ConfigError(
                f"{where}: stiffness {stiffness:g}, damping {damping:g}, but in {mode.name} the "
                f"impedance manager gives stiffness {other[0]:g}, damping {other[1]:g} (mode_kp "
                f"and mode_kd, value {mode.value}) to {self.joints.named(differs)}, which take "
                "their gains from there alone: make them equal"
            )

    def activate(self, state: JointState) -> None:
        """Activate every component and fill `state`; on an error deactivate all.

        Raises HardwareError naming the component, or the joints that have no measured position.
        """
        activate_all(self._activation_order(), self.joints, state)
        self.reports = tuple(member.report for member in self.members)

    def deactivate(self) -> None:
        """Deactivate every component, trying all. Raises ExceptionGroup of their errors."""
        for member in self.members:
            member.call("loop_ended")
        if failures := deactivate_all(self._activation_order()):
            raise ExceptionGroup("joints may still be powered", failures)

    def read(self, state: JointState, now: float, period: float) -> None:
        """Fill `state` with the measurements."""
        for member in self.members:
            measured = member.state.array
            member.call("read", member.state, now, period)
            if "read" not in member.failures:
                if np.count_nonzero(np.isfinite(measured)) < measured.size:
                    unknown = member.info.joint_set.named(~np.isfinite(measured.sum(axis=0)))
                    member.failures["read"] = f"no finite state of {unknown}"
                elif self._direct:
                    state.array[:] = measured
                else:
                    state.array[:, member.rows] = measured

    def read_failure(self) -> Reason:
        """Return which components gave no measurement in this tick, and why, if any."""
        failed = [m for m in self.members if m.failures and "read" in m.failures]
        if not failed:
            return NO_REASON
        text = "; ".join(f"{m.info.name}: {m.failures['read']}" for m in failed)
        return Reason.of(COMPONENT_FAILED, text)

    @property
    def simulates_time(self) -> bool:
        """True if a component, a simulator, provides the loop's time."""
        return self._clock is not None

    def read_time(self) -> None:
        """Update `time`; it stays while the simulator fails to give it."""
        if self._clock is not None:
            self.time = self._clock.number("time", self.time, least=self.time)

    @property
    def teleports(self) -> float:
        """Number of jumps of the measured position, see HardwareComponent."""
        if not self._teleporting:
            return 0
        for member in self._teleporting:
            member.teleports = member.number("teleports", member.teleports, least=0.0)
        return sum(member.teleports for member in self._teleporting)

    @property
    def sample_age(self) -> float:
        """Age [s] of the oldest measurement of the latest `read`.

        A component that fails to give it gets no allowance for old measurements.
        """
        if not self._aging:
            return 0.0
        return max(member.number("sample_age", 0.0, least=0.0) for member in self._aging)

    def joint_states_published(self, published: float, measured: float) -> None:
        """Notify the components, see HardwareComponent. Called by the publisher's thread."""
        for member in self._listening:
            member.joint_states_published(published, measured)

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Pass each component its part of `command`."""
        for member in self.members:
            part = command
            if not self._direct:
                # The rows are valid; without "clip" numpy would buffer the output.
                command.array.take(member.rows, 1, member.command.array, "clip")
                part = member.command
            member.call("write", part, now, period)
        self.read_time()

    def refresh_reports(self) -> bool:
        """Update the safety reports with the failures of this tick; return whether any changed."""
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
        """Write the effort limit [Nm] of every joint in `state` to `out` (n,).

        Return whether it changed.
        """
        changed = False
        for member in self.members:
            position = state.position if self._direct else state.position[member.rows]
            limit = member.result_of("effort_limit", position)
            if limit is not None and limit is not member.effort_limit:
                member.effort_limit = limit
                out[member.rows] = limit
                changed = True
        return changed

    def realized_stiffness(self, out: FloatArray) -> bool:
        """Write the stiffness [Nm/rad] of joints with gains per mode to `out` (n,); NaN elsewhere.

        Return whether it changed.
        """
        changed = False
        for member in self._confirming:
            stiffness = member.result_of("realized_stiffness")
            if stiffness is not member.realized_stiffness:
                member.realized_stiffness = stiffness
                out[member.rows] = np.nan if stiffness is None else stiffness
                changed = True
        return changed

    def idle_until(self, deadline: float) -> None:
        """Let the owner of the idle time work until `deadline` [s, monotonic]."""
        if self._idle_owner is not None:
            self._idle_owner.call("idle_until", deadline)

    def tick_correction(self) -> float:
        """Return by how much [s] to delay the next tick."""
        return 0.0 if self._idle_owner is None else self._idle_owner.tick_correction()

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Notify the components that set gains per mode."""
        self._in_force = mode, switch_number
        for member in self._confirming:
            member.call("mode_changed", mode, switch_number)

    def unconfirmed(self) -> str:
        """Return the components that have not confirmed the impedance of the mode, or empty."""
        if not self._confirming:
            return ""
        return ", ".join(m.info.name for m in self._confirming if not m.confirms())

    def reset_faults(self) -> None:
        """Make every component reset its faults; repeat a `mode_changed` that failed."""
        for member in self.members:
            member.call("reset_faults")
        for member in self._confirming:
            if "mode_changed" in member.failures:
                member.call("mode_changed", *self._in_force)

    def failure(self) -> str:
        """Return the present failures of the components; empty if there are none."""
        return "; ".join(
            f"{member.info.name}: {failure}"
            for member in self.members
            for failure in member.failures.values()
        )

    def _activation_order(self) -> list[Member]:
        # The owner of the idle time is last: its bus must not wait for others.
        return sorted(self.members, key=lambda member: member is self._idle_owner)

    def lacking(self, needs: Mapping[str, Capability], rows: IndexArray | None = None) -> str:
        """Return which joints at `rows` do not offer `needs`, in words; empty if all do.

        Without `rows`: of all joints.
        """
        problems = []
        for interface, level in needs.items():
            lacks = self.capabilities[COMMAND_INTERFACES.index(interface)] < level
            if rows is not None:
                lacks &= np.isin(np.arange(len(self.joints)), rows)
            if lacks.any():
                joints = self.joints.named(lacks)
                problems.append(f"{interface} {level.name.lower()} not offered by {joints}")
        return "; ".join(problems)


MakeComponent = Callable[[type[HardwareComponent]], HardwareComponent]


def load_hardware(
    description: RobotDescription, make: MakeComponent = lambda plugin: plugin()
) -> HardwareGroup:
    """Return the configured components of `description`, each made by `make`.

    Raises ConfigError for unknown plug-ins and for configuration that a component refuses.
    """
    members = []
    for info in description.blocks:
        plugin = require_plugin(HARDWARE, info.plugin, info.place)
        HARDWARE_CONTRACT.taken_on(plugin, block_named(info))
        component = make(plugin)
        count = len(info.joints)
        rows = description.joints.indices(joint.name for joint in info.joints)
        members.append(Member(info, component, rows, JointState(count), JointCommand(count)))
    group = HardwareGroup(description.joints, members)
    group.configure()
    return group


def _refuse_above_largest(info: HardwareInfo, gains: FloatArray, per_mode: BoolArray) -> None:
    """Raise ConfigError for `gains` (modes, 2) above the largest of the joints that get them.

    The limit stage cannot limit what drives are given per mode. `per_mode`: which joints, (n,).
    """
    if info.limits.gains is None:
        return
    above = per_mode & (gains[:, :, np.newaxis] > info.limits.gains)
    for mode, kind in np.argwhere(above.any(axis=2)).tolist():
        joints = info.joint_set.named(above[mode, kind])
        largest = info.limits.gains[kind][above[mode, kind]].min()
        raise ConfigError(
            f"{info.block}: {GAINS[kind]} {gains[mode, kind]:g} of {Mode(mode).name} (mode_kp and "
            f"mode_kd of the impedance manager, value {mode}), but {joints} may have {largest:g} "
            "at most (max of the command interface in the description)"
        )


def _real_time_factor(clock: Member) -> float:
    """Return the simulator's real-time factor. Raises ConfigError."""
    where = f"{block_named(clock.info)}: real_time_factor"
    try:
        factor = finite_number(clock.component, "real_time_factor")
    except PLUGIN_ERRORS as error:
        raise ConfigError(f"{where}: {error!r}") from error
    if factor < 0.0:
        raise ConfigError(f"{where}: found {factor:g}, expected 0 or more")
    return factor
