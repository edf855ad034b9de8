"""The <ros2_control> blocks against the documents' topology, in every back end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element, canonicalize, fromstring, tostring

import pytest
import yaml

Urdf = Callable[[str], Element]

# The documents' table: joint, family, address (ring position or CAN id) on the left and right arm.
TOPOLOGY = [
    ("shoulder_pitch", "eRob", 0, 5),
    ("shoulder_roll", "eRob", 1, 6),
    ("shoulder_yaw", "eRob", 2, 7),
    ("elbow_pitch", "eRob", 3, 8),
    ("wrist_roll", "Sito", 22, 38),
    ("wrist_pitch", "Sito", 23, 39),
    ("wrist_yaw", "eRob", 4, 9),
]
ROWS = [
    (f"{side}_{part}", family, (left, right)[index])
    for index, side in enumerate(("left", "right"))
    for part, family, left, right in TOPOLOGY
]
ALL_JOINTS = [joint for joint, _, _ in ROWS]
FAMILIES = {
    "eRob": ("PrimeEtherCATSide", "ring_position", "eRob70_V4_MC2"),
    "Sito": ("PrimeSitoCAN", "can_id", "TA40-50"),
}
BLOCKS = {
    "real": [
        ("PrimeEtherCATSide", "ethercat_driver/EthercatDriver", 10),
        ("PrimeSitoCAN", "humanoid_devices_sito/SitoSystem", 4),
    ],
    "real ec": [
        ("PrimeEtherCATSide", "ethercat_driver/EthercatDriver", 10),
        ("PrimeCANMock", "mock_components/GenericSystem", 4),
    ],
    "real can": [
        ("PrimeSitoCAN", "humanoid_devices_sito/SitoSystem", 4),
        ("PrimeEtherCATMock", "mock_components/GenericSystem", 10),
    ],
    "sim": [("PrimeMujoco", "mujoco_ros2_control/MujocoSystem", 14)],
    "sim wins": [("PrimeMujoco", "mujoco_ros2_control/MujocoSystem", 14)],
    "mock": [("PrimeMock", "mock_components/GenericSystem", 14)],
}
COMMANDS = ["position", "velocity", "effort", "stiffness", "damping"]
STATES = ["position", "velocity", "effort"]


def params(element: Element) -> dict[str, str]:
    return {str(p.get("name")): str(p.text) for p in element.findall("param")}


def block(robot: Element, name: str) -> Element:
    found = [b for b in robot.findall("ros2_control") if b.get("name") == name]
    assert len(found) == 1
    return found[0]


def hardware_params(robot: Element, name: str) -> dict[str, str]:
    hardware = block(robot, name).find("hardware")
    assert hardware is not None
    return params(hardware)


@pytest.mark.parametrize(("joint", "family", "address"), ROWS, ids=ALL_JOINTS)
def test_each_row_of_the_topology_table_is_on_its_bus_at_its_address(
    urdf: Urdf, joint: str, family: str, address: int
) -> None:
    robot = urdf("real")
    name, key, model = FAMILIES[family]
    holders = [
        b.get("name")
        for b in robot.findall("ros2_control")
        if b.find(f"joint[@name='{joint}']") is not None
    ]
    assert holders == [name]
    element = block(robot, name).find(f"joint[@name='{joint}']")
    assert element is not None
    assert params(element)[key] == str(address)
    assert params(element)["model"] == model


@pytest.mark.parametrize("joint", [joint for joint, family, _ in ROWS if family == "eRob"])
def test_each_erob_has_the_torque_constant_of_its_model_and_gear_50(urdf: Urdf, joint: str) -> None:
    element = block(urdf("real"), "PrimeEtherCATSide").find(f"joint[@name='{joint}']")
    assert element is not None
    assert float(params(element)["kt"]) == 0.132e-3
    assert float(params(element)["gear"]) == 50


@pytest.mark.parametrize("back_end", BLOCKS)
def test_back_end_has_exactly_the_documented_blocks(urdf: Urdf, back_end: str) -> None:
    found = [
        (b.get("name"), b.findtext("hardware/plugin"), len(b.findall("joint")))
        for b in urdf(back_end).findall("ros2_control")
    ]
    assert found == BLOCKS[back_end]
    assert all(b.get("type") == "system" for b in urdf(back_end).findall("ros2_control"))


@pytest.mark.parametrize("back_end", BLOCKS)
def test_every_joint_has_five_command_and_three_state_interfaces(urdf: Urdf, back_end: str) -> None:
    joints = urdf(back_end).findall("ros2_control/joint")
    assert sorted(str(j.get("name")) for j in joints) == sorted(ALL_JOINTS)
    for joint in joints:
        assert [i.get("name") for i in joint.findall("command_interface")] == COMMANDS
        assert [i.get("name") for i in joint.findall("state_interface")] == STATES


@pytest.mark.parametrize("back_end", BLOCKS)
def test_every_joint_has_largest_gains_above_those_of_the_modes(urdf: Urdf, back_end: str) -> None:
    for joint in urdf(back_end).findall("ros2_control/joint"):
        for gain, most_of_modes in (("stiffness", 20.0), ("damping", 6.0)):
            found = joint.findtext(f"command_interface[@name='{gain}']/param[@name='max']")
            assert float(str(found)) > most_of_modes


@pytest.mark.parametrize("back_end", BLOCKS)
def test_blocks_and_kinematics_follow_the_order_of_all_joints(
    urdf: Urdf, config_folder: Path, back_end: str
) -> None:
    robot = urdf(back_end)
    hardware = yaml.safe_load((config_folder / "prime_hardware.yaml").read_text())
    assert hardware["joints"]["all_joints"] == ALL_JOINTS
    moving = [j.get("name") for j in robot.findall("joint") if j.get("type") == "revolute"]
    assert moving == ALL_JOINTS
    for element in robot.findall("ros2_control"):
        order = [ALL_JOINTS.index(str(j.get("name"))) for j in element.findall("joint")]
        assert order == sorted(order)


def test_real_blocks_name_their_bus_and_files(urdf: Urdf, config_folder: Path) -> None:
    calibration = str(config_folder / "prime_calibration.yaml")
    hardware = str(config_folder / "prime_hardware.yaml")
    assert hardware_params(urdf("real"), "PrimeEtherCATSide") == {
        "master_id": "0",
        "interface": "eth0",
        "vendor_id": str(0x5A65726F),
        "product_code": str(0x00029252),
        "activation_timeout": "5.0",
        "hardware_file": hardware,
        "calibration_file": calibration,
    }
    assert hardware_params(urdf("real"), "PrimeSitoCAN") == {
        "interface": "socketcan",
        "channel": "can2",
        "bitrate": "1000000",
        "hardware_file": hardware,
        "calibration_file": calibration,
    }


@pytest.mark.parametrize(
    ("back_end", "name"), [("real ec", "PrimeEtherCATSide"), ("real can", "PrimeSitoCAN")]
)
def test_a_bus_is_described_alike_whether_the_other_one_is_there_or_not(
    urdf: Urdf, back_end: str, name: str
) -> None:
    alone, together = block(urdf(back_end), name), block(urdf("real"), name)
    assert canonicalize(tostring(alone, "unicode"), strip_text=True) == canonicalize(
        tostring(together, "unicode"), strip_text=True
    )


def test_arguments_override_interface_names_and_add_the_control_frequency(
    expand_with: Callable[..., str],
) -> None:
    robot = fromstring(
        expand_with(
            ethercat_interface="veth0",
            can_interface="slcan",
            can_channel="/dev/ttyACM0",
            control_frequency="50",
            calibration_file="/c.yaml",
        )
    )
    ring = hardware_params(robot, "PrimeEtherCATSide")
    wrists = hardware_params(robot, "PrimeSitoCAN")
    assert ring["interface"] == "veth0"
    assert (wrists["interface"], wrists["channel"]) == ("slcan", "/dev/ttyACM0")
    assert ring["control_frequency"] == "50"
    assert (ring["calibration_file"], wrists["calibration_file"]) == ("/c.yaml", "/c.yaml")


def test_simulation_states_step_pace_and_rotor_inertia(expand_with: Callable[..., str]) -> None:
    robot = fromstring(expand_with(use_sim="true", real_time_factor="0"))
    assert hardware_params(robot, "PrimeMujoco") == {"timestep": "0.001", "real_time_factor": "0"}
    rotors = [float(params(j)["rotor_inertia"]) for j in robot.findall("ros2_control/joint")]
    assert len(rotors) == 14
    # Below 0.005 kg m^2 damping 6 Nms/rad is unstable on a light wrist at a 1 ms step.
    assert all(0.005 <= rotor <= 0.2 for rotor in rotors)


def test_calibration_file_has_every_joint_at_its_address_with_identity(config_folder: Path) -> None:
    calibration = yaml.safe_load((config_folder / "prime_calibration.yaml").read_text())
    assert calibration == {
        joint: {"id": address, "direction": 1, "homing_offset": 0.0} for joint, _, address in ROWS
    }


def test_serial_number_is_there_where_the_hardware_file_has_one(
    expand_with: Callable[..., str], config_folder: Path, tmp_path: Path
) -> None:
    hardware = yaml.safe_load((config_folder / "prime_hardware.yaml").read_text())
    hardware["joints"]["erob_slaves"]["left_elbow_pitch"]["serial_number"] = 0x1234
    copy = tmp_path / "hardware.yaml"
    copy.write_text(yaml.safe_dump(hardware))
    found = {
        str(joint.get("name")): params(joint).get("serial_number")
        for joint in fromstring(expand_with(hardware_config=str(copy))).iter("joint")
        if "ring_position" in params(joint)
    }
    assert found.pop("left_elbow_pitch") == str(0x1234)
    assert set(found.values()) == {None}


def test_every_fact_of_the_mapping_comes_from_the_hardware_file(
    expand_with: Callable[..., str], config_folder: Path, tmp_path: Path
) -> None:
    hardware = yaml.safe_load((config_folder / "prime_hardware.yaml").read_text())
    hardware["buses"] = {
        "ethercat": {
            "master": 3,
            "interface": "eno9",
            "vendor_id": 7,
            "product_code": 8,
            "activation_timeout": 30.0,
        },
        "can": {"interface": "pcan", "channel": "can7", "bitrate": 500000},
    }
    joints = hardware["joints"]
    for row in joints["erob_slaves"].values():
        row.update(position=row["position"] + 20, model="eRob80_V5_MC2")
    for row in joints["mit_joints"].values():
        row.update(id=row["id"] + 40, model="TA40-100", stiffness_divisor=700, damping_divisor=2)
        row["effort_tolerance"] = 0.5
    joints["erob_kt"] = {"left_elbow_pitch": 0.2e-3}
    joints["erob_gear"] = {"left_elbow_pitch": 100}
    copy = tmp_path / "hardware.yaml"
    copy.write_text(yaml.safe_dump(hardware))

    robot = fromstring(expand_with(hardware_config=str(copy)))

    ring = hardware_params(robot, "PrimeEtherCATSide")
    assert (ring["master_id"], ring["interface"]) == ("3", "eno9")
    assert (ring["vendor_id"], ring["product_code"]) == ("7", "8")
    assert ring["activation_timeout"] == "30.0"
    wrists = hardware_params(robot, "PrimeSitoCAN")
    assert (wrists["interface"], wrists["channel"], wrists["bitrate"]) == ("pcan", "can7", "500000")
    shift = {"ring_position": (20, "eRob80_V5_MC2"), "can_id": (40, "TA40-100")}
    for joint, family, address in ROWS:
        name, key, _ = FAMILIES[family]
        element = block(robot, name).find(f"joint[@name='{joint}']")
        assert element is not None
        found = params(element)
        assert (int(found[key]), found["model"]) == (address + shift[key][0], shift[key][1])
        if family == "Sito":
            assert (found["stiffness_divisor"], found["damping_divisor"]) == ("700", "2")
            assert found["effort_tolerance"] == "0.5"
        if family == "eRob":
            elbow = joint == "left_elbow_pitch"
            assert float(found["kt"]) == (0.2e-3 if elbow else 0.134e-3)
            assert float(found["gear"]) == (100 if elbow else 50)
