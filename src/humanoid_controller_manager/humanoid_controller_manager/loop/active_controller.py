"""The mode controller in charge: switching, preparing and falling back between two ticks."""

import logging
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.mit_interface import JointCommand, JointState
from humanoid_control_common.modes import SAFE_MODES, Mode
from humanoid_controller_manager.controller import Controller, Progress
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.mode_controllers import (
    ControllerSlot,
    checked_slots,
    refusal_as_safe,
)
from humanoid_controller_manager.loop.results import shown, words_of
from humanoid_controller_manager.loop.snapshot import Fall, Phase

NO_CONTROLLER: Final = "none"
# A plug-in may call exit(), which must not end the loop.
PLUGIN_ERRORS: Final = (Exception, SystemExit)
LARGEST_SEGMENT: Final = (1 << 32) - 1  # that a message holds
LARGEST_SWITCH_NUMBER: Final = (1 << 32) - 1  # the next one is 1
CONFIRMATION_LIMIT: Final = 0.5  # [s] the hardware has to confirm a mode's impedance

logger = logging.getLogger(__name__)


class Tick(NamedTuple):
    """The inputs of a controller in one tick. Times in [s]."""

    state: JointState
    now: float
    period: float
    clock: Callable[[], float]  # the loop's time now: shows whether a controller is late


class ActiveController:
    """Holds the controller in charge and fills a valid command in every tick.

    A controller that raises, gives an invalid command or, in a stiff mode, takes longer than
    `patience` is replaced by its fallbacks within the same tick. After the last of them every joint
    is limp.

    Args:
        slots: the mode controllers by name.
        safe_chain: names of the fallbacks of controllers without fallbacks of their own.
        patience: longest time an update may take [s].

    Raises ConfigError for unknown names and for fallbacks outside the safe modes.
    """

    def __init__(
        self,
        hardware: HardwareGroup,
        slots: Mapping[str, ControllerSlot],
        *,
        safe_chain: Sequence[str],
        patience: float,
    ) -> None:
        self.switch_number = 0
        self.phase = Phase.RUNNING
        self.fall: Fall | None = None
        self.progress: Progress | None = None  # of the controller in charge, if it has any
        self.remark = ""  # of the controller in charge
        self._hardware = hardware
        self._safe_chain = tuple(safe_chain)
        self._patience = patience
        self._slot: ControllerSlot | None = None
        self._entered = 0.0
        self._candidate = JointCommand(len(hardware.joints))
        self.exchange_slots(slots)

    def exchange_slots(self, slots: Mapping[str, ControllerSlot]) -> None:
        """Replace the controllers to choose from; the one in charge stays. Called by any thread.

        Raises ConfigError, see `checked_slots`; nothing is changed then.
        """
        self._slots = checked_slots(slots, self._safe_chain)

    @property
    def name(self) -> str:
        """The name of the controller in charge."""
        return NO_CONTROLLER if self._slot is None else self._slot.name

    @property
    def mode(self) -> Mode:
        """The mode of the controller in charge."""
        return Mode.ZERO_TORQUE if self._slot is None else self._slot.controller.mode

    def refusal_of(self, name: str) -> str:
        """Return why controller `name` cannot be activated on this hardware; empty if it can."""
        return self._refusal(self._slots, name)

    def refusal_as_first(self, name: str) -> str:
        """Return why the loop cannot start with controller `name`; empty if it can."""
        return self.refusal_of(name) or refusal_as_safe(self._slots[name])

    def switch(self, name: str, tick: Tick, command: JointCommand) -> str:
        """Put controller `name` in charge; on failure change nothing and return the reason.

        `command` is the one in force. A controller that needs stiffness starts once the hardware
        has confirmed the impedance: until then the present pose is held with the gains in force.
        """
        slots = self._slots  # read once: another thread may exchange them
        refusal = self._refusal(slots, name)
        if refusal:
            return refusal
        slot = slots[name]
        if slot is self._slot:
            return ""
        if "stiffness" in slot.controller.needs and self._hardware.confirms_impedance:
            self._enter(slot, tick.now, Phase.PREPARING)
            command.position[:] = tick.state.position
            command.array[1:3] = 0.0
            return ""
        error = self._activate(slot, tick, command)
        if error is not None:
            return f"{name}: {words_of(error)}"
        self._enter(slot, tick.now, Phase.RUNNING)
        return ""

    def update(self, tick: Tick, command: JointCommand) -> None:
        """Replace `command`, the one in force, by the controller's. It is valid afterwards."""
        if self._slot is None:
            command.array.fill(0.0)
            return
        if self.phase is Phase.PREPARING and not self._prepared(self._slot, tick, command):
            return
        problem, error = self._try(self._slot, tick, command)
        if problem:
            self.fall_back(problem, tick, command, error, failed=self._slot)

    def note_fall(self, reason: str) -> None:
        """Count a fall without a switch: the controller in charge is the fallback already."""
        self.fall = Fall(self.fall.number + 1 if self.fall else 1, reason)

    def fall_back(
        self,
        reason: str,
        tick: Tick,
        command: JointCommand,
        error: BaseException | None = None,
        failed: ControllerSlot | None = None,
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
            failure = self._activate(slot, tick, command)
            problem = f"{slot.name}: {words_of(failure)}" if failure is not None else ""
            if failure is None:
                self._enter(slot, tick.now, Phase.RUNNING)
                problem, failure = self._try(slot, tick, command)
            if not problem:
                self.fall = Fall(number, reason, error)
                return
            reason = f"{reason}; {problem}"
            error = failure if error is None else error
        self.leave()
        self.phase = Phase.RUNNING
        self._count_switch()
        command.array.fill(0.0)
        self.fall = Fall(number, f"{reason}; no fallback left, every joint is limp", error)

    def _refusal(self, slots: Mapping[str, ControllerSlot], name: str) -> str:
        slot = slots.get(name)
        if slot is None:
            return f"unknown controller '{name}'; known: {', '.join(slots)}"
        lacking = self._hardware.lacking(slot.controller.needs)
        return f"{name}: {lacking}" if lacking else ""

    def _prepared(self, slot: ControllerSlot, tick: Tick, command: JointCommand) -> bool:
        """Return whether `slot` is running now; if not, `command` is the one to write meanwhile."""
        waiting = self._hardware.unconfirmed()
        if waiting:
            if tick.now - self._entered > CONFIRMATION_LIMIT:
                reason = (
                    f"impedance of {self.mode.name} not confirmed "
                    f"within {CONFIRMATION_LIMIT:g} s by {waiting}"
                )
                self.fall_back(reason, tick, command)
            return False
        error = self._activate(slot, tick, command)
        if error is not None:
            self.fall_back(f"{slot.name}: {words_of(error)}", tick, command, error)
            return False
        self.phase = Phase.RUNNING
        return True

    def _activate(
        self, slot: ControllerSlot, tick: Tick, command: JointCommand
    ) -> BaseException | None:
        try:
            slot.controller.on_activate(tick.state, command.copy(), tick.now)
        except PLUGIN_ERRORS as error:
            return error
        self._candidate.array.fill(0.0)
        return None

    def _enter(self, slot: ControllerSlot, now: float, phase: Phase) -> None:
        self.leave()
        self._slot = slot
        self.phase = phase
        self._entered = now
        self._count_switch()

    def _count_switch(self) -> None:
        # Messages have 32 bits for it; a request has the number 0.
        self.switch_number = self.switch_number % LARGEST_SWITCH_NUMBER + 1
        self._hardware.mode_changed(self.mode, self.switch_number)

    def leave(self) -> None:
        """Deactivate the controller in charge; then none is."""
        if self._slot is not None and self.phase is Phase.RUNNING:
            try:
                self._slot.controller.on_deactivate()
            except PLUGIN_ERRORS:
                # The switch happens in any case: the error can only be logged.
                logger.exception("%s failed to deactivate", self._slot.name)
        self._slot = None
        self.progress, self.remark = None, ""

    def _take_report(self, controller: Controller) -> None:
        """Read progress and remark. Raises what the controller raises; TypeError for wrong ones."""
        progress, remark = controller.progress, controller.remark
        if not (progress is None or _is_progress(progress)) or not isinstance(remark, str):
            raise TypeError(f"progress is {shown(progress)}, remark {shown(remark)}")
        self.progress, self.remark = progress, remark

    def _try(
        self, slot: ControllerSlot, tick: Tick, command: JointCommand
    ) -> tuple[str, BaseException | None]:
        """Update `slot`; copy its command to `command` if it is valid and in time.

        Return the problem, empty if there is none, and the error that was raised.
        """
        candidate = self._candidate
        started = tick.clock()
        try:
            slot.controller.update(tick.state, candidate, tick.now, tick.period)
            self._take_report(slot.controller)
        except PLUGIN_ERRORS as error:
            return f"{slot.name} failed: {words_of(error)}", error
        elapsed = tick.clock() - started
        # A late soft command is still right; leaving the controller would make the robot limp.
        if elapsed > self._patience and slot.controller.mode not in SAFE_MODES:
            late = f"{slot.name} took {elapsed * 1e3:.1f} ms (period {self._patience * 1e3:.1f} ms)"
            return late, None
        if not candidate.is_valid():
            joints = self._hardware.joints.named(candidate.invalid_joints())
            return f"{slot.name} gave an invalid command for {joints}", None
        np.copyto(command.array, candidate.array)
        return "", None


def _is_progress(found: Progress) -> bool:
    """Return whether all fields can be published and compared: the class alone is no proof."""
    if not isinstance(found, Progress):
        return False
    segments = found.current_segment, found.total_segments
    return (
        all(isinstance(it, int | np.integer) and 0 <= it <= LARGEST_SEGMENT for it in segments)
        and isinstance(found.fraction, float | int | np.floating)
        and isfinite(found.fraction)
    )
