"""Faults of encoders: a drive measures a wrong position."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.kind import (
    BLOCK,
    JOINT,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    Scene,
    health_demanded,
    struck,
)
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import STIFF
from humanoid_controller_manager.reason_codes import JOINT_TOO_FAST

# [rad] more than a joint may move in the two ticks that are in doubt, and more than the rest of the
# jump after the drive has pulled the joint back in both: a jump may come just after a tick.
_FAR: Final = (0.6, 0.75)
# [rad] the same for a wrist, whose motor pulls with 20 Nm/rad at once: 0.77 of 0.32 rad were left,
# and 0.248 rad are accepted. From 0.45 rad on the pull exceeds the effort limit.
_FAR_CAN: Final = (0.36, 0.42)
_NEAR: Final = (0.02, 0.15)  # [rad] a possible motion of a joint in a tick
_BETWEEN: Final = (0.15, 0.6)  # [rad] between both: the outcome depends on the pull of the drive
_TURN: Final = (math.tau, math.tau)
# Measured in the truth; see "Known not to hold" in docs/fault_campaign.md.
_STUCK_WHY: Final = (
    "a joint that seems to stand still under a third of its effort may be stuck; a motor that "
    "measures no motion doesn't damp it"
)
_FOLLOWS_WHY: Final = "the drive follows its encoder until the loop has seen it twice"
_FOLLOWED: Final = Allowed(ViolationType.JUMP, 0.1, _FOLLOWS_WHY)
# A wrist's motor pulls with 20 Nm/rad, and by itself with up to 23 Nm (assumed): one period of the
# loop is enough for that.
_THROWS_WHY: Final = "the motor believes that its target is a turn away, until the loop has seen it"
_TURNED: Final = {
    "ring": (_FOLLOWED,),
    "can": (
        Allowed(ViolationType.SPEED, 18.0, _THROWS_WHY),
        Allowed(ViolationType.EFFORT, 2.6, _THROWS_WHY),
        Allowed(ViolationType.JUMP, 0.45, _THROWS_WHY),
    ),
}
# On the ring: a third of a wrist yaw's effort, 10 Nm, accelerates its 0.041 kg m² through its range
# of 5 rad to 49 rad/s, 12.6 times its limit; 6.2 was measured. On CAN: a third of a wrist pitch's
# effort, 3 Nm, accelerates its 0.0124 kg m² through its range of 1.8 rad to 29.5 rad/s, 9.5 times
# its limit; 6.2 was measured.
_STUCK: Final = {
    "ring": (
        Allowed(ViolationType.SPEED, 13.0, _STUCK_WHY),
        Allowed(ViolationType.JUMP, 0.07, _STUCK_WHY),
    ),
    "can": (
        Allowed(ViolationType.SPEED, 6.0, _STUCK_WHY),
        Allowed(ViolationType.SPEED, 10.0, _STUCK_WHY, robot="prime"),
        Allowed(ViolationType.JUMP, 0.07, _STUCK_WHY, robot="lite"),
    ),
}
# The limits of Lite's joints are 2.7 Nm and more, half of the effort of their motors.
_PULLS_WEAK: Final = Allowed(ViolationType.EFFORT, 2.1, _FOLLOWS_WHY, robot="lite")
# A wrist's motor pulls with 20 Nm/rad by itself: 12 Nm at 0.6 rad, 1.33 of its limit.
_PULLS: Final = {
    "ring": (),
    "can": (Allowed(ViolationType.EFFORT, 1.36, _FOLLOWS_WHY), _PULLS_WEAK),
}
_FAR_PULLS: Final = {"ring": (), "can": (_PULLS_WEAK,)}
_REST: Final = 10.0  # [s] until an arm without torque comes to rest
_FOUND: Final = 0.05  # [rad] between the true and the published position of a joint at rest


def _stick(scene: Scene) -> None:
    scene.robot.twin.stick_encoder(scene.joint)


def _right(scene: Scene) -> None:
    scene.robot.twin.shift_encoder(scene.joint, 0.0)


def _far(scene: Scene) -> None:
    _shift(scene, _FAR if scene.joint in scene.robot.joints.of(TargetJoint.RING) else _FAR_CAN)


def _near(scene: Scene) -> None:
    _shift(scene, _NEAR)


def _between(scene: Scene) -> None:
    _shift(scene, _BETWEEN)


def _turn(scene: Scene) -> None:
    _shift(scene, _TURN)


def _shift(scene: Scene, way: tuple[float, float]) -> None:
    angle = scene.dice.uniform(*way) * scene.dice.choice((-1, 1))
    scene.robot.twin.shift_encoder(scene.joint, angle)


def _forget_turns(scene: Scene) -> None:
    scene.robot.twin.weaken_battery(scene.slave)
    scene.robot.twin.power_cycle(scene.slave)


def _find_turns(scene: Scene) -> None:
    """Restart with the turns lost. Raises RefutedError if the published position is wrong."""
    robot, joint = scene.robot, scene.joint
    robot.unload()
    robot.observer.within(_REST, robot.at_rest)
    try:
        with health_demanded("a drive that has lost its turns"):
            robot.restart()
            robot.healthy()
    finally:
        robot.twin.change_battery(scene.slave)
        robot.twin.shift_encoder(joint, 0.0)  # when the next restart reads it again
    state = robot.observer.joint_states[-1]
    found = state.position[list(state.name).index(joint)]
    true = robot.twin.joints()[joint]["position"]
    if abs(found - true) > _FOUND:
        raise RefutedError(f"{joint} is reported at {found:.3f} rad, and is at {true:.3f} rad")


def _kinds(bus: str, strikes: TargetJoint) -> list[Kind]:
    kind = partial(Kind, mend=_right, strikes=strikes)
    return [
        kind(
            name=f"{bus}: encoder stuck",
            inject=_stick,
            outcome=Outcome.EITHER,
            watched=0.8,
            within=1.0,
            allowed=_STUCK[bus],
            named=(JOINT,),
        ),
        kind(
            name=f"{bus}: encoder jumps by a little",
            inject=_near,
            outcome=Outcome.EITHER,
            watched=0.6,
            codes=(JOINT_TOO_FAST,),
            named=(JOINT,),
        ),
        kind(
            name=f"{bus}: encoder jumps",
            inject=_far,
            starts=STIFF,
            codes=(JOINT_TOO_FAST,),
            named=(JOINT,),
            allowed=(_FOLLOWED, *_FAR_PULLS[bus]),
        ),
        kind(
            name=f"{bus}: encoder jumps by 0.15 to 0.6 rad",
            inject=_between,
            outcome=Outcome.EITHER,
            watched=0.6,
            codes=(JOINT_TOO_FAST,),
            named=(JOINT,),
            allowed=(_FOLLOWED, Allowed(ViolationType.SPEED, 2.0, _FOLLOWS_WHY), *_PULLS[bus]),
        ),
        kind(
            name=f"{bus}: encoder jumps by a turn",
            inject=_turn,
            starts=STIFF,
            codes=(JOINT_TOO_FAST,),
            named=(JOINT,),
            allowed=_TURNED[bus],
            undamped=struck,  # a drive on the ring finds 0x8500, and has no torque
        ),
    ]


_TURNS: Final = Kind(
    name="ring: a drive loses its turns",
    inject=_forget_turns,
    mend=_find_turns,
    strikes=TargetJoint.RING,
    source=BLOCK,
    named=(JOINT,),
    undamped=struck,
    recovery=Recovery.RESTART,
    unclean=True,
    alone=True,
)

KINDS: Final = (*_kinds("ring", TargetJoint.RING), _TURNS, *_kinds("can", TargetJoint.CAN))
