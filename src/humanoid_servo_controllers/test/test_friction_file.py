"""A file preserves friction maps; wrong files are refused with line, joint and point."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_servo_controllers.friction_file import (
    FrictionMaps,
    load_friction_maps,
    save_friction_maps,
)
from humanoid_servo_controllers.servo.friction_map import flat
from src.humanoid_servo_controllers.test.servos import MAP

FILE = """date: 2026-11-24
method: breakaway
units: {position: rad, effort: Nm}
joints:
  wrist:
    forward:
    - [0.0, 1.0]
    - [0.5, 2.0]
    backward:
    - [0.0, -1.0]
    - [0.5, -0.5]
"""


def test_maps_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "friction.yaml"
    save_friction_maps(
        path, FrictionMaps(date(2026, 11, 24), "sweep", {"wrist": MAP, "elbow": flat()})
    )
    found = load_friction_maps(path)
    assert (found.recorded, found.method) == (date(2026, 11, 24), "sweep")
    assert list(found.maps) == ["wrist", "elbow"]
    for mine, theirs in ((found.maps["wrist"], MAP), (found.maps["elbow"], flat())):
        for direction in ("forward", "backward"):
            one, other = getattr(mine, direction), getattr(theirs, direction)
            np.testing.assert_array_equal(one.positions, other.positions)
            np.testing.assert_array_equal(one.efforts, other.efforts)
    assert [it.name for it in tmp_path.iterdir()] == ["friction.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("- [0.5, 2.0]", "- [0.0, 2.0]", ":8: wrist, forward: point 1: position 0 rad, expected"),
        ("- [0.5, 2.0]", "- [1.0e+17, 2.0]", ":8: wrist, forward: point 1: position 1e+17 rad, ex"),
        ("- [0.5, 2.0]", "- [0.5, -2.0]", ":8: wrist, forward: point 1: effort -2 Nm, expected 0"),
        ("- [0.5, -0.5]", "- [0.5, 0.5]", ":11: wrist, backward: point 1: effort 0.5 Nm"),
        (
            "- [0.5, 2.0]",
            "- [0.5, .nan]",
            ":8: 'joints.wrist.forward.1.1': Input should be a fin",
        ),
        ("- [0.5, 2.0]", "- [0.5]", ":8: 'joints.wrist.forward.1': List should have at least 2"),
        ("    - [0.5, 2.0]\n", "", ":6: wrist, forward: 1 points, expected 2 or more"),
        ("effort: Nm", "effort: mNm", ":3: 'units.effort': Input should be 'Nm'"),
        ("method: breakaway", "method: guess", ":2: 'method': Input should be"),
        (
            "    backward:\n    - [0.0, -1.0]\n    - [0.5, -0.5]\n",
            "",
            "'joints.wrist.backward' is missing",
        ),
    ],
)
def test_a_wrong_file_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = tmp_path / "friction.yaml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(ConfigError) as refused:
        load_friction_maps(path)
    assert words in str(refused.value)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere/friction\.yaml: cannot be written"):
        save_friction_maps(
            tmp_path / "nowhere/friction.yaml", FrictionMaps(date.today(), "sweep", {"a": MAP})
        )
