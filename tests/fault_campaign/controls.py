"""Positive controls: the judge must find the defect of each of these stacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fault_campaign.campaign import Entry
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import kinds_of
from fault_campaign.kinds.kind import Kind
from fault_campaign.report import line
from fault_campaign.robot import BOX, MAIN, Sabotage
from fault_campaign.robot_joints import RobotJoints
from fault_campaign.scenario import Start
from fault_campaign.stepped.campaign import campaign

_SEED: Final = 1
_ELBOW, _WRIST = "left_elbow_pitch", "left_wrist_roll"
# Kinds that name the joint they strike, on the ring and on a CAN bus.
_NAMES_IT: Final = ("ring: drive error 0x8500", "can: motor finds a fault")


@dataclass(frozen=True, slots=True)
class Control:
    """A defect, and a fault that must show it."""

    sabotage: Sabotage
    kind: Kind
    type: ViolationType  # type of violation that the judge must find


@dataclass(frozen=True, slots=True)
class ControlResult:
    """Result of one control."""

    control: Control
    entries: Sequence[Entry]

    @property
    def convicted(self) -> bool:
        """True if the judge found the defect."""
        found = {it.type for entry in self.entries for it in entry.news}
        return self.control.type in found


def controls_of(robot: RobotJoints) -> tuple[Control, ...]:
    """Return the controls on a robot."""
    kinds = kinds_of(robot)
    raises = replace(kinds["controller: exception"], starts=(Start.REMOTE,), watched=1.5)
    names = next(kinds[it] for it in _NAMES_IT if it in kinds and _ELBOW in kinds[it].joints)
    return (
        Control(Sabotage(MAIN, "never_soft"), raises, ViolationType.NEVER_SOFT),
        Control(Sabotage(MAIN, "soft_too_late"), raises, ViolationType.SOFT_TOO_LATE),
        Control(Sabotage(MAIN, "drive_on"), raises, ViolationType.DRIVEN),
        Control(Sabotage(MAIN, "not_damped"), raises, ViolationType.NOT_DAMPED),
        Control(Sabotage(MAIN, "up_again"), raises, ViolationType.UP_AGAIN),
        Control(Sabotage(MAIN, "undiagnosed"), raises, ViolationType.NOT_DIAGNOSED),
        Control(
            Sabotage(MAIN, "wrong_joint"), replace(names, only=(_ELBOW,)), ViolationType.WRONG_CAUSE
        ),
        Control(
            Sabotage(MAIN, "without_limits"),
            replace(kinds["command: huge effort"], only=(_WRIST,)),
            ViolationType.EFFORT,
        ),
        Control(
            Sabotage(MAIN, "late_policy_followed"),
            kinds["policy: silent for ever"],
            ViolationType.NO_FALL,
        ),
        Control(
            Sabotage(BOX, "without_files"),
            kinds["operator: emergency stop in DAMPING"],
            ViolationType.LOST,
        ),
    )


def convictions(controls: Sequence[Control]) -> Iterator[ControlResult]:
    """Run each control on a robot of its own."""
    for control in controls:
        yield ControlResult(control, list(campaign([(control.kind, _SEED)], control.sabotage)))


def text_of(conviction: ControlResult) -> str:
    """Return the results as text."""
    control = conviction.control
    mark = "convicted" if conviction.convicted else "NOT CONVICTED"
    trials = "\n  ".join(line(entry) for entry in conviction.entries)
    return f"{control.sabotage.defect}: {mark} of '{control.type}'\n  {trials}"
