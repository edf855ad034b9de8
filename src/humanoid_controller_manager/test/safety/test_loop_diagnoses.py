"""Diagnoses of limited commands: which joint, which limit, and since when."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.rules.diagnosis import DiagnosisLevel
from humanoid_controller_manager.safety.limit_stage import Limited
from humanoid_controller_manager.safety.loop_diagnoses import gravity, limits, ranges

JOINTS = ("shoulder", "elbow", "wrist")


def counts(**of_joints: int) -> np.ndarray:
    """Return counters (kinds, n); names are joint and kind, as in elbow_effort."""
    found = np.zeros((len(Limited), len(JOINTS)), dtype=np.int64)
    for name, count in of_joints.items():
        joint, _, kind = name.partition("_")
        found[Limited[kind.upper()], JOINTS.index(joint)] = count
    return found


def test_joints_are_named_with_the_limits_they_met_since_the_last_report() -> None:
    before = counts(shoulder_position=5, elbow_velocity=7)
    new = counts(elbow_effort=2, wrist_spring=1)
    found = limits(before + new, new, JOINTS)
    assert found.level is DiagnosisLevel.WARN
    assert found.message.endswith(": elbow (effort), wrist (spring)")
    assert found.values == {
        "shoulder position": "5",
        "elbow velocity": "7",
        "elbow effort": "2",
        "wrist spring": "1",
    }


def test_limits_of_long_ago_are_counted_and_no_warning() -> None:
    before = counts(shoulder_position=5, elbow_velocity=7)
    found = limits(before, counts(), JOINTS)
    assert found.level is DiagnosisLevel.OK
    assert found.message == "12 limited commands since the start"
    assert found.codes == ()


def test_joints_that_sink_are_named_without_a_kind() -> None:
    none = np.zeros(len(JOINTS), dtype=np.bool_)
    held: Any = SimpleNamespace(payloads=(), added=np.zeros((2, len(JOINTS))), unknown=none)
    ticks = np.array([[0, 3, 0]])
    found = gravity(held, ticks, ticks, JOINTS)
    assert found.message == "joints are not held against gravity: elbow"
    assert found.values == {"elbow ticks": "3"}


def test_joints_that_are_measured_beyond_their_stops_are_named() -> None:
    ones = np.ones(len(JOINTS))
    bounds = JointLimits(-0.5 * ones, 0.7 * ones, ones, ones)
    found = ranges(np.array([-0.59, 0.79, np.nan]), bounds, JOINTS)
    assert (found.level, found.codes) == (DiagnosisLevel.OK, ())
    found = ranges(np.array([-0.61, 0.2, 1.0]), bounds, JOINTS)
    assert found.level is DiagnosisLevel.WARN
    assert found.codes == ("JOINT_BEYOND_STOP",)
    assert found.message.startswith(
        "shoulder is measured at -0.61 rad, 0.11 rad beyond its limits, "
        "wrist is measured at 1.00 rad, 0.30 rad beyond its limits: wrong calibration"
    )
