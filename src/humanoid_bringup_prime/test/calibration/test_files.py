"""The calibration file: complete, readable, replaced as a whole, with a copy of the old one."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup.calibration.files import (
    CalibrationFileError,
    check_writable,
    file_text,
    replace_file,
)
from humanoid_bringup.calibration.formulas import JointCalibration
from humanoid_bringup.calibration.results import JointResult
from humanoid_control_common.robot.calibration import load_complete_calibration

NOON = datetime(2025, 3, 1, 12, 0, 0)
BACKUP = "calibration.yaml.20250301-120000.bak"
IDS = {f"joint_{i}": i + 20 for i in range(14)}


def result(joint: str, calibration: JointCalibration) -> JointResult:
    return JointResult(joint, calibration, True, "swept 2.650 of 2.650 rad", None, None, ())


@given(st.lists(st.tuples(st.sampled_from([-1, 1]), st.floats(-50, 50)), min_size=14, max_size=14))
def test_components_read_the_written_calibration(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[int, float]]
) -> None:
    path = tmp_path_factory.mktemp("file") / "calibration.yaml"
    results = [
        result(name, JointCalibration(*value)) for name, value in zip(IDS, values, strict=True)
    ]
    replace_file(path, file_text(results, IDS, NOON), NOON)
    entries = load_complete_calibration(path, dict(IDS))
    assert [entry.id for entry in entries.values()] == list(IDS.values())
    assert [entry.direction for entry in entries.values()] == [d for d, _ in values]
    offsets = [entry.homing_offset for entry in entries.values()]
    assert offsets == pytest.approx([offset for _, offset in values], abs=1e-9)


def test_calibration_file_states_its_origin_the_formula_and_the_sweep() -> None:
    text = file_text([result("elbow", JointCalibration(-1, 0.25))], {"elbow": 3}, NOON)
    assert "written by `hc calibrate` on 2025-03-01 12:00:00" in text
    assert "raw = direction * joint + homing_offset" in text
    assert text.splitlines()[-1] == (
        "elbow: {id: 3,  direction: -1, homing_offset: +0.250000000}  # swept 2.650 of 2.650 rad"
    )


def test_the_old_file_is_kept_with_its_date(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text("old")
    assert replace_file(path, "new", NOON) == tmp_path / BACKUP
    assert (path.read_text(), (tmp_path / BACKUP).read_text()) == ("new", "old")


def test_no_backup_is_ever_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    for text in ("first", "second", "third"):
        replace_file(path, text, NOON)
    kept = [tmp_path / BACKUP, tmp_path / BACKUP.replace(".bak", "-1.bak")]
    assert [file.read_text() for file in kept] == ["first", "second"]


def test_a_new_file_needs_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    assert replace_file(path, "new", NOON) is None
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.yaml"]


def test_rights_and_symbolic_links_stay(tmp_path: Path) -> None:
    """Installed files are links into the sources."""
    real = tmp_path / "sources" / "calibration.yaml"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "calibration.yaml"
    link.symlink_to(real)
    assert replace_file(link, "new", NOON) == real.with_name(BACKUP)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_failed_calibration_write_leaves_the_old_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    real = os.fsync
    calls = iter([real, full])  # the backup succeeds

    def fsync(descriptor: int) -> None:
        next(calls)(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(CalibrationFileError, match="No space left on device"):
        replace_file(path, "new", NOON)
    assert path.read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["calibration.yaml", BACKUP]


def test_half_a_backup_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CalibrationFileError, match="No space left on device"):
        replace_file(path, "new", NOON)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.yaml"]


def test_a_file_that_was_made_read_only_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda found, _: Path(found) != path)  # also for root
    with pytest.raises(CalibrationFileError, match=r"calibration.yaml: no permission to write"):
        check_writable(path)


def test_a_path_that_cannot_be_written_is_reported_before_the_work_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_writable(tmp_path / "new.yaml")
    with pytest.raises(CalibrationFileError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(CalibrationFileError, match="/dev/full: no regular file"):
        check_writable(Path("/dev/full"))  # a backup of it would never end
    with pytest.raises(CalibrationFileError, match="there is no folder"):
        check_writable(tmp_path / "nowhere" / "new.yaml")
    monkeypatch.setattr(os, "access", lambda *_: False)  # also for root
    with pytest.raises(CalibrationFileError, match=r"no permission .*--output FILE"):
        check_writable(tmp_path / "new.yaml")
