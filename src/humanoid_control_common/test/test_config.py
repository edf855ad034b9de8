"""Configuration files: every mistake is one sentence with file, line and key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from pydantic import Field

from humanoid_control_common.configuration.config import (
    Document,
    StrictModel,
    load_yaml,
    read_secret,
    read_yaml,
    validate,
)
from humanoid_control_common.errors import ConfigError


class Motor(StrictModel):
    id: int
    gain: float = Field(ge=0.0)
    side: Literal["left", "right"] = "left"


class Robot(StrictModel):
    name: str
    motors: dict[str, Motor]
    poses: list[list[float]] = Field(default_factory=list)


GOOD = """\
name: prime
motors:
  knee:
    id: 3
    gain: 1.5
  hip: {id: 4, gain: 2}
poses:
  - [0.0, 1.0]
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str | bytes) -> Path:
        path = tmp_path / "robot.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def _error(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_yaml(path, Robot)
    return str(caught.value)


def test_a_file_becomes_typed_values(write: Any) -> None:
    robot = load_yaml(write(GOOD), Robot)
    assert robot.motors["hip"].gain == 2.0
    assert list(robot.motors) == ["knee", "hip"]


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("    id: 3", "    id: 3\n    gian: 1", 5, ["unknown key 'motors.knee.gian'"]),
        ("    id: 3", "    id: three", 4, ["'motors.knee.id'", "integer", "'three'"]),
        ("    id: 3", "    id: '3'", 4, ["'motors.knee.id'", "'3'"]),
        ("    id: 3", "    id: 3.0", 4, ["'motors.knee.id'", "3.0"]),
        ("    id: 3", "    id: yes", 4, ["'motors.knee.id'", "True"]),
        ("    id: 3", "    id:", 4, ["'motors.knee.id'", "None"]),
        ("    gain: 1.5", "    gain: -1", 5, ["'motors.knee.gain'", "-1"]),
        ("    gain: 1.5", "    gain: 1.5\n    side: up", 6, ["'motors.knee.side'", "'up'"]),
        ("  hip: {id: 4, gain: 2}", "  hip: {id: 4}", 6, ["'motors.hip.gain' is missing"]),
        (
            "  hip: {id: 4, gain: 2}",
            "  hip: 7",
            6,
            ["'motors.hip': expected a mapping of keys to values (found 7)"],
        ),
        ("name: prime", "name: 7", 1, ["'name'", "string", "7"]),
        ("name: prime\n", "", 1, ["'name' is missing"]),
        ("  - [0.0, 1.0]", "  - [0.0, x]", 8, ["'poses.0.1'", "'x'"]),
        ("    gain: 1.5", "    gain: .inf", 5, ["'motors.knee.gain'", "finite", "inf"]),
        ("    gain: 1.5", "    gain: .nan", 5, ["'motors.knee.gain'", "finite", "nan"]),
        ("  - [0.0, 1.0]", "  - [0.0, .nan]", 8, ["'poses.0.1'", "finite", "nan"]),
    ],
)
def test_a_wrong_value_is_reported_with_file_line_key_and_what_was_found(
    write: Any, old: str, new: str, line: int, expected: list[str]
) -> None:
    assert old in GOOD
    path = write(GOOD.replace(old, new))
    message = _error(path)
    assert message.startswith(f"{path}:{line}: ")
    assert len(message.splitlines()) == 1
    for part in expected:
        assert part in message


def test_every_mistake_gets_its_own_line(write: Any) -> None:
    path = write(GOOD.replace("id: 3", "id: x").replace("name: prime", "nmae: prime"))
    lines = _error(path).splitlines()
    assert len(lines) == 3
    assert sorted(line.split(": ")[0] for line in lines) == [f"{path}:1"] * 2 + [f"{path}:4"]


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("name: a\nname: b\n", 2, "name"),
        ("motors:\n  hip: {id: 1, gain: 1}\n  hip: {id: 2, gain: 1}\n", 3, "hip"),
        ("poses:\n- {a: 1, b: 2, a: 3}\n", 2, "a"),
    ],
)
def test_a_key_given_twice_is_reported_with_its_second_line(
    write: Any, text: str, line: int, key: str
) -> None:
    path = write(text)
    assert _error(path) == f"{path}:{line}: key '{key}' given twice"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: prime\nmotors: [1, 2\n", 3),
        ("name: prime\n\tmotors: 1\n", 2),
        ("name: prime\n  motors: 1\n", 2),
        ("name: 'prime\n", 2),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: *missing\n", 1),
        ("a: !!python/object:os.system {}\n", 1),
        ("? [a, b]\n: 1\n", 1),
    ],
)
def test_a_file_that_is_not_yaml_is_reported_with_file_and_line(
    write: Any, text: str, line: int
) -> None:
    path = write(text)
    message = _error(path)
    assert message.startswith(f"{path}:")
    assert "not valid YAML" in message
    assert abs(int(message.removeprefix(f"{path}:").split(":")[0]) - line) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "a: 2001-99-99",
        "a: !!int abc",
        "a: !!float abc",
        "a: !!timestamp abc",
        "a: !!binary é",
        "a: \0",
        "a: &a [*a]",
        "a: &a {b: *a}",
    ],
)
def test_values_that_yaml_cannot_make_sense_of_are_reported_with_the_file(
    write: Any, text: str
) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        read_yaml(path)
        load_yaml(path, Robot)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "---\n", "- 1\n", "7\n"])
def test_a_file_without_a_mapping_is_reported_as_such(write: Any, text: str) -> None:
    path = write(text)
    message = _error(path)
    assert message.startswith(str(path))
    assert "'(top level)': expected a mapping of keys to values (found " in message


def test_a_file_that_is_not_utf8_cannot_be_read(write: Any) -> None:
    path = write("name: Zürich\n".encode("latin-1"))
    message = _error(path)
    assert message.startswith(f"{path}: cannot be read")
    assert "utf-8" in message


def test_a_file_that_does_not_exist_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.yaml"
    assert _error(path) == f"{path}: cannot be read: No such file or directory"


def test_a_directory_cannot_be_read(tmp_path: Path) -> None:
    assert _error(tmp_path).startswith(f"{tmp_path}: cannot be read")


def test_anchors_may_be_used(write: Any) -> None:
    text = "name: x\nmotors:\n  a: &m {id: 1, gain: 1}\n  b: *m\n  c: {<<: *m, id: 2}\n"
    motors = load_yaml(write(text), Robot).motors
    assert [motors[name].id for name in "abc"] == [1, 1, 2]


def test_values_cannot_be_changed_afterwards(write: Any) -> None:
    robot = load_yaml(write(GOOD), Robot)
    with pytest.raises(ValueError, match="frozen"):
        robot.name = "other"  # type: ignore[misc]


def test_a_document_without_places_is_reported_by_its_name() -> None:
    with pytest.raises(ConfigError, match=r"^parameters of x: 'name' is missing"):
        validate(Robot, Document("parameters of x", {"motors": {}}))


def test_a_key_without_a_place_gets_that_of_its_nearest_parent() -> None:
    document = Document("file", {}, {("a",): "file:3", (): "file:1"})
    assert document.where(("a", "b", "c")) == "file:3"
    assert document.where(("x",)) == "file:1"


def test_an_alias_stands_for_its_value(write: Any) -> None:
    text = "name: x\nmotors:\n  knee: &motor {id: 3, gain: 1.5}\n  hip: *motor\n"
    assert load_yaml(write(text), Robot).motors["hip"].gain == 1.5


BOMB = "\n".join(
    ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
)
MERGED = "\n".join(
    ["a0: &a0 {k: 1}"]
    + [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 12)]
)


@pytest.mark.parametrize("text", [BOMB, MERGED])
def test_aliases_that_stand_for_too_many_values_are_refused_by_line(write: Any, text: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError, match="each alias counts with all its values") as caught:
        read_yaml(path)
    assert str(caught.value).startswith(f"{path}:")
    assert str(caught.value).split(":")[1].isdigit()


@pytest.mark.parametrize("key", ["7", "1.5", "on", "no", "null", "2026-11-27"])
def test_keys_that_yaml_does_not_read_as_text_are_refused_by_line(write: Any, key: str) -> None:
    path = write(f"a: 1\n{key}: 2\n")
    assert _error(path).startswith(f"{path}:2: key '{key}' is no text in YAML")
    assert read_yaml(write(f'a: 1\n"{key}": 2\n')).content == {"a": 1, key: 2}


@pytest.mark.parametrize("number", ["1:50", "1:30:00", "1:30.5", "022", "-010"])
def test_numbers_that_yaml_reads_in_another_base_are_refused_by_line(
    write: Any, number: str
) -> None:
    path = write(f"a: 1\ngear: [{number}]\n")
    assert _error(path).startswith(f"{path}:2: YAML takes {number} for a number in base 60 or 8")


@pytest.mark.parametrize("value", ["0", "0x16", "0.5", "-0.0", "1_000", "'1:50'", "2026-11-28"])
def test_other_numbers_and_texts_are_read(write: Any, value: str) -> None:
    assert read_yaml(write(f"a: {value}\n")).content == {"a": yaml.safe_load(value)}


def test_merged_mappings_are_read(write: Any) -> None:
    assert read_yaml(write("a: &a {b: 1}\nc: {<<: *a}\n")).content["c"] == {"b": 1}


def test_aliases_in_a_key_are_refused_by_line(write: Any) -> None:
    path = write(f"{BOMB}\n? *a19\n: 1\n".replace("[1, 1, 1", "[2, 2, 2"))
    with pytest.raises(ConfigError):
        read_yaml(path)
    assert ":2: not valid YAML: a list or mapping as a key" in _error(
        write("a: &a [1]\n? [*a, *a]\n: 1\n")
    )


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: " + "[" * 200])
def test_endless_nesting_is_refused(write: Any, text: str) -> None:
    with pytest.raises(ConfigError):
        read_yaml(write(text))


def test_nesting_is_refused_before_the_c_parser_descends(write: Any) -> None:
    with pytest.raises(ConfigError, match="nested more than 32 levels deep"):
        read_yaml(write("[" * 100_000))


def test_a_large_file_is_refused(write: Any) -> None:
    path = write(f"# {'x' * 4_000_000}\n")
    with pytest.raises(ConfigError, match=f"{path}: larger than 4 MB"):
        read_yaml(path)


def test_a_device_and_a_pipe_are_refused_unread(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        with pytest.raises(ConfigError, match=f"{path}: no regular file"):
            read_yaml(path)


def test_a_large_wrong_value_is_cut_in_the_message(write: Any) -> None:
    assert len(_error(write(f"name: [{'1, ' * 5000}1]\nmotors: {{}}\n"))) < 500


@pytest.mark.parametrize(("mode", "warned"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1)])
def test_a_secret_that_others_can_read_is_read_and_the_remedy_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, warned: int
) -> None:
    path = tmp_path / "token"
    path.write_text("xyzzy")
    path.chmod(mode)
    assert read_secret(path) == "xyzzy"
    assert [f"`chmod 600 {path}`" in it.getMessage() for it in caplog.records] == [True] * warned
    assert "xyzzy" not in caplog.text
