"""Two faults at once, chosen by the seed of the trial. The weaker of both demands applies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final

from fault_campaign.disturbing.disturbances import kind_of_frames
from fault_campaign.judging.cause import Cause
from fault_campaign.kinds.kind import Kind, Outcome, Recovery, Scene, nothing, widest
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import Start

_MOTORS: Final = (TargetJoint.CAN, TargetJoint.GUARDED)
_APART: Final = 0.2  # [s] at most, from the first to the second
# Two of these would cancel each other: they change the same stream, or give the same order.
_ONE_OF: Final = ("command", "controller", "ROS callbacks", "joint stream")


def group(kind: Kind) -> str:
    """Return the part of the robot that a kind strikes."""
    return kind.name.partition(":")[0]


def compatible(first: Kind, second: Kind) -> bool:
    """Return True if both kinds can occur at once and leave a demand."""
    return (
        first is not second
        and not any(it.alone or it.outcome is Outcome.OFF for it in (first, second))
        and not (group(first) in _ONE_OF and group(second) in _ONE_OF)
        and bool(set(first.starts) & set(second.starts))
        and len({first.adapter, second.adapter} - {""}) < 2
    )


def pairs(kinds: Sequence[Kind]) -> list[Kind]:
    """Return a kind for each group of `kinds` that draws a fault of it, and one for all."""
    groups = sorted({group(it) for it in kinds if any(compatible(it, other) for other in kinds)})
    return [_pair(name, [it for it in kinds if group(it) == name], kinds) for name in groups]


def pair_in(start: Start, name: str, kinds: Sequence[Kind]) -> Kind:
    """Return the kind that draws a fault of the group `name`, which has `start`, and any other.

    The other ones are those of REMOTE, with another source of commands.
    """
    firsts = [it for it in kinds if group(it) == name and start in it.starts]
    others = [replace(it, starts=(start,)) for it in kinds if Start.REMOTE in it.starts]
    return _pair(name, firsts, others)


def _pair(name: str, firsts: Sequence[Kind], kinds: Sequence[Kind]) -> Kind:
    return Kind(
        name=f"two faults: {name} and any",
        inject=nothing,
        outcome=Outcome.EITHER,
        robot=firsts[0].robot,
        alone=True,
        drawn=partial(_drawn, firsts, kinds),
    )


def _drawn(firsts: Sequence[Kind], kinds: Sequence[Kind], dice: Random) -> Kind:
    both = [(one, two) for one in firsts for two in kinds if compatible(one, two)]
    first, second = dice.choice(both)
    # All frames and a part of them: the second would replace the first. Such a pair is not left out
    # of `both`, because each seed would draw another pair then.
    while kind_of_frames(first.name) == kind_of_frames(second.name):
        first, second = dice.choice(both)
    joints = dice.choice(first.joints), dice.choice(second.joints)
    return paired(first, second, joints, dice.choice((0.0, dice.uniform(0.0, _APART))))


def paired(first: Kind, second: Kind, joints: tuple[str, str], apart: float) -> Kind:
    """Return the kind of both: the second comes `apart` [s] later; each strikes one of `joints`."""
    both = (first, second)

    def scenes(scene: Scene) -> tuple[Scene, Scene]:
        one, two = (replace(scene, joint=it, alone=False) for it in joints)
        return one, two

    def inject(scene: Scene) -> None:
        one, two = scenes(scene)
        first.inject(one)
        if apart:
            scene.robot.pass_until(scene.began + apart)
        second.inject(two)

    def mend(scene: Scene) -> None:
        one, two = scenes(scene)
        with ExitStack() as others:  # are mended whatever the mending of the first finds
            others.callback(second.mend, two)
            first.mend(one)

    def joints_of(lists: Sequence[Callable[[Scene], Sequence[str]]], scene: Scene) -> list[str]:
        found = (some(it) for some, it in zip(lists, scenes(scene), strict=True))
        return [joint for some in found for joint in some]

    causes = (
        kind.causes(joint)
        for kind, joint in zip(both, joints, strict=True)
        if kind.outcome not in (Outcome.STAYS, Outcome.STOPS)
    )

    recoveries = {it.recovery for it in both}
    # A motor that has disabled itself stays silent until its fault is cleared. A restart does not
    # clear it before: the exit cannot confirm the motor.
    silent = Recovery.RESTART in recoveries and any(
        it.recovery is Recovery.CLEAR and it.strikes in _MOTORS for it in both
    )
    return Kind(
        name=f"{first.name} + {second.name}",
        inject=inject,
        mend=mend,
        strikes=first.strikes,
        only=[joints[0]],
        robot=first.robot,
        starts=[start for start in first.starts if start in second.starts],
        outcome=_weaker(first.outcome, second.outcome),
        within=max(it.within for it in both) + apart,
        watched=max(it.watched for it in both) + apart,
        either=[it for some in causes for it in some] or [Cause()],
        recovery=Recovery.RESTART if Recovery.RESTART in recoveries else Recovery.CLEAR,
        heals=max(it.healed for it in both),
        spared=partial(joints_of, [it.spared for it in both]),
        undamped=partial(joints_of, [it.undamped for it in both]),
        follows=any(it.follows for it in both),
        requests_modes=any(it.requests_modes for it in both),
        allowed=widest([*first.allowed, *second.allowed]),
        dies=sorted({*first.dies, *second.dies}),
        unclean=silent or any(it.unclean for it in both),
        raises="|".join(it.raises for it in both if it.raises),
        adapter=first.adapter or second.adapter,
    )


def _weaker(*outcomes: Outcome) -> Outcome:
    """Return the required outcome of both: a fall if one of them requires it."""
    for outcome in (Outcome.SOFT, Outcome.EITHER, Outcome.STOPS):
        if outcome in outcomes:
            return outcome
    return Outcome.STAYS
