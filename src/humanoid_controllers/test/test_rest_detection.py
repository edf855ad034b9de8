"""Joints at rest: all slow, in DAMPING, for a while."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON
from humanoid_controllers.mode_manager.rest_detection import RestDetector


@pytest.fixture
def detector() -> RestDetector:
    return RestDetector(JointSet(("shoulder", "elbow")))


def update(detector: RestDetector, now: float, *speeds: float, mode: Mode = Mode.DAMPING) -> None:
    state = np.array([[0.0, 0.0], speeds, [0.0, 0.0]])
    snapshot: Any = SimpleNamespace(state_array=state, mode=mode, now=now)
    detector.update(snapshot)


# A joint at 0.1 rad/s turns six degrees in a second: it nearly hangs.
@pytest.mark.parametrize(
    ("speeds", "moving"),
    [
        ((0.099, -0.099), ""),
        ((0.0, 0.101), "elbow"),
        ((-0.101, 0.0), "shoulder"),
        ((-0.2, 0.2), "shoulder, elbow"),
        ((0.0, math.nan), "elbow"),
        ((math.inf, 0.0), "shoulder"),
    ],
    ids=str,
)
def test_a_joint_moves_above_a_tenth_of_a_radian_per_second_or_if_it_is_not_measured(
    detector: RestDetector, speeds: tuple[float, float], moving: str
) -> None:
    update(detector, 0.0, *speeds)
    assert detector.moving == moving


def test_joints_rest_after_three_tenths_of_a_second_of_being_slow(detector: RestDetector) -> None:
    for now in (0.0, 0.2, 0.29):
        update(detector, now, 0.05, 0.05)
        assert detector.settling
    update(detector, 0.31, 0.05, 0.05)
    assert not detector.settling


def test_every_moment_of_motion_begins_the_time_anew(detector: RestDetector) -> None:
    update(detector, 0.0, 0.0, 0.0)
    update(detector, 0.2, 0.5, 0.0)
    assert (detector.moving, detector.settling) == ("shoulder", NO_REASON)
    update(detector, 0.25, 0.0, 0.0)
    update(detector, 0.5, 0.0, 0.0)
    assert detector.settling
    update(detector, 0.56, 0.0, 0.0)
    assert not detector.settling


def test_rest_detection_counts_only_time_in_damping(detector: RestDetector) -> None:
    update(detector, 0.0, 0.0, 0.0, mode=Mode.STANDBY)
    update(detector, 1.0, 0.0, 0.0, mode=Mode.STANDBY)
    assert detector.settling
    update(detector, 1.1, 0.0, 0.0)
    assert detector.settling
