"""Actions of operators, and of other programs on the ROS domain."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Final

from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from std_msgs.msg import Bool

from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.causes import HELD_UP, UNCONFIRMED
from fault_campaign.kinds.kind import Allowed, Kind, Outcome, RefutedError, Scene
from fault_campaign.robot import BEAT, OPERATOR
from fault_campaign.scenario import STIFF, Start, push_of
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import (
    REFUSED,
    UNKNOWN_MODE,
    WAITS,
)
from humanoid_control_common.rules.reasons import CodeTable
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.reason_codes import JOINT_TOO_FAST
from humanoid_controllers.reason_codes import EMERGENCY_STOP, HEARTBEAT_ENDED

STOP: Final = "emergency_stop"
_SOURCE: Final = "campaign"
_GUEST: Final = CodeTable("Campaign").add("GUEST_REPORT", "A report of a guest.", "None is needed.")
# To a request for ZERO_TORQUE.
_ANSWERS: Final = {REFUSED["ZERO_TORQUE"].name, WAITS["ZERO_TORQUE"].name}
_TOLD: Final = 1.5  # [s] until a request has its answer


def _report(level: SafetyLevel) -> Callable[[Scene], None]:
    def inject(scene: Scene) -> None:
        message = SafetyStatus(
            level=int(level), source=_SOURCE, message="a guest's report", reason_codes=[_GUEST.name]
        )
        scene.robot.observer.reports.publish(message)

    return inject


def _request(mode: int) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.observer.request(mode)


def stop(scene: Scene) -> None:
    """The operator's stop."""
    scene.robot.observer.stop.publish(Bool(data=True))


def let_go(scene: Scene) -> None:
    """End the stop; the fall stays latched until clear_fault."""
    scene.robot.observer.stop.publish(Bool(data=False))


def _clear(scene: Scene) -> None:
    answer = scene.robot.observer.try_to_clear(2.0)
    if answer is None or answer.success:
        raise RefutedError(f"clear_fault in a stiff mode answers {answer}")


def _push(scene: Scene) -> None:
    """Push a joint by hand."""
    torque = scene.dice.choice((-1, 1)) * push_of(scene.joint)
    scene.robot.twin.external_torque(scene.joint, torque)


def _sinking(scene: Scene) -> None:
    """Release the arms by DAMPING. Raises RefutedError if they do not sink."""
    robot, observer = scene.robot, scene.robot.observer
    observer.request(Mode.DAMPING)
    damped = observer.within(_TOLD, lambda: observer.now.mode == Mode.DAMPING)
    if not (damped and observer.within(_TOLD, lambda: not robot.at_rest())):
        raise RefutedError(f"no arm sinks: mode {observer.now.mode}")


def _limp(scene: Scene) -> None:
    """Send a request that must be refused, or wait. Raises RefutedError if the arms become limp."""
    robot, observer = scene.robot, scene.robot.observer
    _sinking(scene)
    observer.request(Mode.ZERO_TORQUE)
    if not observer.within(_TOLD, lambda: _ANSWERS.intersection(observer.now.reason_codes)):
        raise RefutedError(f"no answer: {observer.now.status_message!r}")
    observer.fresh(_TOLD)
    if observer.now.mode == Mode.ZERO_TORQUE and not robot.at_rest():
        raise RefutedError("an arm that sinks was made limp")


def _limp_by_force(scene: Scene) -> None:
    """Request ZERO_TORQUE by force while an arm sinks. Raises RefutedError if that is refused."""
    observer = scene.robot.observer
    _sinking(scene)
    observer.publish_mode(ControlMode(mode=int(Mode.ZERO_TORQUE), status_message="force"))
    if not observer.within(_TOLD, lambda: observer.now.mode == Mode.ZERO_TORQUE):
        raise RefutedError(f"still mode {observer.now.mode}: {observer.now.status_message!r}")


def _forge(scene: Scene) -> None:
    """Publish a statement of another robot or of a recording."""
    observer = scene.robot.observer
    for number in range(20):
        forged = ControlMode(
            mode=int(Mode.DAMPING),
            controller_name="damping_controller",
            switch_number=observer.now.switch_number + number,
        )
        observer.publish_mode(forged)


def _storm(scene: Scene) -> None:
    for _ in range(300):
        scene.robot.observer.request(scene.dice.randrange(2, 256))


def _beat(number: signal.Signals) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.programs[OPERATOR].send(number)


def _beats_again(scene: Scene) -> None:
    scene.robot.programs[OPERATOR].start()


_ENDS: Final = (
    ("ends", signal.SIGKILL, _beats_again),
    ("stops for a while", signal.SIGSTOP, _beat(signal.SIGCONT)),
)
_STARTS: Final = 4.0  # [s] until the next heartbeat of an operator's program
_FALLS_FREELY: Final = "a raised arm without torque falls, as fast as it may: the operator insists"
_stays: Final = partial(Kind, outcome=Outcome.STAYS)
_sinks: Final = partial(
    Kind,
    outcome=Outcome.EITHER,
    starts=(Start.STANDBY_FINISHED,),
    requests_modes=True,
    alone=True,
    codes=(JOINT_TOO_FAST,),
)

KINDS: Final = (
    *(
        Kind(
            name=f"operator: emergency stop in {start.value}",
            inject=stop,
            mend=let_go,
            starts=(start,),
            source=STOP,
            codes=(EMERGENCY_STOP,),
        )
        for start in Start
        if start is not Start.JOINT_STREAM  # its client is on the stepped robot only
    ),
    *(
        Kind(
            name=f"guest: reports {level.name}",
            inject=_report(level),
            mend=_report(SafetyLevel.OK),
            source=_SOURCE,
            codes=(_GUEST,),
        )
        for level in (SafetyLevel.FAULT, SafetyLevel.CRITICAL)
    ),
    *(
        Kind(
            name=f"operator: heartbeat {how}",
            inject=_beat(number),
            mend=mend,
            starts=STIFF,
            within=BEAT + 0.5,
            codes=(HEARTBEAT_ENDED,),
            named=(OPERATOR,),
            dies=(OPERATOR,) if number is signal.SIGKILL else (),
            heals=_STARTS if number is signal.SIGKILL else 0.0,
        )
        for how, number, mend in _ENDS
    ),
    _stays(
        name="guest: reports WARNING",
        inject=_report(SafetyLevel.WARNING),
        mend=_report(SafetyLevel.OK),
    ),
    _stays(
        name="operator: requests a mode that isn't",
        inject=_request(9),
        codes=(UNKNOWN_MODE,),
    ),
    _stays(
        name="operator: requests LOCOMOTION outside of STANDBY",
        inject=_request(Mode.LOCOMOTION),
        starts=(Start.ZERO_TORQUE, Start.DAMPING, Start.REMOTE),
        codes=(REFUSED["START_LOCOMOTION"],),
    ),
    _stays(
        name="operator: requests ZERO_TORQUE in a stiff mode",
        inject=_request(Mode.ZERO_TORQUE),
        starts=STIFF,
        codes=(REFUSED["ZERO_TORQUE"],),
    ),
    _stays(
        name="operator: requests STANDBY in REMOTE",
        inject=_request(Mode.STANDBY),
        starts=(Start.REMOTE,),
        codes=(REFUSED["LOAD"],),
    ),
    _stays(
        name="operator: clears faults in a stiff mode",
        inject=_clear,
        starts=STIFF,
        alone=True,
    ),
    _stays(
        name="operator: pushes a limp joint",
        inject=_push,
        mend=lambda scene: scene.robot.unload(),
        starts=(Start.ZERO_TORQUE,),
    ),
    _sinks(name="operator: requests ZERO_TORQUE while an arm sinks", inject=_limp),
    _sinks(
        name="operator: insists on ZERO_TORQUE while an arm sinks",
        inject=_limp_by_force,
        watched=1.5,
        allowed=(
            Allowed(ViolationType.SPEED, 5.5, _FALLS_FREELY),
            Allowed(ViolationType.JUMP, 0.1, _FALLS_FREELY),
        ),
    ),
    Kind(
        name="guest: forged statements",
        inject=_forge,
        outcome=Outcome.EITHER,
        within=1.0,
        watched=0.8,
        codes=UNCONFIRMED,
    ),
    Kind(
        name="guest: a storm of requests",
        inject=_storm,
        outcome=Outcome.EITHER,
        within=1.5,
        watched=1.0,
        requests_modes=True,
        alone=True,
        codes=(*HELD_UP, *UNCONFIRMED),
    ),
)
