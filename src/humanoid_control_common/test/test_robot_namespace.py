"""Namespaces of robots, and parameter files for robots in them."""

from pathlib import Path

import pytest
import yaml

from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.configuration.parameter_files import (
    for_rcl,
    parameter_files,
    sections,
    unused,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import (
    absolute,
    checked_namespace,
    file_mark,
    frame_prefix,
    namespace_of,
    remapping,
)


@pytest.mark.parametrize("text", ["left", "/left", "/left/", " left "])
def test_a_namespace_is_absolute_however_it_is_written(text: str) -> None:
    assert checked_namespace(text) == "/left"


@pytest.mark.parametrize("text", ["", "/", " "])
def test_empty_namespace_is_the_root(text: str) -> None:
    assert checked_namespace(text) == ""
    assert (remapping(""), frame_prefix("/"), absolute("", "joy")) == ((), "", "/joy")


@pytest.mark.parametrize("text", ["9left", "left-arm", "left arm", "/a//b", "~left", "a/9"])
def test_invalid_ros_namespace_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ConfigError, match=f"namespace is '{text}'"):
        checked_namespace(text)


@pytest.mark.parametrize("flag", ["-r", "--remap"])
def test_the_first_rule_of_a_command_line_counts(flag: str) -> None:
    words = ["prog", "--ros-args", "-r", "joy:=pad", flag, "__ns:=/left", "-r", "__ns:=/right"]
    assert namespace_of(words) == "/left"
    assert namespace_of(["prog", "--ros-args", "-r", "viewer:__ns:=/left"]) == ""


def test_no_two_namespaces_share_a_mark_in_names_of_files() -> None:
    names = ["", "/a", "/a/b", "/a_b", "/b"]
    assert len({file_mark(name) for name in names}) == len(names)


FILE = """\
# The keys stay on their lines.
viewer: {ros__parameters: {port: 1}}
/viewer:
  ros__parameters: {port: 2}
/left/viewer:
  ros__parameters: {port: 3}
left:
  viewer:
    ros__parameters: {port: 4}
/**:
  ros__parameters: {port: 5}
/*/viewer: {ros__parameters: {port: 6}}
"other": {ros__parameters: {text: "viewer: ü"}}
"""
IN_ROOT = ["viewer", "/viewer", "/**"]
IN_LEFT = ["viewer", "/left/viewer", "left/viewer", "/**", "/*/viewer"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.mark.parametrize(("namespace", "expected"), [("", IN_ROOT), ("/left", IN_LEFT)])
def test_a_node_gets_its_own_sections(file: Path, namespace: str, expected: list[str]) -> None:
    node = absolute(namespace, "viewer")
    found = [s for s in sections(read_yaml(file), namespace) if s.is_for(node)]
    assert ["/".join(map(str, section.key[:-1])) for section in found] == expected


def test_in_a_namespace_rcl_gets_absolute_names_and_the_rest_unchanged(file: Path) -> None:
    words = ["prog", "--ros-args", "--params-file", str(file), "-r", "__ns:=/left"]
    with for_rcl(words) as given:
        copy = Path(given[3])
        content = yaml.safe_load(copy.read_text(encoding="utf-8"))
        assert given[:3] + given[4:] == words[:3] + words[4:]
    assert not copy.exists()
    original = yaml.safe_load(FILE)
    assert not {"viewer", "other"} & content.keys()
    assert content["/left/other"] == {"ros__parameters": {"text": "viewer: ü"}}
    assert content["/**"] == original["/**"] and content["/viewer"] == original["/viewer"]


def test_in_the_root_rcl_gets_the_file_itself(file: Path) -> None:
    words = ["prog", "--ros-args", "--params-file", str(file)]
    with for_rcl(words) as given:
        assert given == words


def test_sections_for_no_node_are_named_with_their_lines(file: Path) -> None:
    ((document, left),) = unused([read_yaml(file)], ["/left/viewer"], "/left")
    assert document.name == str(file)
    assert [(s.pattern, s.place.rpartition(":")[2]) for s in left] == [
        ("/viewer", "3"),
        ("/left/other", "13"),
    ]


@pytest.mark.parametrize(
    "text", ["viewer: {port: 1}", "viewer: 1", "left: {viewer: {port: 1}}", "viewer: {}"]
)
def test_a_node_without_parameters_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad.yaml:1: '(left/)?viewer' has no ros__parameters"):
        parameter_files(["prog", "--params-file", str(path)])
