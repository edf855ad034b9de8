"""The judge finds each type of violation in a changed recording, and none in a correct one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from fault_campaign.judging.bounds import LIMITS
from fault_campaign.judging.judge import Verdict, Window, judge_way_back
from fault_campaign.judging.judge import judge as judge_any
from fault_campaign.judging.violation import ViolationType

from humanoid_bringup.robot_package import find_robot
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_twin.physics.recorder import Recording

# In the order of the virtual robot: eRobs 0 to 9, then the wrists' motors.
NAMES = (
    "left_shoulder_pitch", "left_shoulder_roll", "left_shoulder_yaw", "left_elbow_pitch",
    "left_wrist_yaw", "right_shoulder_pitch", "right_shoulder_roll", "right_shoulder_yaw",
    "right_elbow_pitch", "right_wrist_yaw", "left_wrist_roll", "left_wrist_pitch",
    "right_wrist_roll", "right_wrist_pitch",
)  # fmt: skip
SHOULDER, WRIST = 0, 13
WINDOW = Window(fault=0.5, end=1.0, within=0.2)
ARRAYS = ("position", "velocity", "torque", "stiffness", "pull")


@pytest.fixture
def calm() -> Recording:
    """Return a recording of joints that hang: stiff for 0.6 s, then limp; 1.2 s in all."""
    time = np.arange(1, 1201) / 1000
    still = np.zeros((1200, len(NAMES)))
    stiffness = np.where(time[:, None] <= 0.6, 20.0, still)
    return Recording(NAMES, time, still, still.copy(), still.copy(), stiffness, still.copy())


def judge(recording: Recording, window: Window) -> Verdict:
    return judge_any(recording, window, LIMITS["prime"])


def violation_types(
    recording: Recording, window: Window = WINDOW
) -> list[tuple[ViolationType, str]]:
    return [(it.type, it.text) for it in judge(recording, window).violations]


def test_a_recording_without_violations_is_not_convicted(calm: Recording) -> None:
    verdict = judge(calm, WINDOW)
    assert verdict.violations == verdict.known == ()
    assert verdict.softened == pytest.approx(0.101, abs=0.002)


@pytest.mark.parametrize("robot", LIMITS)
def test_the_judges_limits_are_those_of_the_description(robot: str) -> None:
    found = parse_robot_description(find_robot(robot).expand({"use_sim": "true"}), 200.0)
    described = zip(found.limits.velocity.tolist(), found.limits.effort.tolist(), strict=True)
    assert dict(zip(found.joints.names, described, strict=True)) == LIMITS[robot]


# Missing data.


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("row", [0, 500, 999])
def test_a_number_that_is_not_finite_is_no_data(
    calm: Recording, array: str, value: float, row: int
) -> None:
    getattr(calm, array)[row, WRIST] = value
    assert violation_types(calm) == [
        (ViolationType.NO_DATA, f"right_wrist_pitch: {array} is not finite")
    ]


def cut(recording: Recording, rows: slice | list[int]) -> Recording:
    """Return the recording with these rows only."""
    arrays = {name: getattr(recording, name)[rows] for name in ARRAYS}
    return replace(recording, time=recording.time[rows], **arrays)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (slice(0, 0), "the recording has nothing, needed are 0.500 to 1.000 s"),
        (slice(0, 300), "has 0.001 to 0.300 s, needed"),
        (slice(0, 995), "has 0.001 to 0.995 s, needed"),
        (slice(510, 1200), "has 0.511 to 1.200 s, needed"),
        ([*range(700), *range(701, 1200)], "rows are missing after 0.700 s"),
        ([*range(700), 699, *range(700, 1200)], "rows are missing after 0.700 s"),
    ],
    ids=[
        "empty",
        "ends before the fault",
        "ends early",
        "begins late",
        "a row lost",
        "a row twice",
    ],
)
def test_rows_that_are_missing_are_no_data(
    calm: Recording, rows: slice | list[int], text: str
) -> None:
    ((violation_type, message),) = violation_types(cut(calm, rows))
    assert (violation_type, text in message) == (ViolationType.NO_DATA, True), message


# Softness.


# Soft, and driven.


def driven(recording: Recording, torque: float, joint: int = WRIST, row: int = 800) -> Recording:
    recording.torque[row, joint], recording.velocity[row - 1, joint] = torque, 0.1
    return recording


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_soft_joint_that_its_drive_moves_is_convicted(calm: Recording, sign: float) -> None:
    driven(calm, 0.29)
    driven(calm, -9.0, row=900)  # damped
    assert violation_types(calm) == []
    calm.torque[800, WRIST], calm.velocity[799, WRIST] = sign * 0.31, sign * 0.1
    text = "right_wrist_pitch: with 0.31 Nm, soft as it is"
    assert violation_types(calm) == [(ViolationType.DRIVEN, text)]
    assert judge(calm, WINDOW).violations[0].at == pytest.approx(0.801)


def test_a_joint_that_could_not_be_reached_is_not_judged_on_the_way_back(calm: Recording) -> None:
    calm.torque[1100, WRIST] = 20.0
    (found,) = judge_way_back(calm, WINDOW, LIMITS["prime"])
    assert (found.type, found.text[:35]) == (
        ViolationType.EFFORT,
        "on the way back: right_wrist_pitch:",
    )
    assert judge_way_back(calm, replace(WINDOW, spared=(NAMES[WRIST],)), LIMITS["prime"]) == []
    calm.torque[990, WRIST], calm.torque[1100, WRIST] = 20.0, 0.0  # in the window
    assert judge_way_back(calm, WINDOW, LIMITS["prime"]) == []


def test_a_joint_that_is_soft_too_late_is_convicted(calm: Recording) -> None:
    calm.stiffness[600:710, WRIST] = 5.0
    text = "after 0.211 s, stated are 0.2 s"
    assert violation_types(calm) == [(ViolationType.SOFT_TOO_LATE, text)]
    assert violation_types(calm, replace(WINDOW, within=None)) == []


@pytest.mark.parametrize("stiffness", [5.0, 1e-3, -5.0])
def test_a_joint_that_is_never_soft_is_convicted_and_named(
    calm: Recording, stiffness: float
) -> None:
    calm.stiffness[600:, WRIST] = stiffness
    assert judge(calm, WINDOW).softened is None
    assert violation_types(calm) == [(ViolationType.NEVER_SOFT, "right_wrist_pitch at the end")]
    spared = replace(WINDOW, spared=("right_wrist_pitch",))
    assert violation_types(calm, spared) == []


# Speed, effort, jump. Limits: eRob 4 rad/s and 30 Nm, Sito 3.1 rad/s and 9 Nm.


@pytest.mark.parametrize(
    ("joint", "speed", "wrong"),
    [(SHOULDER, 5.99, ""), (SHOULDER, -6.05, "1.51"), (WRIST, 4.64, ""), (WRIST, 4.68, "1.51")],
)
def test_a_joint_may_reach_one_and_a_half_of_its_speed_limit(
    calm: Recording, joint: int, speed: float, wrong: str
) -> None:
    calm.velocity[700, joint] = speed
    expected = [(ViolationType.SPEED, f"{NAMES[joint]}: {wrong} of its limit")] if wrong else []
    assert violation_types(calm) == expected


@pytest.mark.parametrize(
    ("joint", "torque", "wrong"),
    [(SHOULDER, 30.5, ""), (SHOULDER, 30.9, "1.03"), (WRIST, 9.1, ""), (WRIST, 9.3, "1.03")],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_effort_that_drives_a_joint_on_stays_at_its_limit(
    calm: Recording, joint: int, torque: float, wrong: str, sign: float
) -> None:
    calm.torque[600, joint] = sign * torque
    calm.velocity[:, joint] = sign * 1.0
    calm.position[:, joint] = sign * calm.time
    expected = [(ViolationType.EFFORT, f"{NAMES[joint]}: {wrong} of its limit")] if wrong else []
    assert violation_types(calm) == expected


@pytest.mark.parametrize(("way", "wrong"), [(0.028, ""), (0.032, "0.032")])
def test_a_joint_that_leaves_its_course_has_jumped_unless_it_is_slowed_down(
    calm: Recording, way: float, wrong: str
) -> None:
    calm.position[:, SHOULDER] = calm.time * 1.0
    calm.velocity[:, SHOULDER] = 1.0
    assert judge(calm, WINDOW).jump == pytest.approx(0.0, abs=1e-9)
    calm.position[700:, SHOULDER] += way
    expected = (
        [(ViolationType.JUMP, f"left_shoulder_pitch: {wrong} rad off its course")] if wrong else []
    )
    assert violation_types(calm) == expected
    calm.velocity[700:, SHOULDER] = 0.5
    assert violation_types(calm) == []


def test_allowed_violation_is_known_up_to_its_bound_and_excuses_no_other(
    calm: Recording,
) -> None:
    allows = replace(WINDOW, allowed={ViolationType.SPEED: 3.0})
    calm.velocity[700, SHOULDER] = 11.9
    verdict = judge(calm, allows)
    assert verdict.violations == ()
    assert [(it.type, it.text) for it in verdict.known] == [
        (ViolationType.SPEED, "left_shoulder_pitch: 2.98 of its limit")
    ]
    calm.velocity[700, WRIST] = 9.4
    calm.torque[800, WRIST] = 9.3
    verdict = judge(calm, allows)
    assert [it.type for it in verdict.violations] == [ViolationType.SPEED, ViolationType.EFFORT]
    assert [it.text for it in verdict.known] == ["left_shoulder_pitch: 2.98 of its limit"]
