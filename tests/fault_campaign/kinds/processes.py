"""Faults of processes: death and standstill."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Final

from humanoid_control_msgs.msg import SafetyStatus

from fault_campaign.kinds.causes import HELD_UP, UNCONFIRMED
from fault_campaign.kinds.kind import (
    LETS_GO,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
)
from fault_campaign.kinds.operators import STOP, let_go, stop
from fault_campaign.robot import BOX, MAIN
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF, Start
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import NO_GUARD
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controllers.reason_codes import EMERGENCY_STOP

IMPEDANCE: Final = "impedance"
_WAY_DOWN: Final = 9.0  # [s]: 6 for DAMPING, 1.5 for the gains, and the exit of the drives
_UNGUARDED: Final = 3.0  # [s] until the operator receives the warning about the missing guard


def _send(label: str, number: signal.Signals) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.programs[label].send(number)


def _again(label: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.programs[label].start()


def _interrupted(scene: Scene) -> None:
    """Send Ctrl-C. Raises RefutedError if the joints lose torque without DAMPING before."""
    control, observer = scene.robot.control, scene.robot.observer
    control.send(signal.SIGINT)
    modes: list[int] = []

    def ended() -> bool:
        modes.append(observer.now.mode)
        return not control.runs

    if not observer.within(_WAY_DOWN, ended):
        raise RefutedError(f"the control process has not ended {_WAY_DOWN:g} s after an interrupt")
    if scene.scenario.start is not Start.ZERO_TORQUE and (
        Mode.DAMPING not in modes or modes[-1] != Mode.ZERO_TORQUE
    ):
        raise RefutedError("the torque was taken away without DAMPING before")


def _guard(number: signal.Signals) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.signal_guard(scene.bus, number)


def _unguarded(number: signal.Signals) -> Callable[[Scene], None]:
    """Strike the guard. Raises RefutedError without a warning to the operator."""

    def inject(scene: Scene) -> None:
        observer = scene.robot.observer

        def is_warning(message: SafetyStatus) -> bool:
            warns: bool = message.level == SafetyLevel.WARNING
            return warns and message.source == scene.block and NO_GUARD.name in message.reason_codes

        _guard(number)(scene)
        if not observer.within(_UNGUARDED, lambda: any(map(is_warning, observer.safety))):
            raise RefutedError("no report about the missing guard")

    return inject


def _record(scene: Scene) -> None:
    scene.robot.record()


def _fall_without_box(scene: Scene) -> None:
    """Kill the black box, and stop the robot as an operator."""
    scene.robot.programs[BOX].send(signal.SIGKILL)
    stop(scene)


def _record_and_let_go(scene: Scene) -> None:
    scene.robot.record()
    let_go(scene)


# The impedance manager writes the gains of the drives on the ring.
_impedance: Final = partial(Kind, strikes=TargetJoint.RING)
_stopped: Final = partial(
    _impedance, inject=_send(IMPEDANCE, signal.SIGSTOP), mend=_send(IMPEDANCE, signal.SIGCONT)
)
_guarding: Final = partial(Kind, strikes=TargetJoint.GUARDED, outcome=Outcome.STAYS, alone=True)

KINDS: Final = (
    Kind(
        name="process: control killed",
        allowed=(LETS_GO,),
        inject=_send(MAIN, signal.SIGKILL),
        outcome=Outcome.OFF,
        within=0.8,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.END,
        dies=(MAIN,),
    ),
    Kind(
        name="process: control stopped for a while",
        allowed=(LETS_GO,),
        inject=_send(MAIN, signal.SIGSTOP),
        mend=_send(MAIN, signal.SIGCONT),
        outcome=Outcome.OFF,
        within=0.8,
        watched=1.0,
        codes=HELD_UP,
    ),
    Kind(
        name="process: control terminated",
        allowed=(LETS_GO,),
        inject=_send(MAIN, signal.SIGTERM),
        outcome=Outcome.OFF,
        within=1.5,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.NOTHING,
        dies=(MAIN,),
    ),
    Kind(
        name="process: control interrupted",
        inject=_interrupted,
        outcome=Outcome.OFF,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.NOTHING,
        dies=(MAIN,),
    ),
    _impedance(
        name="process: impedance manager killed",
        inject=_send(IMPEDANCE, signal.SIGKILL),
        mend=_again(IMPEDANCE),
        starts=STIFF,
        within=1.0,
        codes=UNCONFIRMED,
        dies=(IMPEDANCE,),
    ),
    _stopped(
        name="process: impedance manager stopped for a while",
        starts=STIFF,
        within=1.0,
        watched=1.2,
        codes=UNCONFIRMED,
    ),
    _stopped(
        name="process: impedance manager stopped while nothing is stiff",
        starts=(Start.ZERO_TORQUE, Start.DAMPING),
        outcome=Outcome.STAYS,
        watched=0.8,
    ),
    _guarding(
        name="process: guard of the wrists killed",
        inject=_unguarded(signal.SIGKILL),
        recovery=Recovery.RESTART,
        dies=(f"{MAIN}'s child",),
        raises="^control: the guard of .* ended with exit code -9$",
    ),
    _guarding(
        name="process: guard of the wrists stopped for a while",
        inject=_unguarded(signal.SIGSTOP),
        mend=_guard(signal.SIGCONT),
    ),
    Kind(
        name="process: black box killed",
        inject=_send(BOX, signal.SIGKILL),
        mend=_record,
        outcome=Outcome.STAYS,
        watched=0.6,
        dies=(BOX,),
    ),
    Kind(
        name="process: black box stopped for a while",
        inject=_send(BOX, signal.SIGSTOP),
        mend=_send(BOX, signal.SIGCONT),
        outcome=Outcome.STAYS,
        watched=0.6,
    ),
    Kind(
        name="process: black box killed, and the robot falls",
        inject=_fall_without_box,
        mend=_record_and_let_go,
        dies=(BOX,),
        source=STOP,
        codes=(EMERGENCY_STOP,),
    ),
)
