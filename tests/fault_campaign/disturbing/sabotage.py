"""Run a program of the stack with one defect: `sabotage DEFECT PROGRAM ARGUMENTS…`.

The product has no switch for these defects. This module changes its classes before the program
begins.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from typing import Any, Final

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.mode_manager.mode_manager import ModeManager
from humanoid_controllers.mode_manager.mode_manager_node import DIAGNOSIS, ModeManagerNode
from humanoid_controllers.passive_controllers import DampingController
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_recording.black_box.black_box import BlackBox

_STIFFNESS: Final = 20.0  # [Nm/rad]
_PUSH: Final = 2.0  # [Nm]
_LATE: Final = 0.8  # [s]
_LIMP: Final = 5.0  # [s]


def _drive_on() -> None:
    """DAMPING turns the wrists with an effort."""
    _begin_with(float("inf"), lambda command: command.effort.fill(_PUSH))


def _begin_with(seconds: float, change: Callable[[JointCommand], None]) -> None:
    """Change the command of DAMPING for a time, behind the loop's own check of it.

    Only wrists obey: an eRob has the mode's gains.
    """
    activate, update = DampingController.on_activate, DampingController.update
    apply = LimitStage.apply
    began: dict[DampingController, float] = {}
    updated: list[DampingController] = []  # in this tick, and to be changed

    def on_activate(
        self: DampingController, state: JointState, command: JointCommand, now: float
    ) -> None:
        activate(self, state, command, now)
        began[self] = now

    def noted(
        self: DampingController,
        state: JointState,
        command: JointCommand,
        now: float,
        period: float,
    ) -> None:
        update(self, state, command, now, period)
        if now < began[self] + seconds:
            updated.append(self)

    def changed(self: LimitStage, state: JointState, command: JointCommand, *more: Any) -> None:
        if updated:
            updated.clear()
            change(command)
        apply(self, state, command, *more)

    put(DampingController, "on_activate", on_activate)
    put(DampingController, "update", noted)
    put(LimitStage, "apply", changed)


def _stay_stiff(seconds: float) -> None:
    """DAMPING holds the joints for a time."""
    _begin_with(seconds, lambda command: command.stiffness.fill(_STIFFNESS))


def _never_soft() -> None:
    _stay_stiff(float("inf"))


def _soft_too_late() -> None:
    _stay_stiff(_LATE)


def _not_damped() -> None:
    """DAMPING leaves the joints limp for a time."""
    _begin_with(_LIMP, lambda command: command.damping.fill(0.0))


def _up_again() -> None:
    """Report a fall, but do not refuse requests after it."""

    def tell(self: Any, reason: Reason) -> None:
        self._message = Reason.of(FELL_TO_SAFETY, f"Fell to safety: {reason}", reason)

    put(ModeManager, "_latch", tell)


def _undiagnosed() -> None:
    """Diagnose no fall."""
    put(ModeManagerNode, "diagnose", lambda _self: (Diagnosis(DIAGNOSIS),))


def _wrong_joint() -> None:
    """Name the joint of the other arm in reports."""
    make = SafetyReport.__init__

    def made(self: SafetyReport, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        object.__setattr__(self, "message", self.message.replace("left_", "right_"))

    put(SafetyReport, "__init__", made)


def _without_limits() -> None:
    """Limit no command."""
    put(LimitStage, "apply", lambda *_: None)


def _late_policy_followed() -> None:
    """Replace an action that is late by the one before."""
    put(RlPolicyController, "_checked", lambda self, _answer: self._action)


def _without_files() -> None:
    """Let the black box observe, and save no file."""
    put(BlackBox, "_serve", lambda *_arguments, **_named: None)


def put(owner: type, name: str, what: object) -> None:
    """Replace an existing attribute. Raises AttributeError if there is none of that name."""
    getattr(owner, name)
    setattr(owner, name, what)


DEFECTS: Final[dict[str, Callable[[], None]]] = {
    "never_soft": _never_soft,
    "soft_too_late": _soft_too_late,
    "drive_on": _drive_on,
    "not_damped": _not_damped,
    "up_again": _up_again,
    "undiagnosed": _undiagnosed,
    "wrong_joint": _wrong_joint,
    "without_limits": _without_limits,
    "late_policy_followed": _late_policy_followed,
    "without_files": _without_files,
}


if __name__ == "__main__":
    DEFECTS[sys.argv[1]]()
    del sys.argv[:2]
    runpy.run_path(sys.argv[0], run_name="__main__")
