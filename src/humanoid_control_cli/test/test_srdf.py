"""`hc srdf` and the files that it wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from humanoid_bringup.robot_package import find_robot
from humanoid_control_cli.app import app
from humanoid_motion.collision.clearance import LinkPair
from humanoid_motion.collision.semantic_description import (
    parse_disabled_pairs,
    refuse_other_robot,
)


@pytest.mark.parametrize("robot", ["prime", "lite"])
def test_shipped_file_has_the_pairs_that_the_command_finds(robot: str, tmp_path: Path) -> None:
    shipped = find_robot(robot).srdf_file
    assert shipped is not None
    copy = tmp_path / "copy.srdf"
    copy.write_text(shipped.read_text())
    result = CliRunner().invoke(app, ["srdf", "--robot", robot, "--output", str(copy)])
    assert result.exit_code == 0, result.output
    assert copy.read_text() == shipped.read_text()


def test_file_that_is_not_there_is_made(tmp_path: Path) -> None:
    file = tmp_path / "lite.srdf"
    result = CliRunner().invoke(app, ["srdf", "--robot", "lite", "--output", str(file)])
    assert "6 pairs need no check (2 Adjacent, 4 Never)" in result.output
    pairs = parse_disabled_pairs(file.read_text(), "file")
    assert pairs[LinkPair.of("left_elbow_pitch_link", "left_shoulder_yaw_link")] == "Adjacent"


def test_robot_may_have_any_name(tmp_path: Path) -> None:
    expanded = find_robot("lite").expand({"use_sim": "true"})
    start = expanded.index("<ros2_control")
    export = tmp_path / "export.urdf"
    links = expanded[:start].replace('name="lite"', 'name="R &amp; &quot;D&quot;"') + "</robot>"
    export.write_text(links)
    words = ["srdf", "--robot", "lite", "--description", str(export)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    refuse_other_robot(result.stdout, 'R & "D"', "output")


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "lite.srdf"
    result = CliRunner().invoke(app, ["srdf", "--robot", "lite", "--output", str(file)])
    assert str(result.exception) == f"{file}: cannot be written: No such file or directory"


def test_a_full_disk_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lite.srdf"
    file.write_text(before := '<robot name="lite"><group name="arms"/></robot>')

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = CliRunner().invoke(app, ["srdf", "--robot", "lite", "--output", str(file)])
    assert str(result.exception) == f"{file}: cannot be written: No space left on device"
    assert file.read_text() == before


def test_file_of_another_robot_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "prime.srdf"
    file.write_text(before := '<robot name="prime"><group name="arms"/></robot>')
    result = CliRunner().invoke(app, ["srdf", "--robot", "lite", "--output", str(file)])
    assert result.exit_code == 1
    assert f"{file}: it is of the robot 'prime', expected 'lite'" in str(result.exception)
    assert file.read_text() == before


def test_file_that_is_no_srdf_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.srdf"
    file.write_text("notes")
    result = CliRunner().invoke(app, ["srdf", "--robot", "lite", "--output", str(file)])
    assert result.exit_code == 1
    assert f"{file}: not valid XML" in str(result.exception)
    assert file.read_text() == "notes"
