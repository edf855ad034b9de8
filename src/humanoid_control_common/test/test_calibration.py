"""Calibration: conversions in both directions, and errors of files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import (
    Calibration,
    load_calibration,
    load_complete_calibration,
    turns_into_range,
)

JOINTS = tuple(f"joint_{i}" for i in range(14))
angles = arrays(np.float64, 2, elements=st.floats(-100.0, 100.0))
directions = arrays(np.float64, 2, elements=st.sampled_from([-1.0, 1.0]))


def _entry(i: int, *, direction: str = "1", offset: str = "0.25") -> str:
    return f"joint_{i}: {{id: {i}, direction: {direction}, homing_offset: {offset}}}\n"


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "calibration.yaml"
    path.write_text(text)
    return path


@given(directions, angles, angles)
def test_raw_to_joint_and_back_is_the_same(
    direction: np.ndarray, offset: np.ndarray, raw: np.ndarray
) -> None:
    calibration = Calibration(direction, offset)
    joint = calibration.position_to_joint(raw)
    assert calibration.position_to_raw(joint) == pytest.approx(raw, abs=1e-12)
    assert calibration.position_to_joint(calibration.position_to_raw(raw)) == pytest.approx(
        raw, abs=1e-12
    )


@given(directions, angles, angles)
def test_a_rate_takes_the_direction_only_and_leads_back(
    direction: np.ndarray, offset: np.ndarray, raw: np.ndarray
) -> None:
    calibration = Calibration(direction, offset)
    assert np.array_equal(calibration.rate_to_joint(raw), direction * raw)
    assert np.array_equal(calibration.rate_to_joint(calibration.rate_to_joint(raw)), raw)


@given(directions, angles, angles, angles)
def test_power_is_the_same_in_both_frames(
    direction: np.ndarray, offset: np.ndarray, velocity: np.ndarray, effort: np.ndarray
) -> None:
    calibration = Calibration(direction, offset)
    joint_power = calibration.rate_to_joint(velocity) * calibration.rate_to_joint(effort)
    assert np.array_equal(joint_power, velocity * effort)


def test_the_formula_is_the_documented_one() -> None:
    calibration = Calibration(np.array([-1.0]), np.array([0.5]))
    assert calibration.position_to_joint(np.array([2.0])).tolist() == [-1.5]
    assert calibration.position_to_raw(np.array([-1.5])).tolist() == [2.0]


def test_a_file_is_read_in_the_order_requested(tmp_path: Path) -> None:
    text = "".join(
        _entry(i, direction="-1" if i % 2 else "1", offset=str(i)) for i in reversed(range(14))
    )
    calibration = load_calibration(_file(tmp_path, text), JOINTS)
    assert calibration.homing_offset.tolist() == list(range(14))
    assert calibration.direction.tolist() == [1.0, -1.0] * 7


def test_more_joints_than_requested_are_no_mistake(tmp_path: Path) -> None:
    text = "".join(_entry(i) for i in range(14))
    assert len(load_calibration(_file(tmp_path, text), JOINTS[:3]).direction) == 3


def test_a_missing_joint_is_named(tmp_path: Path) -> None:
    path = _file(tmp_path, "".join(_entry(i) for i in range(14) if i != 9))
    with pytest.raises(ConfigError) as caught:
        load_calibration(path, JOINTS)
    assert str(caught.value).startswith(f"{path}: no calibration for joint_9: ")
    assert "`hc calibrate`" in str(caught.value)


@pytest.mark.parametrize("direction", ["2", "0", "-2", "left", "1.5", "true"])
def test_a_direction_other_than_plus_or_minus_one_is_refused(
    tmp_path: Path, direction: str
) -> None:
    text = "".join(_entry(i, direction=direction if i == 3 else "1") for i in range(14))
    with pytest.raises(ConfigError, match=r":4: 'joint_3.direction'"):
        load_calibration(_file(tmp_path, text), JOINTS)


@pytest.mark.parametrize("offset", [".nan", ".inf", "-.inf", "'0.1'", "[0.1]", "", "true"])
def test_an_offset_that_is_no_finite_number_is_refused(tmp_path: Path, offset: str) -> None:
    text = "".join(_entry(i, offset=offset if i == 13 else "0.1") for i in range(14))
    with pytest.raises(ConfigError, match=r":14: 'joint_13.homing_offset'"):
        load_calibration(_file(tmp_path, text), JOINTS)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "joint_0: {id: 0, direction: 1, homing_offset: 0.0, gear: 3}\n")
    with pytest.raises(ConfigError, match=r":1: unknown key 'joint_0.gear'"):
        load_calibration(path, JOINTS[:1])


def test_a_joint_given_twice_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, _entry(0) + _entry(1) + _entry(0))
    with pytest.raises(ConfigError, match=r":3: key 'joint_0' given twice"):
        load_calibration(path, JOINTS[:2])


def test_a_negative_id_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "joint_0: {id: -1, direction: 1, homing_offset: 0.0}\n")
    with pytest.raises(ConfigError, match=r"'joint_0.id'"):
        load_calibration(path, JOINTS[:1])


def test_an_id_that_is_not_the_hardware_s_is_refused_with_its_line(tmp_path: Path) -> None:
    path = _file(tmp_path, "".join(_entry(i) for i in range(14)))
    assert len(load_calibration(path, JOINTS[:3], [0, 1, 2]).direction) == 3
    with pytest.raises(ConfigError) as caught:
        load_calibration(path, JOINTS[:3], [0, 5, 2])
    assert str(caught.value).startswith(
        f"{path}:2: joint_1 was calibrated on id 1, but the hardware file has it on id 5: "
    )


IDS: dict[str, int | None] = {name: i for i, name in enumerate(JOINTS)}


def test_a_complete_file_has_all_joints_with_their_ids(tmp_path: Path) -> None:
    path = _file(tmp_path, "".join(_entry(i) for i in range(14)))
    assert list(load_complete_calibration(path, IDS)) == list(JOINTS)


def test_a_joint_on_no_bus_may_have_any_id(tmp_path: Path) -> None:
    path = _file(tmp_path, "".join(_entry(i) for i in range(14)))
    assert load_complete_calibration(path, {**IDS, "joint_3": None})
    with pytest.raises(ConfigError, match=":4: joint_3 was calibrated on id 3"):
        load_complete_calibration(path, {**IDS, "joint_3": 33})


def test_13_of_14_joints_are_no_complete_calibration(tmp_path: Path) -> None:
    path = _file(tmp_path, "".join(_entry(i) for i in range(13)))
    with pytest.raises(ConfigError, match="no calibration for joint_13: the file needs a line for"):
        load_complete_calibration(path, IDS)


def test_a_joint_that_the_robot_lacks_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "".join(_entry(i) for i in range(14)).replace("joint_5:", "joint_55:")
    with pytest.raises(ConfigError, match=r":6: unknown joint 'joint_55'; the robot has: joint"):
        load_complete_calibration(_file(tmp_path, text), IDS)


@given(st.floats(-3.0, 0.0), st.floats(0.1, 3.0), st.floats(0.0, 1.0), st.integers(-5, 5))
def test_angle_within_the_range_is_found_again_whatever_turns_are_lost(
    lower: float, width: float, share: float, lost: int
) -> None:
    angle = lower + width * (0.01 + 0.98 * share)
    assert turns_into_range(angle - math.tau * lost, lower, lower + width) == lost


@pytest.mark.parametrize(
    ("angle", "lower", "upper", "turns"),
    [
        (1.2, -1.0, 1.0, 0),  # a little outside is left alone, on either side
        (-1.4, -1.0, 1.0, 0),
        (-1.4 + math.tau, -1.0, 1.0, -1),
        (1.6, -1.0, 1.0, None),  # too far outside
        (math.pi, -1.0, 1.0, None),
        (3.05, -3.0, 3.0, 0),
        (3.1, -3.0, 3.0, None),  # nearly as close to the other end
        (0.5, -4.0, 4.0, 0),
        (3.5, -4.0, 4.0, 0),  # two turns fit: as measured
        (-4.6, -4.0, 4.0, None),  # and not put back by a turn
    ],
)
def test_turns_are_reported_only_where_they_are_clear(
    angle: float, lower: float, upper: float, turns: int | None
) -> None:
    assert turns_into_range(angle, lower, upper) == turns
