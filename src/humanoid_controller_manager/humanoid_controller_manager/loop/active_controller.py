"""The mode controller in charge: switching, preparing and falling back between two ticks."""

import logging
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import IndexArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reason_codes import IMPEDANCE_NOT_CONFIRMED
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_controller_manager.controller import Progress
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import refuse_far_outside
from humanoid_controller_manager.loop.controller_group import ControllerGroup, MemberError
from humanoid_controller_manager.loop.mode_controllers import (
    ControllerSlot,
    LentCommand,
    Tick,
    checked_slots,
    controllers_of,
    member_names,
    reason_of_failure,
    refusal_as_safe,
    unexplained,
)
from humanoid_controller_manager.loop.snapshot import Fall, MemberReport, Phase
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, told
from humanoid_controller_manager.reason_codes import (
    CONTROLLER_LATE,
    CONTROLLER_REFUSED,
    INVALID_COMMAND,
    NO_FALLBACK_LEFT,
)
from humanoid_controller_manager.safety.limit_stage import HeldBack

NO_CONTROLLER: Final = "none"
LARGEST_SWITCH_NUMBER: Final = (1 << 32) - 1  # the next one is 1
CONFIRMATION_LIMIT: Final = 0.5  # [s] the hardware has to confirm a mode's impedance
# [s]. A kernel without real-time patches holds a thread up for milliseconds: at more than 200 Hz
# one such hold-up would be longer than a period.
SHORTEST_UPDATE_TIMEOUT: Final = 0.005

# Rows of JointCommand.array: velocity, effort and stiffness. A safe mode only damps.
_MOVING: Final = slice(1, 4)
_FOR_CALIBRATION: Final = (
    "the robot was started for `hc calibrate`, without stiff modes: start it without --calibrate"
)

Runnable: TypeAlias = ControllerSlot | ControllerGroup

logger = logging.getLogger(__name__)


def update_timeout_at(update_rate: float) -> float:
    """Return the longest time [s] that an update may take at `update_rate` [Hz].

    That is a period, and never less than SHORTEST_UPDATE_TIMEOUT.
    """
    return max(1.0 / update_rate, SHORTEST_UPDATE_TIMEOUT)


class ActiveController:
    """Holds the controller in charge and fills a valid command in every tick.

    That may be a group: several controllers with joints of their own, see ControllerGroup.

    A controller that raises, gives an invalid command or, in a stiff mode, takes longer than
    `update_timeout` is replaced by its fallbacks within the same tick. After the last of them every
    joint is limp.

    Args:
        slots: the mode controllers by name.
        safe_chain: names of the fallbacks of controllers without fallbacks of their own.
        update_timeout: longest time an update may take [s], see `update_timeout_at`.

    Raises ConfigError for unknown names, for fallbacks outside the safe modes, and for controllers
    of one mode that cannot be in charge together.
    """

    def __init__(
        self,
        hardware: HardwareGroup,
        slots: Mapping[str, ControllerSlot],
        *,
        safe_chain: Sequence[str],
        update_timeout: float,
    ) -> None:
        self.switch_number = 0
        self.phase = Phase.RUNNING
        self.fall: Fall | None = None
        self.progress: Progress | None = None  # of the controller in charge, if it has any
        self.remark = ""  # of the controller in charge
        self.members: tuple[MemberReport, ...] = ()  # of the group in charge
        self.soft_only = False  # no controller of a stiff mode can be activated
        self.held_back: HeldBack | None = None  # how the limit stage changed the latest command
        # Joints with gravity compensation by request of the controller in charge, (n,).
        self.compensated_joints: NDArray[np.bool_] = np.zeros(len(hardware.joints), dtype=np.bool_)
        self._hardware = hardware
        self._safe_chain = tuple(safe_chain)
        self._update_timeout = update_timeout
        self._slot: Runnable | None = None
        self._entered = 0.0
        self._lent = LentCommand(len(hardware.joints))
        self._candidate = JointCommand(len(hardware.joints))
        self.exchange_slots(slots)

    def exchange_slots(self, slots: Mapping[str, ControllerSlot]) -> None:
        """Replace the controllers to choose from; the one in charge stays. Called by any thread.

        Raises ConfigError, see `checked_slots`; nothing is changed then. Also refuses controllers
        that would be in charge of a mode together, but cannot be.
        """
        checked = checked_slots(slots, self._safe_chain)
        for mode in Mode:
            members = controllers_of(mode, checked.values())
            if members and members[0].claimed is not None:
                ControllerGroup(members, self._hardware).check_hold()
        self._slots = checked

    @property
    def name(self) -> str:
        """The name of the controller in charge."""
        return NO_CONTROLLER if self._slot is None else self._slot.name

    @property
    def mode(self) -> Mode:
        """The mode of the controller in charge."""
        return Mode.ZERO_TORQUE if self._slot is None else self._slot.mode

    @property
    def claimed_rows(self) -> Sequence[IndexArray]:
        """The joints of each member of the group in charge; empty for a single controller."""
        slot = self._slot
        return slot.claimed_rows if isinstance(slot, ControllerGroup) else ()

    def refusal_of(self, name: str) -> Reason:
        """Return why controller `name` cannot be activated on this hardware, if so.

        The members of a group are named in one, see `group_name`.
        """
        return self._slot_of(name)[1]

    def refusal_as_first(self, name: str) -> str:
        """Return why the loop cannot start with controller `name`; empty if it can."""
        slot, refusal = self._slot_of(name)
        return refusal.text if slot is None else refusal_as_safe(slot.name, slot.mode)

    def switch(self, name: str, tick: Tick, command: JointCommand) -> Reason:
        """Put controller `name` in charge; on failure change nothing and return the reason.

        `command` is the one in force. A controller that needs stiffness starts once the hardware
        has confirmed the impedance: until then the present pose is held with the gains in force.
        `check_start` runs before the switch to any stiff mode, and again after that wait.

        When a group replaces another one and both have a common member, the mode is not switched:
        that member continues, and mode, switch number and gains stay.
        """
        slot, refusal = self._slot_of(name)
        if slot is None:
            return refusal
        if name == self.name:
            return NO_REASON
        if isinstance(slot, ControllerGroup) and slot.shares_member_with(self._slot):
            return self._replace_members(slot, tick, command)
        prepares = slot.needs_stiffness and self._hardware.confirms_impedance
        try:
            if prepares:
                self._check_start(slot, tick)
            else:
                self._start(slot, tick, command)
        except PLUGIN_ERRORS as error:
            return _reason_of(slot, error)
        self._enter(slot, tick.now, Phase.PREPARING if prepares else Phase.RUNNING)
        if prepares:
            command.position[:] = tick.state.position
            command.array[1:3] = 0.0
        return NO_REASON

    def update(self, tick: Tick, command: JointCommand) -> None:
        """Replace `command`, the one in force, by the controller's. It is valid afterwards."""
        if self._slot is None:
            command.array.fill(0.0)
            return
        if self.phase is Phase.PREPARING and not self._prepared(self._slot, tick, command):
            return
        problem, error = self._update_slot(self._slot, tick, command)
        if problem:
            self.fall_back(problem, tick, command, error, failed=self._slot)

    def note_fall(self, reason: Reason) -> None:
        """Count a fall without a switch: the controller in charge is the fallback already."""
        self.fall = Fall(self.fall.number + 1 if self.fall else 1, reason)

    def fall_back(
        self,
        reason: Reason,
        tick: Tick,
        command: JointCommand,
        error: BaseException | None = None,
        failed: Runnable | None = None,
    ) -> None:
        """Leave the controller in charge; fill `command` by its first fallback that works.

        A fallback that has just `failed` is skipped.
        """
        chain = (self._slot.fallbacks if self._slot else ()) or self._safe_chain
        slots = self._slots
        number = self.fall.number + 1 if self.fall else 1
        for slot in [slots[name] for name in chain if name in slots]:
            if slot is failed:
                continue
            problem, failure = self._fall_to(slot, tick, command)
            if not problem:
                self.fall = Fall(number, reason, error)
                return
            reason = joined((reason, problem))
            error = failure if error is None else error
        self.leave()
        self.phase = Phase.RUNNING
        self._count_switch()
        command.array.fill(0.0)
        limp = Reason.of(NO_FALLBACK_LEFT, "no fallback left, every joint is limp")
        self.fall = Fall(number, joined((reason, limp)), error)

    def _fall_to(
        self, slot: Runnable, tick: Tick, command: JointCommand
    ) -> tuple[Reason, BaseException | None]:
        """Put `slot` in charge, unless it is, and update it; return what `_update_slot` returns."""
        if slot is not self._slot or self.phase is not Phase.RUNNING:
            failure = self._activate(slot, tick, command)
            if failure is not None:
                return _reason_of(slot, failure), failure
            self._enter(slot, tick.now, Phase.RUNNING)
        return self._update_slot(slot, tick, command)

    def _slot_of(self, name: str) -> tuple[Runnable | None, Reason]:
        """Return the controller or group `name`; None and the reason if it cannot be activated."""
        slots = self._slots  # which another thread may exchange
        unknown = [it for it in member_names(name) or (name,) if it not in slots]
        if unknown:
            return None, _refused(f"unknown controller '{unknown[0]}'; known: {', '.join(slots)}")
        members = [slots[it] for it in member_names(name)]
        slot: Runnable = members[0]
        if len(members) > 1 or members[0].claimed is not None:
            try:
                slot = ControllerGroup(members, self._hardware)
            except ConfigError as error:
                return None, _refused(str(error))
        lacking = slot.lacking(self._hardware)
        if self.soft_only and slot.mode not in SAFE_MODES:
            lacking = f"{slot.mode.name}: {_FOR_CALIBRATION}"
        return (None, _refused(lacking)) if lacking else (slot, NO_REASON)

    def _replace_members(self, slot: ControllerGroup, tick: Tick, command: JointCommand) -> Reason:
        """Replace the group in charge by `slot`; return why not, if so."""
        before = self._slot
        assert isinstance(before, ControllerGroup)
        try:
            if self.phase is Phase.RUNNING:
                slot.replace(before, tick, command)
            else:
                slot.check_start(tick)
        except MemberError as error:
            return _reason_of(slot, error)
        self._slot, self.members = slot, slot.not_updated
        self._update_compensated_joints()
        return NO_REASON

    def _prepared(self, slot: Runnable, tick: Tick, command: JointCommand) -> bool:
        """Return whether `slot` is running now; if not, `command` is the one to write meanwhile."""
        waiting = self._hardware.unconfirmed()
        if waiting:
            if tick.now - self._entered > CONFIRMATION_LIMIT:
                text = (
                    f"impedance of {self.mode.name} not confirmed "
                    f"within {CONFIRMATION_LIMIT:g} s by {waiting}"
                )
                self.fall_back(Reason.of(IMPEDANCE_NOT_CONFIRMED, text), tick, command)
            return False
        error = self._activate(slot, tick, command)
        if error is not None:
            self.fall_back(_reason_of(slot, error), tick, command, error)
            return False
        self.phase = Phase.RUNNING
        self._update_compensated_joints()
        return True

    def _activate(self, slot: Runnable, tick: Tick, command: JointCommand) -> BaseException | None:
        try:
            self._start(slot, tick, command)
        except PLUGIN_ERRORS as error:
            return error
        return None

    def _start(self, slot: Runnable, tick: Tick, command: JointCommand) -> None:
        """Check and activate `slot`. Raises what it raises."""
        self._check_start(slot, tick)
        slot.activate(tick, command)
        self._lent = LentCommand(len(self._hardware.joints))
        self.held_back = None  # that was another controller's command

    def _check_start(self, slot: Runnable, tick: Tick) -> None:
        """Raise what `slot` raises if it cannot start now. A safe mode is never refused.

        Raises ReasonedError for a stiff mode while a joint is measured far outside its limits.
        """
        if slot.mode not in SAFE_MODES:
            refuse_far_outside(self._hardware.members, tick.state)
            slot.check_start(tick)

    def _enter(self, slot: Runnable, now: float, phase: Phase) -> None:
        self.leave()
        self._slot = slot
        self.members = slot.not_updated if isinstance(slot, ControllerGroup) else ()
        self.phase = phase
        self._entered = now
        self._update_compensated_joints()
        self._count_switch()

    def _update_compensated_joints(self) -> None:
        """Note the joints to be held against gravity: none unless stiffness is confirmed."""
        slot, count = self._slot, len(self.compensated_joints)
        stiff = self.phase is Phase.RUNNING and self.mode not in SAFE_MODES
        self.compensated_joints = (
            np.zeros(count, dtype=np.bool_)
            if slot is None or not stiff
            else slot.compensated_joints(count)
        )

    def _count_switch(self) -> None:
        # Messages have 32 bits for it; a request has the number 0.
        self.switch_number = self.switch_number % LARGEST_SWITCH_NUMBER + 1
        self._hardware.mode_changed(self.mode, self.switch_number)

    def leave(self) -> None:
        """Deactivate the controller in charge; then none is."""
        if self._slot is not None and self.phase is Phase.RUNNING:
            try:
                self._slot.deactivate()
            except PLUGIN_ERRORS:
                # The switch happens in any case: the error can only be logged.
                logger.exception("%s failed to deactivate", self._slot.name)
        self._slot = None
        self.progress, self.remark, self.members = None, "", ()
        self._update_compensated_joints()

    def _update_slot(
        self, slot: Runnable, tick: Tick, command: JointCommand
    ) -> tuple[Reason, BaseException | None]:
        """Update `slot`; copy its command to `command` if it is valid and in time.

        Return the problem, if there is one, and the error that was raised.
        """
        candidate = self._candidate
        started = tick.clock()
        try:
            if self.held_back is not None:
                slot.held_back(*self.held_back)
            slot.update(tick, self._lent.view)
            self.progress, self.remark, self.members = slot.report()
        except MemberError as failure:
            return _reason_of(slot, failure), unexplained(failure.error)
        except PLUGIN_ERRORS as error:
            text = f"{slot.name} failed: {told(error)}"
            return reason_of_failure(text, error), unexplained(error)
        elapsed = tick.clock() - started
        # A thread of the controller may change its command after the checks.
        np.copyto(candidate.array, self._lent.values.array)
        # A late soft command is still right; leaving the controller would make the robot limp.
        if elapsed > self._update_timeout and slot.mode not in SAFE_MODES:
            late = slot.late(elapsed, self._update_timeout)
            return Reason.of(CONTROLLER_LATE, late), None
        if not candidate.is_valid():
            joints = self._hardware.joints.named(candidate.invalid_joints())
            text = f"{slot.name} gave an invalid command for {joints}"
            return Reason.of(INVALID_COMMAND, text), None
        if slot.mode in SAFE_MODES and candidate.array[_MOVING].any():
            joints = self._hardware.joints.named(np.abs(candidate.array[_MOVING]).max(axis=0) > 0.0)
            text = f"{slot.name} commands stiffness, velocity or effort in {slot.mode.name}"
            return Reason.of(INVALID_COMMAND, f"{text}, expected 0, for {joints}"), None
        np.copyto(command.array, candidate.array)
        return NO_REASON, None


def _reason_of(slot: Runnable, error: BaseException) -> Reason:
    """Return the `error` of an activation, or of a member, with the controller's name."""
    if isinstance(error, MemberError):
        return error.reason
    return reason_of_failure(f"{slot.name}: {told(error)}", error)


def _refused(text: str) -> Reason:
    return Reason.of(CONTROLLER_REFUSED, text)
