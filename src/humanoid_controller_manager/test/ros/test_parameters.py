"""ROS parameters as typed values with the place of their definition."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import Field

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_controller_manager.ros.parameters import (
    ManagerParameters,
    controller_entry,
    manager_parameters,
    node_document,
    parse,
)

YAML = """\
controller_manager:
  ros__parameters:
    update_rate: 50
    initial_controller: zebra
    safe_controllers: [zebra]
    zebra:
      type: x/Zebra
    ape:
      type: x/Ape
      fallback_controllers: [zebra]
    mule:
      type: x/Mule
zebra:
  ros__parameters:
    gain: 1.0
"""
GIVEN: dict[str, Any] = {  # as from ROS: dotted names in any order
    "ape.fallback_controllers": ["zebra"],
    "ape.type": "x/Ape",
    "initial_controller": "zebra",
    "mule.type": "x/Mule",
    "robot_description": "<robot/>",
    "safe_controllers": ["zebra"],
    "update_rate": 50,
    "use_sim_time": False,
    "zebra.type": "x/Zebra",
}


def _files(tmp_path: Path, text: str = YAML) -> list[Document]:
    path = tmp_path / "controllers.yaml"
    path.write_text(text)
    return parameter_files(["prog", "--ros-args", "--params-file", str(path)])


def _manager(
    tmp_path: Path, text: str = YAML, remove: str = "", **changes: Any
) -> ManagerParameters:
    given = {**GIVEN, **changes}
    given.pop(remove, None)
    files = _files(tmp_path, text)
    return manager_parameters(node_document("controller_manager", given, files))


def test_the_managers_parameters_are_typed(tmp_path: Path) -> None:
    parameters = _manager(tmp_path)
    assert parameters.update_rate == 50
    assert parameters.controllers["ape"].fallback_controllers == ["zebra"]
    assert parameters.controllers["zebra"].fallback_controllers == []


@pytest.mark.parametrize("prefix", ["controller_manager", "/**", "/controller_manager"])
def test_controllers_come_up_in_the_order_of_the_file(tmp_path: Path, prefix: str) -> None:
    """ROS accepts all three names of the node in a parameters file."""
    text = YAML.replace("controller_manager", prefix, 1)
    assert list(_manager(tmp_path, text).controllers) == ["zebra", "ape", "mule"]


def test_speeds_that_trip_are_a_factor_of_the_limits_or_given_for_single_joints(
    tmp_path: Path,
) -> None:
    joints, ones = JointSet(("a", "b")), np.ones(2)
    limits = JointLimits(-ones, ones, 4.0 * ones, ones)
    changes = {"velocity_safety_factor": 1.5, "velocity_safety_limits.b": 5.0}
    assert _manager(tmp_path).velocity_safety_limit(joints, limits).tolist() == [8.0, 8.0]
    given = _manager(tmp_path, **changes)
    assert given.velocity_safety_limit(joints, limits).tolist() == [6.0, 5.0]
    far = _manager(tmp_path, **{"velocity_safety_limits.b": 41.0})
    with pytest.raises(ConfigError, match="b is 41 rad/s, expected at most 40 rad/s"):
        far.velocity_safety_limit(joints, limits)
    with pytest.raises(ConfigError, match="'velocity_safety_limits': unknown joint b"):
        given.velocity_safety_limit(JointSet(("a", "c")), limits)


def test_a_joint_with_dots_in_its_name_has_values_of_its_own(tmp_path: Path) -> None:
    joints, ones = JointSet(("a.1", "b.2.x", "c")), np.ones(3)
    limits = JointLimits(-ones, ones, 4.0 * ones, 9.0 * ones)
    changes = {
        "velocity_safety_limits.a.1": 5.0,
        "velocity_safety_limits.b.2.x": 6.0,
        "velocity_safety_limits.c": 7.0,
        "static_frictions.a.1": 0.5,
    }
    given = _manager(tmp_path, **changes)
    assert given.velocity_safety_limit(joints, limits).tolist() == [5.0, 6.0, 7.0]
    assert given.static_friction(joints, limits).tolist() == [0.5, 1.0, 1.0]


def test_static_frictions_are_a_ninth_of_the_effort_limit_or_given_for_single_joints(
    tmp_path: Path,
) -> None:
    joints, ones = JointSet(("a", "b")), np.ones(2)
    limits = JointLimits(-ones, ones, ones, np.array([9.0, 20.0]))
    assert _manager(tmp_path).static_friction(joints, limits).tolist() == [1.0, 20.0 / 9.0]
    given = _manager(tmp_path, **{"static_frictions.b": 0.5})
    assert given.static_friction(joints, limits).tolist() == [1.0, 0.5]
    with pytest.raises(ConfigError, match="'static_frictions': unknown joint b"):
        given.static_friction(JointSet(("a", "c")), limits)


@pytest.mark.parametrize(
    ("friction", "fits"),
    [(0.19, False), (0.2, True), (10.0, True), (10.1, False), (-1.0, False), (1e9, False)],
)
def test_a_static_friction_that_fits_no_joint_of_this_effort_is_refused(
    tmp_path: Path, friction: float, fits: bool
) -> None:
    joints, ones = JointSet(("a",)), np.ones(1)
    given = _manager(tmp_path, **{"static_frictions.a": friction})
    limits = JointLimits(-ones, ones, ones, np.array([20.0]))
    if fits:
        assert given.static_friction(joints, limits).tolist() == [friction]
    else:
        with pytest.raises(ConfigError, match=r"'static_frictions': a is .* 0.2 to 10 Nm"):
            given.static_friction(joints, limits)


def test_controllers_of_no_file_come_last(tmp_path: Path) -> None:
    parameters = _manager(tmp_path, **{"aardvark.type": "x/A"})
    assert list(parameters.controllers) == ["zebra", "ape", "mule", "aardvark"]


def test_a_later_file_adds_to_an_earlier_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(YAML)
    second.write_text("controller_manager: {ros__parameters: {lion: {type: x/Lion}}}\n")
    arguments = ["x", "--params-file", str(first), "--params-file", str(second)]
    given = {**GIVEN, "lion.type": "x/Lion"}
    document = node_document("controller_manager", given, parameter_files(arguments))
    assert list(manager_parameters(document).controllers) == ["zebra", "ape", "mule", "lion"]


@pytest.mark.parametrize(
    ("changes", "line", "expected"),
    [
        ({"update_rate": "fast"}, 3, ["'update_rate'", "'fast'"]),
        ({"update_rate": 50.0}, 3, ["'update_rate'", "50.0"]),
        ({"update_rate": 0}, 3, ["'update_rate'", "greater than or equal to 20"]),
        ({"update_rate": 1_000_000}, 3, ["'update_rate'", "less than or equal to 2000"]),
        ({"velocity_safety_factor": 1e9}, 2, ["'velocity_safety_factor'", "equal to 10"]),
        ({"safe_controllers": []}, 5, ["'safe_controllers'"]),
        ({"safe_controllers": "zebra"}, 5, ["'safe_controllers'", "list"]),
        ({"velocity_safety_factor": 1.0}, 2, ["'velocity_safety_factor'", "greater than 1"]),
        ({"velocity_safety_limits.a": -1.0}, 2, ["a is -1 rad/s, expected a positive number"]),
        ({"zebra.type": 7}, 7, ["zebra.type", "7"]),
        ({"ape.fallback_controllers": "zebra"}, 10, ["ape.fallback_controllers", "list"]),
        ({"mule.speed": 3}, 11, ["unknown key", "mule.speed"]),
    ],
)
def test_a_wrong_parameter_is_reported_with_file_line_and_key(
    tmp_path: Path, changes: Any, line: int, expected: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        _manager(tmp_path, **changes)
    message = str(caught.value)
    assert f"controllers.yaml:{line}: " in message
    assert message.startswith("controller_manager: ")
    for part in expected:
        assert part in message


def test_a_controller_without_a_type_is_reported_with_its_line(tmp_path: Path) -> None:
    text = YAML.replace("      type: x/Ape\n", "")
    with pytest.raises(ConfigError, match=r"controllers.yaml:8: .*ape.type' is missing"):
        _manager(tmp_path, text, remove="ape.type")


@pytest.mark.parametrize("name", ["update_rate", "robot_description", "initial_controller"])
def test_a_missing_parameter_is_reported(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"'{name}' is missing"):
        _manager(tmp_path, remove=name)


def test_an_unknown_parameter_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown key 'updaet_rate'"):
        _manager(tmp_path, updaet_rate=3)


def test_a_manager_without_controllers_is_refused(tmp_path: Path) -> None:
    given = {k: v for k, v in GIVEN.items() if "." not in k}
    with pytest.raises(ConfigError, match="no controller is configured"):
        manager_parameters(node_document("controller_manager", given, _files(tmp_path)))


class Gains(StrictModel):
    stiffness: float


class Controller(StrictModel):
    gains: Gains
    pose: list[float] = Field(default_factory=list)


def test_nested_and_dotted_names_are_the_same(tmp_path: Path) -> None:
    text = "arm:\n  ros__parameters:\n    gains.stiffness: 3\n    pose: [1.0]\n"
    files = _files(tmp_path, text)
    document = node_document("arm", {"gains.stiffness": 3.0, "pose": array("d", [1.0])}, files)
    parameters = parse(Controller, "arm", document)
    assert (parameters.gains.stiffness, parameters.pose) == (3.0, [1.0])
    assert document.where(("gains", "stiffness")).endswith("controllers.yaml:3")


def test_parameters_every_node_has_are_left_out() -> None:
    given = {
        "use_sim_time": True,
        "start_type_description_service": True,
        "qos_overrides./clock.subscription.depth": 1,
        "gains.stiffness": 1.0,
    }
    assert node_document("arm", given, []).content == {"gains": {"stiffness": 1.0}}


def test_a_wrong_parameter_of_a_controller_is_reported_with_its_name_and_place(
    tmp_path: Path,
) -> None:
    text = "arm:\n  ros__parameters:\n    gains:\n      stiffness: stiff\n"
    document = node_document("arm", {"gains.stiffness": "stiff"}, _files(tmp_path, text))
    with pytest.raises(ConfigError) as caught:
        parse(Controller, "arm", document)
    assert str(caught.value).startswith("arm: ")
    assert "controllers.yaml:4: 'gains.stiffness'" in str(caught.value)


def test_a_wildcard_gives_places_to_every_node(tmp_path: Path) -> None:
    text = "/**:\n  ros__parameters:\n    gains: {stiffness: x}\n"
    document = node_document("arm", {"gains.stiffness": "x"}, _files(tmp_path, text))
    with pytest.raises(ConfigError, match=r"controllers.yaml:3: 'gains.stiffness'"):
        parse(Controller, "arm", document)


def test_places_of_other_nodes_are_not_mixed_up(tmp_path: Path) -> None:
    text = "leg:\n  ros__parameters:\n    gains: {stiffness: 1.0}\n"
    document = node_document("arm", {"gains.stiffness": "x"}, _files(tmp_path, text))
    with pytest.raises(ConfigError, match=r"^arm: parameters of arm: 'gains.stiffness'"):
        parse(Controller, "arm", document)


@pytest.mark.parametrize("name", ["arm.left", "use_sim_time", "qos_overrides"])
def test_a_name_that_no_controller_can_have_is_reported(name: str) -> None:
    with pytest.raises(ConfigError, match=f"'{name}' can not be the name of a controller"):
        controller_entry(name, {f"{name}.type": "x/X"}, [])


@pytest.mark.parametrize("given", [{"a": 1, "a.b": 2}, {"a.b": 2, "a": 1}], ids=["1", "2"])
def test_a_name_that_is_value_and_group_at_once_is_reported(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="'a'"):
        node_document("arm", given, [])


def test_a_broken_file_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"controllers.yaml:\d: not valid YAML"):
        _files(tmp_path, "a: [1\n")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.yaml: cannot be read"):
        parameter_files(["x", "--params-file", str(tmp_path / "nowhere.yaml")])


def test_a_command_line_without_files_has_none() -> None:
    assert parameter_files(["x", "--ros-args", "-p", "a:=1"]) == []


def test_an_empty_list_is_refused_with_its_place(tmp_path: Path) -> None:
    """ROS has no type for it: the node would fail to start."""
    with pytest.raises(
        ConfigError, match=r"controllers.yaml:15: 'joints' of zebra is empty, which"
    ):
        _files(tmp_path, YAML.replace("gain: 1.0", "joints: []"))


@pytest.mark.parametrize("values", ["[0.5, -1]", "[-1, 0.5]"])
def test_a_list_of_whole_numbers_and_others_is_refused_with_its_place(
    tmp_path: Path, values: str
) -> None:
    """ROS has no type for it: the node would fail to start, with a message without a key."""
    message = (
        r"controllers.yaml:15: 'gains' of zebra has whole numbers .*: write -1.0 instead of -1"
    )
    with pytest.raises(ConfigError, match=message):
        _files(tmp_path, YAML.replace("gain: 1.0", f"gains: {values}"))


def test_gains_of_held_joints_are_given_together(tmp_path: Path) -> None:
    both = {"hold_stiffness": 20.0, "hold_damping": 2.0}
    assert _manager(tmp_path, **both).hold_gains == (20.0, 2.0)
    assert _manager(tmp_path).hold_gains is None
    with pytest.raises(ConfigError, match="hold_stiffness and hold_damping belong together"):
        _manager(tmp_path, hold_stiffness=20.0)
    with pytest.raises(ConfigError, match="'hold_damping': Input should be greater than 0"):
        _manager(tmp_path, hold_stiffness=20.0, hold_damping=0.0)
