"""The processes that show the robot, with and without the tools of ROS 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import notes, plan
from humanoid_bringup.robot_package import find_robot
from humanoid_bringup.viewers import view_plan, viewer_processes
from humanoid_control_common.errors import ConfigError

SHOWN: dict[str, Any] = {
    "viewer": True,
    "viewer_host": "127.0.0.1",
    "viewer_port": 0,
    "viewer_token_file": None,
    "rviz": True,
    "namespace": "",
}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Define the installed tools of ROS 2."""

    def set_installed(*packages: str) -> None:
        for module in (viewer_processes, view_plan):
            monkeypatch.setattr(module, "is_installed", lambda package: package in packages)

    set_installed()
    return set_installed


def by_label(processes: list[Process]) -> dict[str, Process]:
    return {process.label: process for process in processes}


def rules(process: Process) -> list[str]:
    words = process.arguments
    return [words[i + 1] for i, word in enumerate(words) if word == "-r"]


def test_tools_that_are_not_installed_are_named_and_the_rest_goes_on(
    installed: Any, tmp_path: Path
) -> None:
    options = Options(backend=Backend.MOCK, robot_state_publisher=True, rviz=True, black_box=False)
    assert list(by_label(plan(options, tmp_path))) == ["control", "viewer"]
    lost, no_rviz = notes(options)
    assert lost.startswith("robot_state_publisher is not installed, so there is no /tf: `sudo apt")
    assert no_rviz.endswith("so there is no rviz: `sudo apt install ros-$ROS_DISTRO-rviz2`")
    assert notes(Options(backend=Backend.MOCK)) == []


@pytest.mark.parametrize(
    ("backend", "simulated"), [(Backend.MOCK, "false"), (Backend.MUJOCO, "true")]
)
def test_tools_that_are_installed_show_the_robot_and_may_end(
    installed: Any, tmp_path: Path, backend: Backend, simulated: str
) -> None:
    installed("robot_state_publisher", "rviz2")
    options = Options(backend=backend, robot_state_publisher=True, rviz=True, black_box=False)
    processes = by_label(plan(options, tmp_path))
    assert list(processes) == ["control", "tf", "rviz", "status", "viewer"]
    assert [p.label for p in processes.values() if p.required] == ["control"]
    assert notes(options) == []
    assert rules(processes["tf"]) == [
        "robot_description:=~/robot_description",
        "joint_states:=prime/joint_states",
    ]
    (file,) = (word for word in processes["tf"].arguments if word.endswith(".yaml"))
    tf = yaml.safe_load(Path(file).read_text())["robot_state_publisher"]["ros__parameters"]
    control = yaml.safe_load(processes["control"].parameter_files[-1].read_text())
    urdf = control["controller_manager"]["ros__parameters"]["robot_description"]
    assert tf["robot_description"] == urdf
    assert f"use_sim_time:={simulated}" in processes["rviz"].arguments
    config = processes["rviz"].arguments[1]
    assert Path(config).name == "robot.rviz" and Path(config).exists()


def test_the_workstation_starts_nothing_that_commands(installed: Any, tmp_path: Path) -> None:
    installed("rviz2")
    processes, notes = view_plan.workstation(find_robot(), {**SHOWN, "simulated": False}, tmp_path)
    assert [process.label for process in processes] == ["rviz", "status", "viewer"]
    assert notes == []
    installed()
    processes, notes = view_plan.workstation(find_robot(), {**SHOWN, "simulated": False}, tmp_path)
    assert [process.label for process in processes] == ["viewer"]
    assert "rviz2 is not installed" in notes[0]


def test_the_model_alone_touches_no_topic_of_a_robot(installed: Any, tmp_path: Path) -> None:
    installed("robot_state_publisher", "rviz2")
    processes, _ = view_plan.model(find_robot(), {**SHOWN, "hardware_config": None}, tmp_path)
    model, *others = processes
    assert (model.executable, rules(model)) == ("still_model", ["__ns:=/view"])
    assert [process.label for process in others] == ["tf", "rviz", "status", "viewer"]
    for process in others:
        moved = dict(rule.split(":=") for rule in rules(process))
        assert {"__ns", "/tf", "/tf_static"} <= set(moved)
        absolute = [target for target in moved.values() if target.startswith("/")]
        assert all(target.startswith("/view") for target in absolute)
    config = Path(by_label(others)["rviz"].arguments[1]).read_text()
    assert "/view/robot_description" in config and "Fixed Frame: world" in config


def test_the_tools_of_a_robot_in_a_namespace_follow_it(installed: Any, tmp_path: Path) -> None:
    installed("robot_state_publisher", "rviz2")
    options = Options(
        backend=Backend.MUJOCO, namespace="/left", robot_state_publisher=True, rviz=True
    )
    processes = by_label(plan(options, tmp_path))
    for label in ("tf", "rviz", "status", "viewer"):
        assert "__ns:=/left" in rules(processes[label])
    assert {processes[name].namespace for name in ("control", "black_box")} == {"/left"}
    tf = yaml.safe_load((tmp_path / "robot_state_publisher.bring_up.yaml").read_text())
    assert tf["/left/robot_state_publisher"]["ros__parameters"]["frame_prefix"] == "left/"
    status = yaml.safe_load((tmp_path / "status_marker.bring_up.yaml").read_text())
    assert status["/left/status_marker"]["ros__parameters"]["frame"] == "left/world"
    assert "/clock:=clock" in rules(processes["rviz"])
    config = yaml.safe_load(Path(processes["rviz"].arguments[1]).read_text())
    shown = config["Visualization Manager"]
    assert shown["Global Options"]["Fixed Frame"] == "left/world"
    assert {d["TF Prefix"] for d in shown["Displays"] if "TF Prefix" in d} == {"left"}
    topics = [d[k]["Value"] for d in shown["Displays"] for k in d if k.endswith("Topic")]
    assert topics == [
        "/left/robot_description",
        "/left/prime/joint_states",
        "/left/prime/status_marker",
    ]


def test_a_plan_without_a_viewer_is_an_error(installed: Any, tmp_path: Path) -> None:
    for chosen in ({"simulated": False}, {"hardware_config": None}):
        start = view_plan.workstation if "simulated" in chosen else view_plan.model
        with pytest.raises(ConfigError, match="nothing to show the robot with"):
            start(find_robot(), {**SHOWN, "viewer": False, **chosen}, tmp_path)
