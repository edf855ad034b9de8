"""The rviz configuration names existing classes of rviz and topics of the robot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

# rviz_common/src/rviz_common/panel_factory.cpp and rviz_default_plugins/plugins_description.xml:
# the same in Jazzy, Kilted and Lyrical.
CLASSES = {
    "rviz_common/Displays", "rviz_common/Time", "rviz_common/Views",
    "rviz_default_plugins/Effort", "rviz_default_plugins/Grid", "rviz_default_plugins/Marker",
    "rviz_default_plugins/RobotModel", "rviz_default_plugins/TF",
    "rviz_default_plugins/FocusCamera", "rviz_default_plugins/Measure",
    "rviz_default_plugins/MoveCamera", "rviz_default_plugins/Select", "rviz_default_plugins/Orbit",
}  # fmt: skip


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    path = Path(get_package_share_directory("humanoid_description")) / "rviz/robot.rviz"
    return yaml.safe_load(path.read_text())


def values_of(key: str, node: Any) -> Iterator[Any]:
    """Return all values of `key` at any depth."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and key in node:
        yield node[key]
    for child in children:
        yield from values_of(key, child)


def display(config: dict[str, Any], name: str) -> dict[str, Any]:
    displays = config["Visualization Manager"]["Displays"]
    return next(display for display in displays if display["Class"].endswith(f"/{name}"))


def test_rviz_configuration_names_only_classes_of_rviz(config: dict[str, Any]) -> None:
    assert set(values_of("Class", config)) - {""} == CLASSES


def test_model_efforts_and_status_come_from_the_robots_topics(config: dict[str, Any]) -> None:
    model, effort, marker = (display(config, name) for name in ("RobotModel", "Effort", "Marker"))
    assert model["Description Topic"]["Value"] == "/robot_description"
    assert model["Description Topic"]["Durability Policy"] == "Transient Local"
    assert effort["Robot Description"] == "/robot_description"
    assert effort["Topic"]["Value"] == "/prime/joint_states"
    assert marker["Topic"]["Value"] == "/prime/status_marker"
    assert all(shown["Enabled"] for shown in (model, effort, marker))


def test_the_fixed_frame_is_the_world(config: dict[str, Any]) -> None:
    assert config["Visualization Manager"]["Global Options"]["Fixed Frame"] == "world"
