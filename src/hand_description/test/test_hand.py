"""The description of Hand in every back end."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from humanoid_control_common.robot.robot_description import expand

XACRO = Path(__file__).resolve().parents[1] / "urdf/hand.urdf.xacro"
JOINTS = [f"{side}_finger_j{number}" for side in ("left", "right") for number in (3, 2, 1)]
ROBSTRIDE, MOCK = "humanoid_devices_robstride/RobstrideSystem", "mock_components/GenericSystem"
BLOCKS: dict[tuple[tuple[str, str], ...], list[tuple[str, str, list[str]]]] = {
    (): [("HandLeftCAN", ROBSTRIDE, JOINTS[:3]), ("HandRightCAN", ROBSTRIDE, JOINTS[3:])],
    (("backends", "left_can"),): [
        ("HandLeftCAN", ROBSTRIDE, JOINTS[:3]), ("HandRightMock", MOCK, JOINTS[3:]),
    ],
    (("use_sim", "true"),): [("HandMujoco", "mujoco_ros2_control/MujocoSystem", JOINTS)],
    (("use_fake_hardware", "true"),): [("HandMock", MOCK, JOINTS)],
}  # fmt: skip


@pytest.mark.parametrize("chosen", BLOCKS, ids=str)
def test_each_back_end_has_its_blocks_and_all_joints(chosen: tuple[tuple[str, str], ...]) -> None:
    blocks = fromstring(expand(XACRO, dict(chosen))).findall("ros2_control")
    found = [
        (b.get("name"), b.findtext("hardware/plugin"), [j.get("name") for j in b.findall("joint")])
        for b in blocks
    ]
    assert found == BLOCKS[chosen]
