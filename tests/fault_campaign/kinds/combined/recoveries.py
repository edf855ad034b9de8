"""Faults of a CAN bus while its motors are enabled, or enabled again, on the stepped robot."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import partial
from typing import Any, Final

from fault_campaign.disturbing.disturbances import motor
from fault_campaign.judging.power_claims import (
    confirmed_at_start,
    disabled_by_guard,
    false_claims,
)
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.can import SILENCE, unheard, unreachable_while_off
from fault_campaign.kinds.causes import HELD_UP
from fault_campaign.kinds.combined.exits import HELD, is_enabled
from fault_campaign.kinds.combined.races import enables_at_once
from fault_campaign.kinds.kind import (
    BLOCK,
    LETS_GO,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
    health_demanded,
    on_its_bus,
)
from fault_campaign.programs import GIVE_UP
from fault_campaign.robot import MAIN
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import Start
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyFlag
from humanoid_devices_can.reason_codes import (
    BUS_OFF,
    DISABLED_BY_GUARD,
    MOTORS_BEING_ENABLED,
    MOTORS_NOT_ENABLED,
    RX_TIMEOUT,
    TX_QUEUE_OVERRUN,
)
from humanoid_twin.can.control import CanMethods

_ANSWERED: Final = 2.0  # [s] until clear_fault has its answer
_ENABLES: Final = 1.0  # [s] longest time of a motor to enable, by the documents
_NEVER_ENABLES: Final = 10.0  # [s] longer than the timeout of a bring-up
_ENABLED: Final = 6.0  # [s] until motors are enabled again, or are reported as not enabled
_STIFF: Final = 3.0  # [s] until a stiff mode is in force
_STANDS_STILL: Final = (0.3, 0.6)  # [s] longer than guard_timeout
_CUT_BEFORE: Final = (-0.3, 0.9)  # [s] before the standstill
# [s] before a standstill. A motor that becomes silent later counts as disabled by the guard, by
# docs/can.md: 0.2 s until it counts as silent, a feedback interval and a tick.
_UNTOLD: Final = 0.24
_TOLD: Final = 1.5  # [s] until the report about the action of the guard
_MET: Final = "a pushed joint that turns limply is met by the factory gains of its drive"
_BRING_UP: Final = 2.5  # [s] longest usual bring-up of the motors


def _report(scene: Scene) -> Any:
    """Return the latest safety report of the bus that is struck; None without one."""
    own = [it for it in scene.robot.observer.safety if it.source == scene.block]
    return own[-1] if own else None


def _enable_slowly(scene: Scene) -> None:
    joints = scene.robot.joints
    for joint in joints.on_bus(scene.bus):
        scene.can.can_delay_enable(joints.motor(joint), scene.dice.uniform(0.0, _ENABLES))


def _held_up(scene: Scene) -> float:
    """Hold the adapter up; return the end of it [s], a time of the virtual robot."""
    lasts = scene.dice.uniform(*HELD)
    scene.can.can_hold_up(lasts)
    return scene.robot.twin.time() + lasts


def _held_up_while_enabling(scene: Scene) -> None:
    """Hold the adapter up while motors are enabled.
    | Raises RefutedError if motors count as enabled that are not."""
    robot, observer = scene.robot, scene.robot.observer
    _enable_slowly(scene)
    scene.can.can_bus_off()
    ends = robot.twin.time() + SILENCE
    robot.pass_until(ends)
    if scene.dice.random() < 0.5:  # frames sent before the order to disable arrive after it
        ends = _held_up(scene)
        robot.pass_until(robot.twin.time() + scene.dice.uniform(0.0, HELD[1]))
    observer.try_to_clear(_ANSWERED)
    began = observer.within(_TOLD, lambda: _is_reported(scene, MOTORS_BEING_ENABLED.name))
    robot.pass_until(robot.twin.time() + scene.dice.uniform(0.0, _ENABLES))
    ends = max(ends, _held_up(scene))
    if not observer.within(_ENABLED, lambda: not _is_reported(scene, MOTORS_BEING_ENABLED.name)):
        raise RefutedError(f"motors are being enabled for more than {_ENABLED:g} s")
    given_up = _is_reported(scene, MOTORS_NOT_ENABLED.name)
    off = [it for it in robot.joints.on_bus(scene.bus) if not is_enabled(scene, it)]
    if began and off and not given_up:
        raise RefutedError(f"{', '.join(off)} count as enabled and are not")
    robot.pass_until(ends)


def _is_reported(scene: Scene, code: str) -> bool:
    report = _report(scene)
    return report is not None and code in report.reason_codes


def _stand_still(scene: Scene) -> None:
    """Stop the control process until its guard has acted, and continue it."""
    robot = scene.robot
    robot.control.send(signal.SIGSTOP)
    robot.pass_until(robot.twin.time() + scene.dice.uniform(*_STANDS_STILL))
    robot.control.send(signal.SIGCONT)


def _cleared_and_killed(scene: Scene) -> None:
    """Clear the faults after the guard has acted, then kill: only a new guard can act."""
    robot, observer = scene.robot, scene.robot.observer
    _stand_still(scene)
    robot.pass_until(robot.twin.time() + scene.dice.uniform(0.0, _TOLD))
    with health_demanded("motors that the guard had disabled"):
        robot.healthy()
    if not observer.comes_to(Mode.STANDBY, _STIFF):
        raise RefutedError(f"no STANDBY: {observer.now.status_message!r}")
    robot.pass_until(robot.twin.time() + scene.dice.uniform(0.0, _TOLD))
    scene.begins()
    robot.control.send(signal.SIGKILL)


def _cut_at_standstill(scene: Scene) -> None:
    """Break a motor's cable near a standstill.
    | Raises RefutedError if a motor that the guard cannot reach is reported as disabled by it."""
    robot, observer = scene.robot, scene.robot.observer
    before = scene.dice.uniform(*_CUT_BEFORE)
    if before > 0.0:
        scene.can.can_cut(scene.motor)
        robot.pass_until(robot.twin.time() + before)
    scene.begins()
    robot.control.send(signal.SIGSTOP)
    if before <= 0.0:
        robot.pass_until(robot.twin.time() - before)
        scene.can.can_cut(scene.motor)
    robot.pass_until(scene.began + scene.dice.uniform(*_STANDS_STILL))
    robot.control.send(signal.SIGCONT)
    observer.within(_TOLD, lambda: _is_reported(scene, DISABLED_BY_GUARD.name))
    joints = robot.joints.on_bus(scene.bus)
    reports = [it.message for it in observer.safety if it.source == scene.block]
    claimed = {joint for text in reports for joint in disabled_by_guard(joints, text)}
    if before > _UNTOLD and (false := false_claims(claimed, partial(is_enabled, scene))):
        raise RefutedError(f"{false} counts as disabled by the guard: {reports[-1]}")


def _bring_up(scene: Scene, strike: Callable[[], object]) -> None:
    """Start the control process again, and strike while its motors are enabled.

    Raises RefutedError if a bring-up that fails leaves motors enabled and does not name them.
    """
    robot, observer = scene.robot, scene.robot.observer
    robot.control.send(signal.SIGTERM)
    robot.control.wait()
    observer.joint_states.clear()  # of the process that has ended
    scene.begins()
    with redirect_stderr(io.StringIO()) as told:
        robot.control.start()
        robot.pass_until(scene.began + scene.dice.uniform(0.0, _BRING_UP))
        strike()
        up = observer.within(
            GIVE_UP, lambda: observer.joint_states or not robot.control.runs
        ) and bool(observer.joint_states)
    text = told.getvalue()
    joints = robot.joints.on_bus(scene.bus)
    if up:
        return
    if false := false_claims(confirmed_at_start(joints, text), partial(is_enabled, scene)):
        raise RefutedError(f"the bring-up leaves {false} enabled and says {text!r}")


def _without_stack(scene: Scene) -> list[str]:
    """Return the joints that stay stiff in a bring-up: those on the ring have factory gains."""
    return [*scene.robot.joints.of(TargetJoint.RING), *unheard(scene)]


def _cut_in_bring_up(scene: Scene) -> None:
    _enable_slowly(scene)
    _bring_up(scene, partial(scene.can.can_cut, scene.motor))


def _fails_in_bring_up(scene: Scene) -> None:
    """Let one motor not enable, and hold the adapter up."""
    _enable_slowly(scene)
    scene.can.can_delay_enable(scene.motor, _NEVER_ENABLES)
    _bring_up(scene, partial(_held_up, scene))


def _mended(scene: Scene) -> None:
    scene.can.can_mend()
    enables_at_once(scene)


_bring_ups: Final = partial(
    Kind,
    strikes=TargetJoint.CAN,
    mend=_mended,
    starts=(Start.ZERO_TORQUE, Start.DAMPING),  # this kind does not test the ring
    outcome=Outcome.OFF,
    within=1.0,
    spared=_without_stack,
    recovery=Recovery.RESTART,
    filed=RequiredRecord.NOTHING,
    dies=(MAIN,),
    allowed=(
        LETS_GO,
        # The current limit of a wrist's eRob70 makes 34.9 Nm, 1.164 of the joint's limit. On the
        # stepped robot a drive may have 1.15 of its torque constant and a gear of 60, not 50.
        Allowed(ViolationType.EFFORT, 1.61, _MET),
        Allowed(ViolationType.JUMP, 0.1, _MET),
    ),
    alone=True,
)

KINDS: Final = (
    Kind(
        name="can: adapter held up for a while",
        inject=_held_up,
        strikes=TargetJoint.CAN,
        outcome=Outcome.EITHER,
        within=1.0,
        watched=0.6,
        source=BLOCK,
        codes=(RX_TIMEOUT, TX_QUEUE_OVERRUN),
        undamped=on_its_bus,
        allowed=(LETS_GO,),
    ),
    Kind(
        name="can: adapter held up while motors are enabled again",
        inject=_held_up_while_enabling,
        mend=enables_at_once,
        strikes=TargetJoint.GUARDED,  # other families disable themselves without frames
        within=SILENCE,
        spared=unreachable_while_off,
        undamped=on_its_bus,
        source=BLOCK,
        flags=SafetyFlag.BUS_OFF,
        codes=(BUS_OFF,),
        allowed=(LETS_GO,),
        alone=True,
    ),
    Kind(
        name="can: faults cleared after the guard has acted, then control killed",
        inject=_cleared_and_killed,
        strikes=TargetJoint.GUARDED,
        outcome=Outcome.OFF,
        within=0.8,
        recovery=Recovery.RESTART,
        filed=RequiredRecord.END,
        dies=(MAIN,),
        alone=True,
    ),
    Kind(
        name="can: cable of a motor cut around a standstill of control",
        inject=_cut_at_standstill,
        mend=motor(CanMethods.can_mend),
        strikes=TargetJoint.GUARDED,
        outcome=Outcome.OFF,
        within=0.8,
        watched=1.0,
        spared=unheard,
        codes=HELD_UP,
        alone=True,
    ),
    _bring_ups(name="can: cable of a motor cut in the bring-up", inject=_cut_in_bring_up),
    _bring_ups(
        name="can: a motor does not enable in the bring-up, and adapter held up",
        inject=_fails_in_bring_up,
    ),
)
