"""Several controllers side by side in one mode, each with joints of its own.

The joints that none of them claims are held. The loop runs a group like a single controller: it is
activated, updated and left as a whole, and any member that fails ends all of them.
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_controller_manager.controller import Progress
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.mode_controllers import (
    ClaimedJoints,
    ControllerSlot,
    Report,
    Tick,
    are_disjoint,
    checked_report,
    group_name,
    reason_of_failure,
    took_too_long,
)
from humanoid_controller_manager.loop.snapshot import MemberReport
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, told
from humanoid_controller_manager.reason_codes import INVALID_COMMAND

HELD: Final[Mapping[str, Capability]] = {
    "position": Capability.PER_TICK,
    "stiffness": Capability.PER_MODE,
    "damping": Capability.PER_MODE,
}
HOLD_KEYS: Final = "hold_stiffness and hold_damping"

logger = logging.getLogger(__name__)


class MemberError(Exception):
    """A member failed. The text names it; `error` is what it raised, None for a wrong command."""

    def __init__(self, text: str, error: BaseException | None = None) -> None:
        super().__init__(text)
        self.error = error
        self.reason = reason_of_failure(text, error) if error else Reason.of(INVALID_COMMAND, text)


class Hold:
    """Holds the joints that no member claims at the pose measured when they were left.

    Args:
        rows: of the held joints among the robot's, shape (k,).
        gains: stiffness [Nm/rad] and damping [Nm*s/rad] of each, shape (2, k).
    """

    def __init__(self, rows: IndexArray, gains: FloatArray) -> None:
        self.rows = rows
        self.command = JointCommand(len(rows))
        self.command.array[3:] = gains

    def begin(self, state: JointState, before: Self | None = None) -> None:
        """Take the pose of the robot's `state` as the target; a joint held `before` keeps its."""
        self.command.position[:] = state.position[self.rows]
        if before is not None:
            _, here, there = np.intersect1d(self.rows, before.rows, return_indices=True)
            self.command.position[here] = before.command.position[there]


class ControllerGroup:
    """Runs controllers side by side; see ControllerSlot for its duties.

    Args:
        members: of one mode, each with joints that it claims.
        hardware: gives the gains of the joints that none claims.

    Raises ConfigError for members that cannot be in charge together, naming both, and for joints
    that cannot be held because their gains are unknown.
    """

    def __init__(self, members: Sequence[ControllerSlot], hardware: HardwareGroup) -> None:
        _check(members, hardware.joints)
        self.name = group_name(slot.name for slot in members)
        self.mode = members[0].mode
        self.fallbacks = members[0].fallbacks
        self.members = tuple((slot, slot.claimed) for slot in members if slot.claimed is not None)
        self._joints = hardware.joints
        self._hardware = hardware
        self.claimed_rows = tuple(claimed.rows for _, claimed in self.members)
        all_claimed = np.concatenate(self.claimed_rows)
        free = np.setdiff1d(np.arange(len(self._joints)), all_claimed)
        self.hold = Hold(free, _hold_gains(self.mode, free, hardware)) if free.size else None
        self.not_updated = tuple(MemberReport(slot.name, None, "") for slot in members)
        self._slowest = ("", 0.0)  # member of the latest update and its time [s]
        # Members that have not commanded yet, beside others that have.
        self._joining: Sequence[tuple[ControllerSlot, ClaimedJoints]] = ()

    @property
    def needs_stiffness(self) -> bool:
        """True if it starts only once the impedance of its mode is confirmed."""
        return self.hold is not None or any(slot.needs_stiffness for slot, _ in self.members)

    def compensated_joints(self, count: int) -> NDArray[np.bool_]:
        """Return for which of the robot's `count` joints members request gravity compensation."""
        return np.asarray(
            np.any([slot.compensated_joints(count) for slot, _ in self.members], axis=0)
        )

    def lacking(self, hardware: HardwareGroup) -> str:
        """Return which joints do not offer what the members need, or holding; empty if all do."""
        problems = [slot.lacking(hardware) for slot, _ in self.members]
        if self.hold is not None and (lacking := hardware.lacking(HELD, self.hold.rows)):
            problems.append(f"joints that no controller claims: {lacking}")
        return "; ".join(filter(None, problems))

    def check_hold(self) -> None:
        """Raise ConfigError if the hardware cannot hold joints with the configured gains."""
        if self.hold is None or self._hardware.hold_gains is None:
            return
        rows = self.hold.rows[_unknown(self.mode, self.hold.rows, self._hardware)]
        if rows.size:
            gains, where = self._hardware.hold_gains, f"controller_manager: {HOLD_KEYS}"
            self._hardware.check_gains(self.mode, *gains, where, rows)

    def shares_member_with(self, other: object) -> bool:
        """Return whether a member of `other` stays in charge when this group replaces it."""
        return (
            isinstance(other, ControllerGroup)
            and other.mode is self.mode
            and any(member in other.members for member in self.members)
        )

    # In the loop's thread.

    def check_start(self, tick: Tick) -> None:
        """Raise MemberError of the first member that cannot start now."""
        _check_start(self.members, tick)

    def activate(self, tick: Tick, command: JointCommand) -> None:
        """Activate all members from the `command` in force, or none. Raises MemberError."""
        self._activate(self.members, tick, command)
        if self.hold is not None:
            self.hold.begin(tick.state)

    def replace(self, before: Self, tick: Tick, command: JointCommand) -> None:
        """Replace `before`: members of both continue, and joints held in both stay held.

        Raises MemberError of a member that cannot start; `before` then continues.
        """
        joining = [it for it in self.members if it not in before.members]
        _check_start(joining, tick)
        self._joining = joining
        self._activate(self._joining, tick, command)
        if self.hold is not None:
            self.hold.begin(tick.state, before.hold)
        _deactivate([it for it in before.members if it not in self.members])

    def update(self, tick: Tick, command: JointCommand) -> None:
        """Write the commands of all members, and of the held joints, to the robot's `command`.

        Raises MemberError.
        """
        clock, begun = tick.clock, tick.clock()
        self._slowest = ("", 0.0)
        for slot, claimed in self.members:
            tick.state.array.take(claimed.rows, 1, claimed.state.array, "clip")
            own = claimed.lent.values
            try:
                slot.controller.update(claimed.measured, claimed.lent.view, tick.now, tick.period)
            except PLUGIN_ERRORS as error:
                raise MemberError(f"{slot.name} failed: {told(error)}", error) from error
            if not own.is_valid():
                joints = ", ".join(self._joints.names_at(claimed.rows[own.invalid_joints()]))
                raise MemberError(f"{slot.name} gave an invalid command for {joints}")
            command.array[:, claimed.rows] = own.array
            ended = clock()
            if ended - begun > self._slowest[1]:
                self._slowest = (slot.name, ended - begun)
            begun = ended
        if self.hold is not None:
            command.array[:, self.hold.rows] = self.hold.command.array
        self._joining = ()

    def held_back(self, target: FloatArray, why: str) -> None:
        """Report to the members that their commands reached only `target`. Raises MemberError."""
        for slot, claimed in self.members:
            if (slot, claimed) in self._joining:
                continue
            try:
                slot.controller.on_held_back(target[claimed.rows], why)
            except PLUGIN_ERRORS as error:
                raise MemberError(f"{slot.name} failed: {told(error)}", error) from error

    def report(self) -> Report:
        """Return the progress of the member that is furthest from its end, and all remarks.

        A group with a member without progress has none. Raises MemberError.
        """
        members = tuple(_member_report(slot) for slot, _ in self.members)
        remarks = [f"{it.name}: {it.remark}" for it in members if it.remark]
        return _least([it.progress for it in members]), "; ".join(remarks), members

    def late(self, elapsed: float, timeout: float) -> str:
        """Return that the update took `elapsed`, longer than `timeout` [s]."""
        name, longest = self._slowest
        if longest > timeout:
            return took_too_long(name, longest, timeout)
        most = f"most of it {name}: {longest * 1e3:.1f} ms"
        return f"{took_too_long(self.name, elapsed, timeout)}, {most}"

    def deactivate(self) -> None:
        """Deactivate all members, the last first."""
        _deactivate(self.members)

    def _activate(
        self,
        members: Sequence[tuple[ControllerSlot, ClaimedJoints]],
        tick: Tick,
        command: JointCommand,
    ) -> None:
        active: list[tuple[ControllerSlot, ClaimedJoints]] = []
        for slot, claimed in members:
            tick.state.array.take(claimed.rows, 1, claimed.state.array, "clip")
            in_force = JointCommand(len(claimed.rows), command.array[:, claimed.rows])
            claimed.renew()
            try:
                slot.controller.on_activate(claimed.measured, in_force, tick.now)
            except PLUGIN_ERRORS as error:
                _deactivate(active)
                raise MemberError(f"{slot.name}: {told(error)}", error) from error
            active.append((slot, claimed))


def _check_start(members: Sequence[tuple[ControllerSlot, ClaimedJoints]], tick: Tick) -> None:
    """Raise MemberError of the first of `members` that cannot start now."""
    for slot, claimed in members:
        tick.state.array.take(claimed.rows, 1, claimed.state.array, "clip")
        try:
            slot.controller.check_start(claimed.measured, tick.now)
        except PLUGIN_ERRORS as error:
            raise MemberError(f"{slot.name}: {told(error)}", error) from error


def _check(members: Sequence[ControllerSlot], joints: JointSet) -> None:
    """Raise ConfigError if two of `members` cannot be in charge together."""
    for one, other in combinations(members, 2):
        both = f"'{one.name}' and '{other.name}' can't be in charge together"
        if one.mode is not other.mode:
            raise ConfigError(f"{both}: they are of {one.mode.name} and {other.mode.name}")
        if one.claimed is None or other.claimed is None:
            whole = one if one.claimed is None else other
            raise ConfigError(f"{both}: '{whole.name}' claims all joints")
        if not are_disjoint(one, other):
            shared = joints.names_at(one.claimed.shared_rows(other.claimed))
            raise ConfigError(f"{both}: both claim {', '.join(shared)}")
        if one.fallbacks != other.fallbacks:
            raise ConfigError(f"{both}: make their fallback_controllers equal")


def _hold_gains(mode: Mode, rows: IndexArray, hardware: HardwareGroup) -> FloatArray:
    """Return the gains of the held joints at `rows`, (2, k). Raises ConfigError for unknown ones.

    They are those of the mode where the hardware has them, otherwise the configured ones.
    """
    unknown = _unknown(mode, rows, hardware)
    configured = hardware.hold_gains
    if configured is None and unknown.any():
        unclaimed = ", ".join(hardware.joints.names_at(rows[unknown]))
        raise ConfigError(
            f"no controller of {mode.name} claims {unclaimed}: "
            f"controller_manager needs {HOLD_KEYS}, the gains they are held with"
        )
    known = hardware.mode_gains[mode][:, rows]
    return known if configured is None else np.where(unknown, np.array([configured]).T, known)


def _unknown(mode: Mode, rows: IndexArray, hardware: HardwareGroup) -> NDArray[np.bool_]:
    """Return at which of `rows` the hardware does not have the gains of `mode`, (k,)."""
    return np.asarray(np.isnan(hardware.mode_gains[mode][:, rows]).any(axis=0))


def _member_report(slot: ControllerSlot) -> MemberReport:
    try:
        return MemberReport(slot.name, *checked_report(slot.controller))
    except PLUGIN_ERRORS as error:
        raise MemberError(f"{slot.name} failed: {told(error)}", error) from error


def _least(found: Sequence[Progress | None]) -> Progress | None:
    known = [progress for progress in found if progress is not None]
    if len(known) < len(found):
        return None
    return min(known, key=lambda progress: progress.fraction)


def _deactivate(members: Sequence[tuple[ControllerSlot, ClaimedJoints]]) -> None:
    """Deactivate `members`, the last first. Errors can only be logged: the switch happens."""
    for slot, _ in reversed(members):
        try:
            slot.controller.on_deactivate()
        except PLUGIN_ERRORS:
            logger.exception("%s failed to deactivate", slot.name)
