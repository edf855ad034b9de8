"""Lite's bring-up: its processes, its options, and its refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import notes, plan
from humanoid_bringup.preflight.findings import NotReadyError
from humanoid_bringup.preflight.ready import require_buses
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_twin.robot.actuators import load_actuators

LITE = find_robot("lite")
CHANNELS = "left_can=/no/left,right_can=/no/right"


def lite(backend: Backend = Backend.REAL, **others: Any) -> Options:
    return Options(backend=backend, robot=LITE, viewer=False, **others)


@pytest.mark.parametrize("backend", list(Backend))
def test_no_process_but_those_of_every_robot_is_started(backend: Backend, tmp_path: Path) -> None:
    labels = [process.label for process in plan(lite(backend), tmp_path)]
    around = (["robot"], ["truth"]) if backend is Backend.TWIN else ([], [])
    assert labels == ["black_box", *around[0], "control", *around[1]]


def test_the_virtual_robot_answers_where_the_components_open_their_buses(tmp_path: Path) -> None:
    _, robot, control, _ = plan(lite(Backend.TWIN), tmp_path)
    words = list(robot.arguments)
    places = [words[i + 1] for i, word in enumerate(words) if word == "--can"]
    (own,) = (it for it in control.parameter_files if it.stem == "controller_manager.bring_up")
    parameters = yaml.safe_load(own.read_text())["controller_manager"]["ros__parameters"]
    blocks = parse_robot_description(parameters["robot_description"], 200.0).blocks
    channels = [block.parameters["channel"] for block in blocks]
    assert places == [f"left_can={channels[0]}", f"right_can={channels[1]}"]
    assert "--ring" not in words
    assert parameters["update_rate"] == 200


def test_the_virtual_robot_has_the_motors_of_the_hardware_file() -> None:
    hardware = yaml.safe_load(LITE.drives.hardware.read_text())["joints"]
    for bus, rows in load_actuators(LITE.drives.virtual_robot).can.items():
        found = {row.joint: {"id": row.id, "model": row.model} for row in rows}
        assert found == hardware[bus]


def test_an_absent_bus_is_mocked_and_reported() -> None:
    (text, _) = notes(lite(backends="left_can"))
    assert text == (
        "backends:=left_can: seven motors of the right arm are mocked, "
        "only the seven motors of the left arm are real"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backends": "ec"}, "backends is 'ec'; Lite has all, left_can, right_can"),
        ({"ethercat_interface": "eth0"}, "Lite has no EtherCAT ring"),
        ({"can_channel": "can0"}, "CAN buses of Lite are left_can, right_can"),
        ({"can_channel": "can=can0"}, "CAN buses of Lite are left_can, right_can"),
        ({"can_channel": "left_can=a,left_can=b"}, "expected BUS=CHANNEL"),
        ({"can_channel": "left_can="}, "expected BUS=CHANNEL"),
    ],
)
def test_options_for_other_buses_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        lite(**options)


@pytest.mark.parametrize(
    ("backends", "named"), [("all", ["left", "right"]), ("right_can", ["right"])]
)
def test_every_absent_adapter_is_named_before_anything_starts(
    backends: str, named: list[str]
) -> None:
    options = lite(can_interface="slcan", can_channel=CHANNELS, backends=backends)
    with pytest.raises(NotReadyError) as refused:
        require_buses(options)
    assert [
        side for side in ("left", "right") if f"CAN slcan /no/{side}:" in str(refused.value)
    ] == named


@pytest.mark.parametrize("name", ["light", "", "../prime", "."])
def test_an_unknown_robot_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(
        ConfigError, match=f"there is no robot '{name}'; installed: hand, lite, prime"
    ):
        find_robot(name)


def test_a_hardware_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "hardware.yaml"
    file.write_text("joints: [")
    with pytest.raises(ConfigError, match=rf"^{file}:2: not valid YAML"):
        find_robot("lite").expand({"hardware_config": str(file)})
