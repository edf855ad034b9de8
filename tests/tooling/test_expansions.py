"""A xacro file is expanded once for all tests, unless one of its files has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
import xacro
from test_support.expansions import Expansions

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="gains" default=""/>
  <xacro:include filename="arm.xacro"/>
  <xacro:property name="gains" value="${xacro.load_yaml('$(arg gains)')}"/>
  <link name="of_${gains['damping']}"/>
</robot>
"""
ARM = '<robot><link name="arm"/></robot>'


class Counted:
    """xacro with a count of its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, file, mappings):
        self.calls += 1
        return PROCESS_FILE(file, mappings=mappings)


PROCESS_FILE = getattr(xacro.process_file, "_process_file", xacro.process_file)


@pytest.fixture
def robot(tmp_path: Path) -> str:
    (tmp_path / "arm.xacro").write_text(ARM)
    (tmp_path / "robot.xacro").write_text(ROBOT)
    return str(tmp_path / "robot.xacro")


def gains(folder: Path, damping: int) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    (folder / "gains.yaml").write_text(f"damping: {damping}")
    return {"gains": str(folder / "gains.yaml")}


def test_files_with_the_same_content_share_an_expansion(robot: str, tmp_path: Path) -> None:
    counted = Counted()
    expansions = Expansions(counted)
    texts = [
        expansions(robot, mappings=gains(tmp_path / name, damping)).toprettyxml(indent="  ")
        for name, damping in (("a", 6), ("b", 6), ("a", 7))
    ]
    assert counted.calls == 2
    assert texts[0] == texts[1]
    assert ['name="of_6"' in text for text in texts] == [True, True, False]


def test_a_changed_include_is_expanded_again(robot: str, tmp_path: Path) -> None:
    expansions = Expansions(Counted())
    mappings = gains(tmp_path, 6)
    before = expansions(robot, mappings=mappings).text
    (tmp_path / "arm.xacro").write_text(ARM.replace("arm", "leg"))
    after = expansions(robot, mappings=mappings).text
    assert ("leg" in before, "leg" in after) == (False, True)


def test_a_description_that_names_a_file_is_not_shared(robot: str, tmp_path: Path) -> None:
    Path(robot).write_text(ROBOT.replace("of_${gains['damping']}", "$(arg gains)"))
    counted = Counted()
    expansions = Expansions(counted)
    for name in ("a", "b"):
        mappings = gains(tmp_path / name, 6)
        assert mappings["gains"] in expansions(robot, mappings=mappings).text
    assert counted.calls == 2
