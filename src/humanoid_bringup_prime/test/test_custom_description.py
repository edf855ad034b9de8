"""A description from CAD, with meshes, in the place of Prime's own: one argument."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from test_support.exported_prime import HAND, Export

from humanoid_bringup.custom_description import find_description
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.description.mesh_references import MeshError
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return Export(tmp_path / "prime_cad")


def described(argument: str, **arguments: str) -> RobotDescription:
    urdf = find_robot("prime", argument).expand(arguments or {"use_fake_hardware": "true"})
    return parse_robot_description(urdf, 200.0)


def test_joints_blocks_and_limits_are_those_of_prime(export: Export) -> None:
    own, given = described(""), described(export.write())
    assert given.joints.names == own.joints.names
    assert [block.name for block in given.blocks] == [block.name for block in own.blocks]
    for name in ("lower", "upper", "velocity", "effort", "gains"):
        assert (getattr(given.limits, name) == getattr(own.limits, name)).all()
    for name in ("lower", "upper", "position_gain", "velocity_gain"):
        assert getattr(given.limits.soft, name) == pytest.approx(getattr(own.limits.soft, name))


@pytest.mark.parametrize("backends", ["all", "ec", "can"])
def test_real_buses_have_the_joints_of_the_hardware_file(export: Export, backends: str) -> None:
    own, given = (described(text, backends=backends) for text in ("", export.write()))
    assert [(b.plugin, b.joints) for b in given.blocks] == [
        (b.plugin, b.joints) for b in own.blocks
    ]


def test_limits_that_the_export_leaves_open_are_primes(export: Export) -> None:
    export.joint("left_elbow_pitch").remove(export.joint("left_elbow_pitch").find("limit"))  # type: ignore[arg-type]
    for name in ("lower", "upper", "effort", "velocity"):
        export.joint("right_elbow_pitch").find("limit").set(name, "0")  # type: ignore[union-attr]
    own, given = described(""), described(export.write())
    for name in ("lower", "upper", "velocity", "effort"):
        assert (getattr(given.limits, name) == getattr(own.limits, name)).all()


def test_limits_of_the_export_count_and_soft_limits_keep_their_distance(export: Export) -> None:
    limit = export.joint("left_elbow_pitch").find("limit")
    assert limit is not None
    limit.set("lower", "-1.0")
    limit.set("upper", "0.2")
    own, given = described(""), described(export.write())
    row = given.joints.indices(["left_elbow_pitch"])[0]
    assert (given.limits.lower[row], given.limits.upper[row]) == (-1.0, 0.2)
    margin = own.limits.soft.lower[row] - own.limits.lower[row]
    assert margin > 0
    assert given.limits.soft.lower[row] == pytest.approx(-1.0 + margin)
    assert given.limits.soft.upper[row] == pytest.approx(0.2 - margin)


def renamed(export: Export) -> None:
    export.joint("left_wrist_yaw").set("name", "left_wrist_jaw")


def fixed(export: Export) -> None:
    export.joint("left_wrist_yaw").set("type", "fixed")


def continuous(export: Export) -> None:
    export.joint("left_wrist_yaw").set("type", "continuous")


def moving_waist(export: Export) -> None:
    export.joint("waist_yaw").set("type", "revolute")


def own_blocks(export: Export) -> None:
    ElementTree.SubElement(export.robot, "ros2_control", name="Mine", type="system")


WRONG = {
    "a joint has another name": (
        renamed,
        r"prime_cad\.urdf: no joint 'left_wrist_yaw' \(is it 'left_wrist_jaw'\?\); the ones that",
    ),
    "a joint does not move": (fixed, "joint 'left_wrist_yaw' is fixed, expected revolute"),
    "a joint has no ends": (continuous, "joint 'left_wrist_yaw' is continuous, expected revolute"),
    "one more joint moves": (moving_waist, "joint 'waist_yaw' moves, but no <ros2_control> block"),
    "blocks that nothing selects": (
        own_blocks,
        "has <ros2_control> blocks, but no xacro argument use_fake_hardware, use_sim that selects",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), WRONG.values(), ids=WRONG.keys())
def test_an_export_that_does_not_fit_is_refused_by_name(
    export: Export, spoil: Any, message: str
) -> None:
    spoil(export)
    with pytest.raises(ConfigError, match=message):
        described(export.write())


def test_an_export_that_is_nested_too_deep_is_refused(export: Export) -> None:
    folder = export.write()
    deep = f"{'<a>' * 5000}{'</a>' * 5000}</robot>"
    export.file.write_text(export.file.read_text().replace("</robot>", deep))
    with pytest.raises(ConfigError, match=r"prime_cad\.urdf: .* nested too deep"):
        described(folder)


@pytest.mark.parametrize("name", ["base.stl", "upper_arm.obj", "forearm.dae"])
@pytest.mark.parametrize("backend", [Backend.MOCK, Backend.MUJOCO])
def test_a_lost_or_broken_mesh_ends_the_bring_up_before_it_starts(
    export: Export, tmp_path: Path, name: str, backend: Backend
) -> None:
    options = Options(backend=backend, robot=find_robot("prime", export.write()))
    path = export.folder / "meshes" / name
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(MeshError, match=f"link '{HAND}': .*/{re.escape(name)}: it is broken"):
        plan(options, tmp_path)
    path.unlink()
    with pytest.raises(MeshError, match=f"link '{HAND}': .*/{re.escape(name)}: there is no file"):
        plan(options, tmp_path)


@pytest.mark.parametrize("backend", [Backend.MOCK, Backend.MUJOCO])
@pytest.mark.parametrize("value", ["0", "-5", "nan", "1e308"])
def test_a_mass_that_no_body_has_ends_the_bring_up_before_it_starts(
    export: Export, tmp_path: Path, value: str, backend: Backend
) -> None:
    mass = export.robot.find(f"link[@name='{HAND}']/inertial/mass")
    assert mass is not None
    mass.set("value", value)
    options = Options(backend=backend, robot=find_robot("prime", export.write()))
    with pytest.raises(ConfigError, match=f"link '{HAND}': .*mass"):
        plan(options, tmp_path)


def test_a_whole_xacro_description_is_taken_as_it_is(tmp_path: Path) -> None:
    own = find_robot("prime")
    copy = tmp_path / "robots/prime_other"
    shutil.copytree(own.xacro_file.parents[1], copy)
    (copy / "xacro/prime_dummy.urdf.xacro").rename(copy / "xacro/prime_other.urdf.xacro")
    given = described(str(copy), use_sim="true")
    assert [block.name for block in given.blocks] == ["PrimeMujoco"]
    assert given.joints.names == described("").joints.names


def test_a_description_is_found_by_file_folder_and_package(export: Export) -> None:
    folder = export.write()
    assert find_description(folder) == export.file
    assert find_description(str(export.file)) == export.file
    dummy = "package://prime_description/robots/prime_dummy"
    assert find_description(dummy).name == "prime_dummy.urdf.xacro"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{folder}/nothing", "there is no file or folder .*/nothing"),
        (
            "{folder}/meshes",
            r"expected one file that ends in \.urdf or .* found none",
        ),
        ("{folder}", r"found urdf/other\.urdf, urdf/prime_cad\.urdf: name the file"),
        ("package://absent/urdf", "package 'absent' is not installed"),
    ],
)
def test_missing_or_ambiguous_description_is_refused(
    export: Export, argument: str, message: str
) -> None:
    folder = export.write()
    shutil.copy(export.file, export.file.with_name("other.urdf"))
    with pytest.raises(ConfigError, match=message):
        find_robot("prime", argument.format(folder=folder))


def test_the_simulated_hand_is_the_mesh_of_the_export(export: Export) -> None:
    from humanoid_devices_mujoco.mujoco_system import MujocoSystem

    system = MujocoSystem()
    system.on_configure(described(export.write(), use_sim="true").blocks[0])
    model = system.model
    names = [model.mesh(number).name for number in range(model.nmesh)]
    assert names
    assert all(name.startswith(f"{HAND}_collision") for name in names)
    assert np.isfinite(system.data.qpos).all()


def semantic(folder: Path, **options: Any) -> str:
    """Return the SRDF that the control process gets."""
    processes = plan(Options(backend=Backend.MOCK, viewer=False, **options), folder)
    (control,) = (it for it in processes if it.label == "control")
    text = control.parameter_files[-1].read_text()
    found: str = yaml.safe_load(text)["controller_manager"]["ros__parameters"][
        "robot_description_semantic"
    ]
    return found


def test_links_of_an_export_are_kept_apart_with_an_srdf_of_its_own(
    export: Export, tmp_path: Path
) -> None:
    robot = find_robot("prime", export.write())
    assert semantic(tmp_path, robot=robot) == ""
    links = [link.get("name", "") for link in ElementTree.parse(export.file).iter("link")]
    file = tmp_path / "cad.srdf"
    pair = f'<disable_collisions link1="{links[0]}" link2="{links[1]}" reason="Adjacent"/>'
    file.write_text(f'<robot name="prime">{pair}</robot>')
    assert semantic(tmp_path, robot=robot, srdf=file) == file.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot", "not valid XML"),
        ("<group/>", "the root is <group>, expected <robot name=…>"),
        ('<robot name="lite"/>', "it is of the robot 'lite', expected 'prime'"),
        (
            '<robot name="prime"><disable_collisions link1="torso_link" link2="tail"/></robot>',
            "disable_collisions of tail and torso_link: the robot has no link 'tail'; it has base",
        ),
    ],
)
def test_a_wrong_srdf_is_refused_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "cad.srdf"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        semantic(tmp_path, srdf=file)
    assert str(error.value).startswith(f"{file}: {message}")
