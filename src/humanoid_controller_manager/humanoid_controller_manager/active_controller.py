"""Which mode controller is in charge: switching, preparing, falling back between two ticks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.modes import SAFE_MODES, Mode
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.controller import Controller, Progress
from humanoid_controller_manager.hardware_group import HardwareGroup
from humanoid_controller_manager.results import shown, words_of
from humanoid_controller_manager.slots import ControllerSlot, checked_slots, refusal_as_safe
from humanoid_controller_manager.snapshot import Fall, Phase

NO_CONTROLLER: Final = "none"
# A controller is somebody else's code: it may call exit(), which must not end the loop.
PLUGIN_ERRORS: Final = (Exception, SystemExit)
LARGEST_SEGMENT: Final = (1 << 32) - 1  # that a message holds
LARGEST_SWITCH_NUMBER: Final = (1 << 32) - 1  # the next one is 1
CONFIRMATION_LIMIT: Final = 0.5  # [s] the hardware has to confirm a mode's impedance

logger = logging.getLogger(__name__)


class Tick(NamedTuple):
    """What a controller is given in one tick. Times in [s]."""

    state: JointState
    now: float
    period: float
    clock: Callable[[], float]  # runs on while a controller computes: tells whether it is late


class ActiveController:
    """Holds the controller in charge and fills a valid command in every tick.

    A controller that raises, gives an invalid command or, in a stiff mode, takes longer than
    `patience` is replaced
    by its fallbacks within the same tick; after the last of them every joint is limp.

    Args:
        slots: the mode controllers by name.
        safe_chain: fallbacks of controllers that name none.
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
        self.progress: Progress | None = None  # of the controller in charge, if it reports any
        self.remark = ""  # of the same, for the operator
        self._hardware = hardware
        self._safe_chain = tuple(safe_chain)
        self._patience = patience
        self._slot: ControllerSlot | None = None
        self._entered = 0.0
        self._candidate = JointCommand(len(hardware.joints))
        self.exchange_slots(slots)

    def exchange_slots(self, slots: Mapping[str, ControllerSlot]) -> None:
        """Choose from `slots` from now on; the one in charge stays. Called from any thread.

        Raises ConfigError, see `checked_slots`; nothing is changed then.
        """
        self._slots = checked_slots(slots, self._safe_chain)

    @property
    def name(self) -> str:
        """Name of the controller in charge."""
        return NO_CONTROLLER if self._slot is None else self._slot.name

    @property
    def mode(self) -> Mode:
        """Mode of the controller in charge."""
        return Mode.ZERO_TORQUE if self._slot is None else self._slot.controller.mode

    def refusal_of(self, name: str) -> str:
        """Why controller `name` can't be activated on this hardware; empty if it can."""
        return self._refusal(self._slots, name)

    def refusal_as_first(self, name: str) -> str:
        """Why controller `name` is not one to start with; empty if it is."""
        return self.refusal_of(name) or refusal_as_safe(self._slots[name])

    def switch(self, name: str, tick: Tick, command: JointCommand) -> str:
        """Put controller `name` in charge, or leave everything as it is and say why.

        `command` holds what is in force. A controller that relies on stiffness starts only when the
        hardware has confirmed the impedance: until then the pose of now is held with the gains in
        force.
        """
        slots = self._slots  # looked up once: they may be exchanged meanwhile
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
        """Replace `command`, what is in force, by the controller's; always valid afterwards."""
        if self._slot is None:
            command.array.fill(0.0)
            return
        if self.phase is Phase.PREPARING and not self._prepared(self._slot, tick, command):
            return
        problem, error = self._try(self._slot, tick, command)
        if problem:
            self.fall_back(problem, tick, command, error, failed=self._slot)

    def note_fall(self, reason: str) -> None:
        """Count a fall although the controller in charge is the one fallen to: it stays."""
        self.fall = Fall(self.fall.number + 1 if self.fall else 1, reason)

    def fall_back(
        self,
        reason: str,
        tick: Tick,
        command: JointCommand,
        error: BaseException | None = None,
        failed: ControllerSlot | None = None,
    ) -> None:
        """Leave the controller in charge and fill `command` from its first fallback that works.

        One that has just `failed` is none.
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
        """Whether `slot` is running now; if not, `command` is what to write meanwhile."""
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
        except PLUGIN_ERRORS as error:  # whatever it raises, it is not activated
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
        # Messages have 32 bits for it, and 0 is that of a request.
        self.switch_number = self.switch_number % LARGEST_SWITCH_NUMBER + 1
        self._hardware.mode_changed(self.mode, self.switch_number)

    def leave(self) -> None:
        """Deactivate the controller in charge; nobody is in charge then."""
        if self._slot is not None and self.phase is Phase.RUNNING:
            try:
                self._slot.controller.on_deactivate()
            except PLUGIN_ERRORS:
                # It is out of charge whatever it says; the log is all that is left to do.
                logger.exception("%s failed to deactivate", self._slot.name)
        self._slot = None
        self.progress, self.remark = None, ""

    def _take_report(self, controller: Controller) -> None:
        """Raises what the controller raises, TypeError for what is no report."""
        progress, remark = controller.progress, controller.remark
        if not (progress is None or _is_progress(progress)) or not isinstance(remark, str):
            raise TypeError(f"progress is {shown(progress)}, remark {shown(remark)}")
        self.progress, self.remark = progress, remark

    def _try(
        self, slot: ControllerSlot, tick: Tick, command: JointCommand
    ) -> tuple[str, BaseException | None]:
        """Update `slot`; its command goes to `command` only if it is valid and in time."""
        candidate = self._candidate
        started = tick.clock()
        try:
            slot.controller.update(tick.state, candidate, tick.now, tick.period)
            self._take_report(slot.controller)
        except PLUGIN_ERRORS as error:
            return f"{slot.name} failed: {words_of(error)}", error
        elapsed = tick.clock() - started
        # A soft command is as good late as in time; leaving it would only make the robot limp.
        if elapsed > self._patience and slot.controller.mode not in SAFE_MODES:
            late = f"{slot.name} took {elapsed * 1e3:.1f} ms (period {self._patience * 1e3:.1f} ms)"
            return late, None
        if not candidate.is_valid():
            joints = self._hardware.joints.named(candidate.invalid_joints())
            return f"{slot.name} gave an invalid command for {joints}", None
        np.copyto(command.array, candidate.array)
        return "", None


def _is_progress(found: Progress) -> bool:
    """Whether it can be published and compared; the class alone says nothing of its fields."""
    if not isinstance(found, Progress):
        return False
    segments = found.current_segment, found.total_segments
    return (
        all(isinstance(it, int | np.integer) and 0 <= it <= LARGEST_SEGMENT for it in segments)
        and isinstance(found.fraction, float | int | np.floating)
        and isfinite(found.fraction)
    )
