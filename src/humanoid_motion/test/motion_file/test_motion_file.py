"""An edited motion file is valid and complete, or is refused with its line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointSet
from humanoid_motion.motion_file.motion import Motion, motion_text, read_motion
from humanoid_motion.motion_file.playing import PAUSE, played
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import checked_points

JOINTS = JointSet(("shoulder", "elbow"))
LOWER, UPPER = np.array([-1.0, -2.0]), np.array([1.0, 0.5])
TEXT = """# waves
robot: prime
recorded: '2026-11-24T03:12:00Z'
limits: {velocity: 2.0, acceleration: 3.5}
joints: [shoulder, elbow]
points:
  - {time: 0.0, positions: [0.0, -0.5]}
  - {time: 1.0, positions: [0.4, -0.6]}
  - {time: 2.0, positions: [0.0, -0.5]}
"""


def check(path: Path, text: str, speed: float = 1.0) -> Motion:
    path.write_text(text)
    found = read_motion(path)
    found.check(JOINTS, LOWER, UPPER, speed)
    return found.motion


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "motion.yaml"


def test_a_written_motion_is_read_as_it_was(path: Path) -> None:
    motion = check(path, TEXT)
    again = check(path, motion_text(motion, "again"))
    assert (again.robot, again.recorded, again.joints) == (
        motion.robot,
        motion.recorded,
        motion.joints,
    )
    np.testing.assert_array_equal(again.positions, [[0.0, -0.5], [0.4, -0.6], [0.0, -0.5]])
    np.testing.assert_array_equal(again.times, [0.0, 1.0, 2.0])
    assert again.duration == 2.0


def test_a_motion_written_by_hand_has_the_limits_of_the_joints(path: Path) -> None:
    """It needs neither a date nor limits of its own."""
    lines = [it for it in TEXT.splitlines() if not it.startswith(("recorded", "limits"))]
    motion = check(path, "\n".join(lines))
    present, velocity = np.array([1.0, -1.0]), np.array([0.1, 2.0])
    approach = played(motion, present, 1.0, velocity)[0].time
    assert approach >= 1.0 * 15.0 / 8.0 / 0.1  # of the shoulder, by a quintic
    assert np.isfinite(approach)


@pytest.mark.parametrize(
    "name", ["2024", "1", "on", "null", "1.5", "a #2", "a: 2", "[a]", "a, b", "left arm", "'", "é"]
)
def test_a_motion_is_written_with_any_name_of_a_robot_and_its_joints(path: Path, name: str) -> None:
    times, positions = np.array([0.0, 1.0]), np.zeros((2, 2))
    path.write_text(
        motion_text(
            Motion(name, "today", 1.134464, 3.5, (name, "elbow"), times, positions), "head"
        ),
        encoding="utf-8",
    )
    found = read_motion(path).motion
    assert (found.robot, found.joints, found.velocity) == (name, (name, "elbow"), 1.134464)


EDITS = {
    "unknown key": ("joints:", "speed: 2\njoints:", r":5: unknown key 'speed'"),
    "missing key": ("robot: prime\n", "", r"'robot' is missing"),
    "no number": ("[0.4, -0.6]", "[0.4, up]", r":8: 'points.1.positions.1': .*found 'up'"),
    "not finite": ("[0.4, -0.6]", "[.nan, -0.6]", r":8: 'points.1.positions.0': .*found nan"),
    "infinite time": ("time: 1.0", "time: .inf", r":8: 'points.1.time': .*found inf"),
    "one angle less": ("[0.4, -0.6]", "[0.4]", r":8: points\[1\]: 1 positions, expected 2"),
    "longer than a day": ("time: 2.0", "time: 4294967298", r":9: 'points.2.time': .*86400"),
    "time goes back": ("time: 1.0", "time: 2.5", r":9: points\[2\]: time 2 s, expected 2.501 s"),
    "the same time": ("time: 1.0", "time: 0.0", r":8: points\[1\]: time 0 s, expected 0.001 s"),
    "one point": (
        "  - {time: 1.0, positions: [0.4, -0.6]}\n  - {time: 2.0, positions: [0.0, -0.5]}\n",
        "",
        r":6: 'points': .*at least 2",
    ),
    "a joint twice": ("[shoulder, elbow]", "[elbow, elbow]", r":5: joint 'elbow' is named twice"),
    "an unknown joint": ("elbow]", "knee]", r":5: the robot has no joint knee; it has shoulder"),
    "out of range": (
        "[0.4, -0.6]",
        "[0.4, 0.6]",
        r":8: points\[1\]: elbow: 0.6 rad, expected -2 to 0.5 rad",
    ),
    "too fast": ("time: 1.0", "time: 0.2", r":8: point 1 .*shoulder: .* allowed -\d"),
    "no limit": ("acceleration: 3.5", "acceleration: 0", r":4: 'limits.acceleration'"),
    "a limit near 0": ("velocity: 2.0", "velocity: 1.0e-300", r":4: 'limits.velocity': .*0.001"),
    "no YAML": ("joints: [", "joints: [[", r"not valid YAML"),
    "a list": (TEXT, "- 1\n", r":1: "),
    "empty": (TEXT, "", r"motion.yaml"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_bad_edit_is_refused_with_its_line(path: Path, edit: str) -> None:
    before, after, pattern = EDITS[edit]
    assert before in TEXT
    with pytest.raises(ConfigError, match=pattern) as refused:
        check(path, TEXT.replace(before, after))
    assert str(path) in str(refused.value)


def test_a_speed_beyond_the_limits_is_refused(path: Path) -> None:
    check(path, TEXT, 0.5)
    with pytest.raises(ConfigError, match=r":8: at speed 3: point 1"):
        check(path, TEXT, 3.0)


def test_a_file_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(str(path))):
        read_motion(path)


@given(
    st.integers(0, len(TEXT) - 1),
    st.integers(0, 12),
    st.text("0123456789.-[]{}:, en\n", max_size=6),
)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_edit_is_refused_as_a_wrong_file_or_played_within_the_limits(
    path, at, cut, new
) -> None:
    try:
        motion = check(path, TEXT[:at] + new + TEXT[at + cut :])
    except ConfigError as error:
        assert str(path) in str(error)
        return
    rows = JOINTS.indices(motion.joints)
    assert (motion.positions >= LOWER[rows]).all()
    assert (motion.positions <= UPPER[rows]).all()
    assert (np.diff(motion.times) > 0.0).all()


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_a_motion_is_played_from_any_pose_of_the_joints(path: Path, speed: float) -> None:
    motion = check(path, TEXT)
    points = played(motion, np.array([-0.8, 0.4]), speed, np.full(2, 3.0))
    assert [list(point.positions) for point in points] == [
        [0.0, -0.5],
        [0.0, -0.5],
        [0.4, -0.6],
        [0.0, -0.5],
    ]
    begin = points[1].time
    assert begin == pytest.approx(points[0].time + PAUSE)
    assert points[0].time > 0.9 / 0.5  # [s]: 0.9 rad at 0.5 rad/s
    assert [point.time - begin for point in points[1:]] == pytest.approx([0, 1 / speed, 2 / speed])


@pytest.mark.parametrize(
    ("velocity", "acceleration"), [((0.3, 3.0), 3.5), ((3.0, 0.05), 3.5), ((3.0, 3.0), 0.4)]
)
def test_the_approach_is_within_the_limits_of_slow_joints_and_of_the_file(
    path: Path, velocity: tuple[float, float], acceleration: float
) -> None:
    """The joints hang 0.12 rad below what is commanded, where the approach begins."""
    limits = f"velocity: 2.0, acceleration: {acceleration}"
    slow = TEXT.replace("velocity: 2.0, acceleration: 3.5", limits)
    slow = slow.replace("time: 1.0", "time: 10.0").replace("time: 2.0", "time: 20.0")
    present, own = np.array([-0.8, 0.4]), np.array(velocity)
    points = played(check(path, slow), present, 1.0, own)
    start = np.zeros((3, 2))
    start[0] = present + np.array([-0.12, 0.12])
    allowed = MotionLimits(
        np.full(2, -2.0), np.full(2, 2.0), own, np.full(2, acceleration), np.full(2, np.inf)
    )
    checked = checked_points(JOINTS, JOINTS.names, points, partial=False)
    trajectory_through(start, checked, allowed, JOINTS, 0.0)
