"""The kinds of faults of a robot."""

from __future__ import annotations

import pytest
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import KINDS, STEPPED, kinds_of
from fault_campaign.kinds.kind import BLOCK, JOINT, Allowed, Kind, nothing
from fault_campaign.robot_joints import PRIME, RobotJoints, TargetJoint

from humanoid_control_common.errors import ConfigError

LITE = RobotJoints.of_robot("lite")
RIGHT = "right_wrist_pitch"


def test_kind_is_left_out_only_on_robots_without_its_target() -> None:
    """Lite has no ring, and motors with watchdogs need no guard."""
    for prime, lite in ((KINDS, kinds_of(LITE)), (STEPPED, kinds_of(LITE, stepped=True))):
        lacks = {
            name
            for name, kind in prime.items()
            if kind.strikes in (TargetJoint.RING, TargetJoint.GUARDED)
        }
        assert set(lite) == set(prime) - lacks - {"two faults: ring and any"}
        assert any(name.startswith("can:") for name in lite)
        assert not any(name.startswith("ring:") or "guard" in name for name in lite)


def test_two_faults_on_a_robot_are_of_kinds_that_it_has() -> None:
    from random import Random

    kind = kinds_of(LITE)["two faults: can and any"]
    assert kind.drawn is not None
    names = {part.name for seed in range(300) for part, _ in kind.drawn(Random(seed)).parts}
    assert len(names) > 30
    assert names <= set(kinds_of(LITE))


def test_joints_are_sorted_by_what_drives_them() -> None:
    assert len(PRIME.of(TargetJoint.RING)) == 10
    assert PRIME.of(TargetJoint.CAN) == PRIME.of(TargetJoint.GUARDED) == PRIME.on_bus("can")
    assert LITE.of(TargetJoint.RING) == LITE.of(TargetJoint.GUARDED) == ()
    assert LITE.of(TargetJoint.CAN) == LITE.of(TargetJoint.JOINT) == LITE.all
    assert LITE.buses == ("left_can", "right_can")
    assert (LITE.bus(RIGHT), LITE.motor(RIGHT)) == ("right_can", 26)
    assert PRIME.slave("left_elbow_pitch") == 3


@pytest.mark.parametrize(
    ("robot", "joint", "block"),
    [
        (PRIME, "left_elbow_pitch", "PrimeEtherCATSide"),
        (PRIME, RIGHT, "PrimeSitoCAN"),
        (LITE, "left_elbow_pitch", "LiteLeftCAN"),
        (LITE, RIGHT, "LiteRightCAN"),
    ],
)
def test_cause_names_the_joint_and_hardware_component_of_its_target(
    robot: RobotJoints, joint: str, block: str
) -> None:
    kind = Kind(name="any", inject=nothing, source=BLOCK, named=(JOINT, "slow"), robot=robot)
    (cause,) = kind.causes(joint)
    assert (cause.source, cause.named) == (block, (joint, "slow"))


def test_a_bound_of_one_robot_is_of_that_robot_alone() -> None:
    everywhere = Allowed(ViolationType.JUMP, 0.05, "")
    there = Allowed(ViolationType.JUMP, 0.1, "", robot="lite")
    kind = Kind(name="any", inject=nothing, allowed=(everywhere, there))
    assert [list(kind.on(it).allowed) for it in (PRIME, LITE)] == [[everywhere], [there]]


def test_a_robot_without_arms_is_refused_and_the_missing_link_named() -> None:
    with pytest.raises(ConfigError, match=r"^hand has no link left_wrist_yaw_link: loads and"):
        RobotJoints.of_robot("hand").check_hands()
    for robot in (PRIME, LITE):
        robot.check_hands()
