"""The note of a bring-up on joints that are not calibrated."""

from pathlib import Path

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import notes

PLACEHOLDER = (
    Path(get_package_share_directory("humanoid_bringup_prime")) / "config/prime_calibration.yaml"
)
WRISTS = ["left_wrist_roll", "left_wrist_pitch", "right_wrist_roll", "right_wrist_pitch"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A calibration file."""
    return tmp_path / "calibration.yaml"


def calibrate_all_but(absent: list[str], file: Path) -> None:
    entries = yaml.safe_load(PLACEHOLDER.read_text())
    for joint, entry in entries.items():
        if joint not in absent:
            entry["homing_offset"] = 0.1
    file.write_text(yaml.safe_dump(entries, sort_keys=False))


def real(file: Path, backends: str = "all") -> Options:
    return Options(backend=Backend.REAL, backends=backends, calibration_file=file)


def test_a_real_robot_that_was_never_calibrated_is_named(file: Path) -> None:
    file.write_text(PLACEHOLDER.read_text())
    (note,) = notes(real(file))
    assert note == (
        f"NOT CALIBRATED: {file} is a placeholder, so every angle is wrong, and with it limits "
        "and poses: run `hc calibrate` before the first stiff mode"
    )
    assert notes(Options(backend=Backend.TWIN, calibration_file=file)) == []


def test_joints_that_a_broken_off_calibration_left_out_are_named(file: Path) -> None:
    calibrate_all_but(["left_wrist_roll", "right_wrist_yaw"], file)
    (note,) = notes(real(file))
    assert note.startswith(
        f"NOT CALIBRATED: {file} has direction 1 and offset 0 for left_wrist_roll, "
        "right_wrist_yaw, as before a calibration: each angle is doubtful"
    )
    calibrate_all_but([], file)
    assert notes(real(file)) == []


def test_joints_that_are_mocked_need_no_calibration(file: Path) -> None:
    calibrate_all_but(WRISTS, file)
    (on_buses,) = notes(real(file, "ec"))
    assert "are mocked" in on_buses
    (_, note) = notes(real(file, "can"))
    assert f"for {', '.join(WRISTS)}, as" in note
