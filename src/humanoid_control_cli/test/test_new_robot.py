"""The package that `hc new-robot` writes."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pytest
import yaml
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.new_robot.package_files import NewPackage, package_files
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.description.mesh_files import Meshes, check_meshes
from humanoid_control_common.description.mesh_references import MeshError, with_absolute_meshes
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot import robot_description
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description

MESH_ARM = Path(__file__).resolve().parents[3] / "docs/examples/mesh_arm"
JOINTS = ("shoulder_pitch", "elbow_pitch")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A copy of the exported description: its file."""
    shutil.copytree(MESH_ARM, tmp_path / "mesh_arm")
    return tmp_path / "mesh_arm/urdf/mesh_arm.urdf"


def described(package: NewPackage, into: Path, **arguments: str) -> RobotDescription:
    package.write(into)
    file = into / package.name / "description/mine.urdf.xacro"
    urdf = with_absolute_meshes(robot_description.expand(file, arguments), file)
    check_meshes(urdf, Meshes())
    return parse_robot_description(urdf, 200.0)


@pytest.mark.parametrize(
    ("argument", "plugin"),
    [
        ("use_sim", "mujoco_ros2_control/MujocoSystem"),
        ("use_fake_hardware", "mock_components/GenericSystem"),
    ],
)
def test_new_package_describes_the_robot_for_simulation_and_mock(
    export: Path, tmp_path: Path, argument: str, plugin: str
) -> None:
    found = described(package_files("mine", export), tmp_path / "ws", **{argument: "true"})
    assert found.name == "mine"
    assert found.joints.names == JOINTS
    assert found.limits.effort.tolist() == [20.0, 10.0]
    assert found.limits.gains.tolist() == [[200.0, 100.0], [13.0, 6.5]]
    assert [block.plugin for block in found.blocks] == [plugin]


def test_real_drives_are_refused_until_there_are_some(export: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no ros2_control block for real drives yet"):
        described(package_files("mine", export), tmp_path / "ws")


def test_the_meshes_are_those_of_the_package_with_their_materials(
    export: Path, tmp_path: Path
) -> None:
    package = package_files("mine", export)
    shutil.rmtree(export.parents[1])
    described(package, tmp_path / "ws", use_sim="true")
    text = (tmp_path / "ws/mine_bringup/description/mine.urdf").read_text()
    names = {mesh.get("filename") for mesh in ElementTree.fromstring(text).iter("mesh")}
    folder = "package://mine_bringup/description/meshes"
    assert names == {f"{folder}/{name}" for name in ("base.stl", "upper_arm.obj", "forearm.dae")}
    assert (tmp_path / "ws/mine_bringup/description/meshes/upper_arm.mtl").is_file()


def test_meshes_of_the_same_name_stay_apart(export: Path, tmp_path: Path) -> None:
    other = export.parents[1] / "other"
    other.mkdir()
    (other / "base.stl").write_bytes((export.parents[1] / "meshes/base.stl").read_bytes() + b"\n")
    export.write_text(export.read_text().replace("../meshes/upper_arm.obj", "../other/base.stl"))
    contents = package_files("mine", export).contents
    assert contents[Path("description/meshes/base.stl")].endswith(b"endsolid base\n")
    assert contents[Path("description/meshes/base_2.stl")].endswith(b"\n\n")


def test_mujocos_folder_for_meshes_is_not_applied_twice(export: Path, tmp_path: Path) -> None:
    text = export.read_text().replace("../meshes/", "")
    extension = '<mujoco><compiler meshdir="../meshes" balanceinertia="true"/></mujoco></robot>'
    export.write_text(text.replace("</robot>", extension))
    described(package_files("mine", export), tmp_path / "ws", use_sim="true")
    text = (tmp_path / "ws/mine_bringup/description/mine.urdf").read_text()
    assert '<compiler balanceinertia="true" />' in text


def test_poses_of_a_new_robot_keep_a_distance_from_the_limits(export: Path) -> None:
    text = export.read_text()
    for old, new in (
        ('lower="-1.4" upper="1.4"', 'lower="0" upper="1.4"'),
        ('lower="-2.2" upper="2.2"', 'lower="-2.2" upper="-1.0"'),
    ):
        assert old in text
        text = text.replace(old, new)
    export.write_text(text)
    file = package_files("mine", export).contents[Path("config/mine_controllers.yaml")]
    poses = yaml.safe_load(file)["standby_controller"]["ros__parameters"]["poses"]
    assert poses["ready"]["positions"] == pytest.approx([0.05, -1.05])


def test_poses_of_a_new_robot_are_a_list_that_ros_accepts(export: Path, tmp_path: Path) -> None:
    """One joint is at 0 and the other one is not: rcl takes no list of 0 and -1.05."""
    export.write_text(export.read_text().replace('upper="2.2"', 'upper="-1.0"'))
    file = tmp_path / "mine_controllers.yaml"
    file.write_bytes(package_files("mine", export).contents[Path("config/mine_controllers.yaml")])
    arguments = ["x", "--params-file", str(file)]
    (document,) = parameter_files(arguments)
    assert document.content["standby_controller"]["ros__parameters"]["poses"]["ready"][
        "positions"
    ] == pytest.approx([0.0, -1.05])


def test_gains_of_a_new_robot_suit_its_weakest_joint_and_its_rotors(
    export: Path, tmp_path: Path
) -> None:
    package = package_files("mine", export)
    found = described(package, tmp_path / "ws", use_sim="true")
    largest_stiffness, largest_damping = found.limits.gains
    rotors = [float(joint.parameters["rotor_inertia"]) for joint in found.blocks[0].joints]
    assert (largest_damping < [rotor / 0.001 for rotor in rotors]).all()
    controllers = yaml.safe_load(package.contents[Path("config/mine_controllers.yaml")])
    for name in ("damping_controller", "standby_controller", "remote_policy_controller"):
        gains = controllers[name]["ros__parameters"]
        assert 0.0 < gains["damping"] <= largest_damping.min()
        assert 0.0 < gains.get("stiffness", 1.0) <= largest_stiffness.min()


def test_every_place_has_the_new_name_and_is_well_formed(export: Path) -> None:
    package = package_files("long_arm", export)
    assert package.name == "long_arm_bringup"
    for path, content in package.contents.items():
        if "meshes" in path.parts:
            continue
        text = content.decode()
        assert "MINE" not in text + str(path)
        if path.suffix == ".py":
            ast.parse(text)
        if path.suffix == ".yaml":
            yaml.safe_load(text)
        if path.suffix in {".xml", ".xacro", ".urdf"}:
            ElementTree.fromstring(text)
    assert package.contents[Path("resource/robots/long_arm")] == b"long_arm_bringup\n"
    robot = yaml.safe_load(package.contents[Path("config/robot.yaml")])
    assert robot["title"] == "Long arm"


@pytest.mark.parametrize("name", ["a&b", "<a>", "it's", '9"', "MINE_POSE", "DETERMINED", "a/b.c-d"])
def test_a_joint_may_have_any_name_without_a_space(export: Path, tmp_path: Path, name: str) -> None:
    text = export.read_text()
    export.write_text(text.replace('"elbow_pitch"', quoteattr(name)))
    found = described(package_files("mine", export), tmp_path / "ws", use_sim="true")
    assert found.joints.names == ("shoulder_pitch", name)


def test_the_command_writes_the_package_warns_of_doubtful_values_and_overwrites_nothing(
    export: Path, tmp_path: Path
) -> None:
    export.write_text(export.read_text().replace('xyz="0 0 0.13"', 'xyz="0 0 130"'))
    words = ["new-robot", "mine", str(export.parents[1]), "--into", str(tmp_path / "ws/src")]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    assert "warning: link 'upper_arm_link': its centre of mass" in first.output
    assert "joints shoulder_pitch, elbow_pitch; next:" in first.output
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_limits_in_degrees_are_reported_with_the_joint(export: Path) -> None:
    text = export.read_text().replace('lower="-1.4" upper="1.4"', 'lower="-6.2832" upper="6.2832"')
    export.write_text(text)
    assert package_files("mine", export).warnings == ()
    export.write_text(text.replace('lower="-2.2" upper="2.2"', 'lower="-126" upper="126"'))
    (warning,) = package_files("mine", export).warnings
    assert warning == "joint 'elbow_pitch': its range is 252 rad: check the units of its limits"
    export.write_text(text.replace('velocity="3"', 'velocity="172"', 1))
    (warning,) = package_files("mine", export).warnings
    assert "joint 'shoulder_pitch': its velocity limit is 172 rad/s: check the units" in warning


def test_effort_limits_far_above_what_the_links_weigh_are_reported(export: Path) -> None:
    assert package_files("mine", export).warnings == ()
    export.write_text(export.read_text().replace('effort="10"', 'effort="1000"'))
    (warning,) = package_files("mine", export).warnings
    assert "joint 'elbow_pitch': its effort limit is 1e+03 Nm" in warning
    carried = re.search(r"more than (\S+) Nm", warning)
    assert carried
    assert 1.0 < float(carried[1]) < 10.0


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({'"revolute"': '"floating"', '<mass value="0.6"/>': ""}, "is floating"),
        ({'effort="10"': 'effort="0"', 'effort="20"': 'effort="0"'}, "expected lower < upper"),
        ({'lower="-1.4"': "", 'lower="-2.2"': ""}, "has no 'lower'"),
        ({'<mass value="1.2"/>': "", '<mass value="0.6"/>': ""}, "mass value"),
    ],
)
def test_all_faults_of_one_kind_are_told_at_once(
    export: Path, changes: dict[str, str], told: str
) -> None:
    text = export.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    export.write_text(text)
    with pytest.raises(ConfigError) as raised:
        package_files("mine", export)
    assert str(raised.value).count(told) == 2


def test_a_plain_description_is_not_expanded(export: Path) -> None:
    plugin = '<gazebo><plugin filename="${lib}/$(arg x).so"/></gazebo></robot>'
    export.write_text(export.read_text().replace("</robot>", plugin))
    urdf = package_files("mine", export).contents[Path("description/mine.urdf")]
    assert b"${lib}/$(arg x).so" in urdf


def as_xacro(export: Path, line: str) -> Path:
    xacro = export.with_suffix(".urdf.xacro")
    space = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'
    text = export.read_text().replace("<robot", space, 1).replace("</robot>", f"{line}</robot>")
    xacro.write_text(text)
    return xacro


def test_an_argument_without_a_value_is_told_with_the_command_that_gives_it(export: Path) -> None:
    file = as_xacro(export, '<link name="$(arg tool)"/>')
    with pytest.raises(ConfigError, match=r"xacro \S+ tool:=VALUE > \S+\.urdf"):
        package_files("mine", file)


def test_a_package_that_holds_the_description_is_found_and_another_is_one_sentence(
    export: Path,
) -> None:
    part = '<xacro:include filename="$(find mesh_arm)/urdf/part.xacro"/>'
    (export.parent / "part.xacro").write_text("<robot/>")
    assert package_files("mine", as_xacro(export, part)).joints == JOINTS
    missing = part.replace("mesh_arm", "franka_description")
    with pytest.raises(ConfigError) as raised:
        package_files("mine", as_xacro(export, missing))
    assert str(raised.value).count("franka_description") == 1
    assert "class" not in str(raised.value)


WRONG = {
    "slider": ('type="revolute"', 'type="prismatic"', "joint 'shoulder_pitch' is prismatic, expec"),
    "without ends": ('type="revolute"', 'type="continuous"', "'shoulder_pitch' is continuous, exp"),
    "without motion": ('type="revolute"', 'type="fixed"', "no joint moves, expected a revolute"),
    "without effort": ('effort="20"', 'effort="0"', "joint 'shoulder_pitch': limits .* effort > 0"),
    "with blocks": ("</robot>", "<ros2_control/></robot>", "it has <ros2_control> blocks: remove"),
    "with a space": ('name="elbow_pitch"', 'name="elbow pitch"', "joint 'elbow pitch': its name"),
    "two of a name": ('name="elbow_pitch"', 'name="shoulder_pitch"', "'shoulder_pitch' occurs tw"),
    "not of numbers": ('effort="20"', 'effort="much"', "joint 'shoulder_pitch': limit effort: exp"),
    "cut off": ("</robot>", "", "it is not valid XML .*export it again"),
    "without mass": ('<mass value="4"/>', '<mass value="0"/>', "link 'base_link': mass is 0 kg"),
    "of no type": (
        'type="revolute"',
        "",
        "joint 'shoulder_pitch' is of no type, expected revolute",
    ),
    "coupled": (
        '<limit lower="-2.2"',
        '<mimic joint="shoulder_pitch"/><limit lower="-2.2"',
        "joint 'elbow_pitch' mimics 'shoulder_pitch': .* make it fixed",
    ),
    "nowhere": ('xyz="0 0 0.28"', 'xyz="0 0 nan"', "joint 'elbow_pitch': origin xyz: expected 3"),
    "twice": (
        '<limit lower="-2.2"',
        '<limit/><limit lower="-2.2"',
        "joint 'elbow_pitch': it has more than one <limit>",
    ),
    # What only MuJoCo refuses.
    "with underscores": ('lower="-1.4"', 'lower="-1_4"', "MuJoCo refuses the URDF: .*'lower'"),
    "a link as the world": ('"forearm_link"', '"world"', "MuJoCo refuses the URDF: .* world"),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_export_that_can_not_be_brought_up_is_refused(
    export: Path, old: str, new: str, message: str
) -> None:
    text = export.read_text()
    assert old in text
    export.write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match=f"^{export}: .*{message}"):
        package_files("mine", export)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_an_export_in_another_encoding_is_refused(export: Path, encoding: str) -> None:
    text = export.read_text().replace("<robot", "<!-- für -->\n<robot")
    export.write_bytes(text.encode(encoding))
    with pytest.raises(ConfigError, match=f"^{export}: byte .* is not UTF-8: save the file as"):
        package_files("mine", export)


def test_an_export_without_one_of_its_meshes_is_refused(export: Path) -> None:
    (export.parents[1] / "meshes/forearm.dae").unlink()
    with pytest.raises(MeshError, match=r"link 'forearm_link': .* there is no file .*forearm\.dae"):
        package_files("mine", export)


@pytest.mark.parametrize("name", ["", "Mine", "my-arm", "9", "../x"])
def test_names_that_are_no_packages_are_refused(export: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="expected small letters"):
        package_files(name, export)


def test_the_name_of_an_installed_robot_is_refused(export: Path) -> None:
    with pytest.raises(ConfigError, match="there is a robot 'prime' already"):
        package_files("prime", export)


def test_a_package_that_cannot_be_made_is_one_sentence(export: Path) -> None:
    result = CliRunner().invoke(app, ["new-robot", "mine", str(export), "--into", "/proc"])
    with pytest.raises(ConfigError, match=r"^/proc/mine_bringup: cannot be made: "):
        raise result.exception
