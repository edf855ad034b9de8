"""All hardware components of the robot behind whole-robot arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.joints import FloatArray, IndexArray, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability, JointCommand, JointState
from humanoid_controller_manager.hardware import (
    ConfirmsImpedance,
    HardwareComponent,
    HardwareInfo,
    ProvidesTime,
    ResetsFaults,
)
from humanoid_controller_manager.plugins import HARDWARE, require_plugin
from humanoid_controller_manager.urdf import RobotDescription


@dataclass(slots=True)
class Member:
    """One component, the rows of the whole-robot arrays it serves, and its own copies of them."""

    info: HardwareInfo
    component: HardwareComponent
    rows: IndexArray
    state: JointState
    command: JointCommand
    failure: str = ""  # of the latest read or write; empty if both worked
    report: SafetyReport = field(init=False)

    def __post_init__(self) -> None:
        self.report = SafetyReport(self.info.name)


class HardwareGroup:
    """Configures, activates, reads and writes the components of a robot.

    A component that raises in `read` or `write` keeps being called (so it can recover and gets
    every damping command), its joints keep their last state, and its safety report becomes a
    FAULT.
    """

    def __init__(self, joints: JointSet, members: Sequence[Member]) -> None:
        self.joints = joints
        self.members = tuple(members)
        self.capabilities = np.zeros((len(COMMAND_INTERFACES), len(joints)), dtype=np.int8)
        self.reports: tuple[SafetyReport, ...] = ()
        self.time_source: ProvidesTime | None = None  # the simulator among them, once configured
        self._confirming: list[ConfirmsImpedance] = []
        # One component that serves all joints in order needs no copies.
        self._direct = len(self.members) == 1 and np.array_equal(
            self.members[0].rows, np.arange(len(joints))
        )

    def configure(self) -> None:
        """Configure every component.

        Raises ConfigError of the first that refuses, and if two of them provide time.
        """
        for member in self.members:
            member.component.on_configure(member.info)
            self.capabilities[:, member.rows] = member.component.capabilities()
        components = [member.component for member in self.members]
        clocks = [c for c in components if isinstance(c, ProvidesTime)]
        if len(clocks) > 1:
            raise ConfigError("more than one hardware component simulates time")
        self.time_source = clocks[0] if clocks else None
        self._confirming = [c for c in components if isinstance(c, ConfirmsImpedance)]

    def activate(self, state: JointState) -> None:
        """Activate every component and fill `state`; whole or not at all.

        Raises HardwareError naming the component, or the joints that have no measured position.
        """
        active: list[Member] = []
        try:
            for member in self.members:
                active.append(member)
                member.component.on_activate(member.state)
                state.array[:, member.rows] = member.state.array
            unknown = np.asarray(~np.isfinite(state.array).all(axis=0))
            if unknown.any():
                raise HardwareError(f"no measured state of {self.joints.named(unknown)}")
        except Exception as error:
            for failure in _deactivate(active):
                error.add_note(f"joints may still be powered: {failure}")
            raise
        self._collect_reports()

    def deactivate(self) -> None:
        """Deactivate every component, trying all. Raises ExceptionGroup of what failed."""
        failures = _deactivate(self.members)
        if failures:
            raise ExceptionGroup("joints may still be powered", failures)

    def read(self, state: JointState, now: float, period: float) -> bool:
        """Fill `state`. Whether any safety report changed."""
        if self._direct:
            member = self.members[0]
            changed = self._read_member(member, now, period)
            if not member.failure:
                state.array[:] = member.state.array
            return changed
        changed = False
        for member in self.members:
            changed |= self._read_member(member, now, period)
            if not member.failure:
                state.array[:, member.rows] = member.state.array
        return changed

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """Hand each component its part of `command`."""
        for member in self.members:
            part = command
            if not self._direct:
                np.take(command.array, member.rows, axis=1, out=member.command.array)
                part = member.command
            try:
                member.component.write(part, now, period)
            except Exception as error:
                member.failure = f"write failed: {error}"

    def effort_limit(self, out: FloatArray) -> None:
        """Effort limit [Nm] of every joint at its measured position, into `out` (n,)."""
        for member in self.members:
            out[member.rows] = member.component.effort_limit(member.state.position)

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """Tell the components that set gains per mode."""
        for component in self._confirming:
            component.mode_changed(mode, switch_number)

    def unconfirmed(self) -> str:
        """Names of the components that have not confirmed the present mode's impedance."""
        if not self._confirming:
            return ""
        return ", ".join(
            member.info.name
            for member in self.members
            if isinstance(member.component, ConfirmsImpedance)
            and not member.component.impedance_confirmed()
        )

    def reset_faults(self) -> None:
        """Ask every component that can to reset its faults."""
        for member in self.members:
            if isinstance(member.component, ResetsFaults):
                member.component.reset_faults()

    def lacking(self, needs: Mapping[str, Capability]) -> str:
        """Which joints don't offer `needs`, in words; empty if all do."""
        problems = []
        for interface, level in needs.items():
            row = self.capabilities[COMMAND_INTERFACES.index(interface)]
            if (row < level).any():
                joints = self.joints.named(row < level)
                problems.append(f"{interface} {level.name.lower()} not offered by {joints}")
        return "; ".join(problems)

    def _read_member(self, member: Member, now: float, period: float) -> bool:
        try:
            member.component.read(member.state, now, period)
            bad = not np.isfinite(member.state.array).all()
            member.failure = "no finite state of its joints" if bad else ""
        except Exception as error:
            member.failure = f"read failed: {error}"
        return self._update_report(member)

    def _update_report(self, member: Member) -> bool:
        report = member.component.safety()
        if member.failure:
            report = SafetyReport(member.info.name, SafetyLevel.FAULT, report.flags, member.failure)
        if report is member.report or report == member.report:
            return False
        member.report = report
        self.reports = tuple(m.report for m in self.members)
        return True

    def _collect_reports(self) -> None:
        for member in self.members:
            self._update_report(member)
        self.reports = tuple(m.report for m in self.members)


def _deactivate(members: Sequence[Member]) -> list[Exception]:
    failures: list[Exception] = []
    for member in reversed(members):
        try:
            member.component.on_deactivate()
        except Exception as error:
            error.add_note(f"while deactivating {member.info.name}")
            failures.append(error)
    return failures


def load_hardware(description: RobotDescription) -> HardwareGroup:
    """The components of `description`, configured.

    Raises ConfigError for unknown plugins and for whatever a component refuses.
    """
    members = []
    for info in description.blocks:
        where = f"<ros2_control name='{info.name}'>"
        component = require_plugin(HARDWARE, info.plugin, where)()
        count = len(info.joints)
        rows = description.joints.indices(joint.name for joint in info.joints)
        members.append(Member(info, component, rows, JointState(count), JointCommand(count)))
    group = HardwareGroup(description.joints, members)
    group.configure()
    return group
