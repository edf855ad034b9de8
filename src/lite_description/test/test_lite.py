"""The description of Lite in every back end, and hardware files that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
import yaml
from test_support.arm_joints import ALL_JOINTS, ARM

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_description import expand, share_folder

XACRO = Path(__file__).resolve().parents[1] / "urdf/lite.urdf.xacro"
ROBSTRIDE, MOCK = "humanoid_devices_robstride/RobstrideSystem", "mock_components/GenericSystem"
BLOCKS: dict[tuple[tuple[str, str], ...], list[tuple[str, str, int]]] = {
    (): [("LiteLeftCAN", ROBSTRIDE, 7), ("LiteRightCAN", ROBSTRIDE, 7)],
    (("backends", "left_can"),): [("LiteLeftCAN", ROBSTRIDE, 7), ("LiteRightMock", MOCK, 7)],
    (("backends", "right_can"),): [("LiteRightCAN", ROBSTRIDE, 7), ("LiteLeftMock", MOCK, 7)],
    (("use_sim", "true"),): [("LiteMujoco", "mujoco_ros2_control/MujocoSystem", 14)],
    (("use_fake_hardware", "true"),): [("LiteMock", MOCK, 14)],
}


def lite(**arguments: str) -> Element:
    return fromstring(expand(XACRO, arguments))


@pytest.mark.parametrize("chosen", BLOCKS, ids=str)
def test_each_back_end_has_its_blocks_and_all_joints(chosen: tuple[tuple[str, str], ...]) -> None:
    blocks = lite(**dict(chosen)).findall("ros2_control")
    found = [
        (b.get("name"), b.findtext("hardware/plugin"), len(b.findall("joint"))) for b in blocks
    ]
    assert found == BLOCKS[chosen]
    names = [str(j.get("name")) for b in blocks for j in b.findall("joint")]
    assert sorted(names) == sorted(ALL_JOINTS)


def test_each_bus_has_its_own_channel() -> None:
    robot = lite(left_can_channel="here", right_can_interface="slcan")
    found = {
        block.get("name"): {p.get("name"): p.text for p in block.findall("hardware/param")}
        for block in robot.findall("ros2_control")
    }
    assert (found["LiteLeftCAN"]["interface"], found["LiteLeftCAN"]["channel"]) == (
        "socketcan",
        "here",
    )
    assert (found["LiteRightCAN"]["interface"], found["LiteRightCAN"]["channel"]) == (
        "slcan",
        "can1",
    )


def test_the_right_arm_mirrors_the_left_one() -> None:
    robot = lite()
    for part in ARM:
        ends = [
            (float(limit.get("lower", "")), float(limit.get("upper", "")))
            for side in ("left", "right")
            if (limit := robot.find(f"joint[@name='{side}_{part}']/limit")) is not None
        ]
        left, right = ends
        assert right == (left if part.endswith("pitch") else (-left[1], -left[0]))


Edit = Callable[[dict[str, Any]], object]
EDITS: dict[str, tuple[Edit, str]] = {
    "one bus missing": (lambda h: h["buses"].pop("right_can"), "buses.right_can is None, expected"),
    "no channel": (
        lambda h: h["buses"]["left_can"].pop("channel"),
        r"buses.left_can: missing \['channel'\]",
    ),
    "joint without motor": (
        lambda h: h["joints"]["left_can"].pop("left_wrist_yaw"),
        r"joints.left_can and joints.right_can: missing \['left_wrist_yaw'\]",
    ),
    "joint on both buses": (
        lambda h: h["joints"]["right_can"].update(left_wrist_yaw={"id": 30, "model": "rs-05"}),
        r"\['left_wrist_yaw'\] is in joints.left_can and in joints.right_can",
    ),
    "same id on a bus": (
        lambda h: h["joints"]["left_can"]["left_wrist_yaw"].update(id=11),
        "joints.left_can: left_shoulder_pitch, left_wrist_yaw have the same id",
    ),
    "unknown section": (lambda h: h.update(limits={}), r"top level: unknown \['limits'\]"),
    "unknown bus": (lambda h: h["buses"].update(can3={}), r"buses: unknown \['can3'\]"),
    "unknown table": (lambda h: h["joints"].update(legs={}), r"joints: unknown \['legs'\]"),
    "unknown key of a bus": (
        lambda h: h["buses"]["left_can"].update(guard_timeout=0.5),
        r"buses.left_can: unknown \['guard_timeout'\]",
    ),
    "unknown key": (
        lambda h: h["joints"]["left_can"]["left_wrist_yaw"].update(torque=3),
        r"joints.left_can.left_wrist_yaw: unknown \['torque'\]",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_hardware_file_that_contradicts_itself_is_refused(name: str, tmp_path: Path) -> None:
    shipped = share_folder("humanoid_bringup_lite") / "config/lite_hardware.yaml"
    hardware, (edit, message) = yaml.safe_load(shipped.read_text()), EDITS[name]
    edit(hardware)
    path = tmp_path / "hardware.yaml"
    path.write_text(yaml.safe_dump(hardware, sort_keys=False))
    with pytest.raises(ConfigError, match=message):
        lite(hardware_config=str(path))
