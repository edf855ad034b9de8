"""The parameters file of one controller."""

from pathlib import Path

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.services.controller_files import controller_of, sentence
from humanoid_controller_manager.switching.lifecycle import Change


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.yaml"


AS_THE_ROBOTS = """
controller_manager:
  ros__parameters:
    own: {type: x/Own, fallback_controllers: [d]}
own:
  ros__parameters: {gain: 1.0}
"""
AS_THE_SPAWNER = """
own:
  ros__parameters: {type: x/Own, fallback_controllers: [d], gain: 1.0}
"""
WITHOUT_PARAMETERS = """
controller_manager:
  ros__parameters:
    own: {type: x/Own, fallback_controllers: [d]}
"""


@pytest.mark.parametrize("text", [AS_THE_ROBOTS, AS_THE_SPAWNER, WITHOUT_PARAMETERS])
def test_type_and_fallbacks_are_found_in_either_section(file: Path, text: str) -> None:
    file.write_text(text)
    name, entry = controller_of(file)
    assert (name, entry.type, entry.fallback_controllers) == ("own", "x/Own", ["d"])
    assert entry.params_file == [str(file)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "expected the parameters of one controller, found: none$"),
        (
            f"{AS_THE_SPAWNER}\nother:\n  ros__parameters: {{type: x/Other}}",
            "expected the parameters of one controller, found: other, own$",
        ),
        ("own:\n  ros__parameters: {gain: 1.0}", "own.yaml: 'own' has no type: name its plugin$"),
        ("own: {gain: 1.0}", "'own' has no ros__parameters mapping"),
        (
            "controller_manager:\n  ros__parameters:\n    update_rate: 50",
            "own.yaml:3: 'update_rate' is the robot's, not a controller's: remove it$",
        ),
        (
            "own:\n  ros__parameters: {type: 7}",
            "own.yaml:2: 'type': Input should be a valid string",
        ),
        ("[", "not valid YAML"),
    ],
)
def test_malformed_controller_file_is_refused_with_its_place(
    file: Path, text: str, message: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        controller_of(file)


def test_the_sections_are_those_of_the_robots_namespace(file: Path) -> None:
    file.write_text(AS_THE_ROBOTS.replace("\nown:", "\n/left/own:"))
    assert controller_of(file, "/left")[0] == "own"
    with pytest.raises(ConfigError, match=r"own.yaml:5: '/left/own' is no controller of the robot"):
        controller_of(file)


def test_parameters_that_ros_gives_every_node_are_accepted(file: Path) -> None:
    file.write_text(f"/**:\n  ros__parameters: {{use_sim_time: true}}\n{AS_THE_ROBOTS}")
    assert controller_of(file)[0] == "own"
    file.write_text(f"/**:\n  ros__parameters: {{gain: 1.0}}\n{AS_THE_ROBOTS}")
    with pytest.raises(ConfigError, match=r"own.yaml:1: '/\*\*' is no controller of the robot"):
        controller_of(file)


def test_a_file_that_is_not_there_is_refused(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"own.yaml: cannot be read"):
        controller_of(file)
    with pytest.raises(ConfigError, match="expected an absolute path"):
        controller_of(Path("own.yaml"))


def test_a_change_is_reported_with_what_is_replaced() -> None:
    assert (
        sentence(Change(Mode.STANDBY, ("a", "b"), ("c", "a"))) == "STANDBY is c, a, in place of b"
    )
    assert sentence(Change(Mode.REMOTE, (), ("c",))) == "REMOTE is c"
    assert sentence(Change(Mode.REMOTE, ("c",), ())) == "no controller of REMOTE is left"
