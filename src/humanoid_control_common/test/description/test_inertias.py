"""Errors of masses and inertias in an export are found, by link."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from humanoid_control_common.description.inertias import check_inertias
from humanoid_control_common.description.mesh_files import Meshes
from humanoid_control_common.errors import ConfigError

BASE = '<mass value="4"/>'
UPPER = '<inertia ixx="0.00936" ixy="0" ixz="0" iyy="0.00936" iyz="0" izz="0.00072"/>'

NOTHING = (
    '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)


def doubts(export: Any) -> list[str]:
    return check_inertias(ElementTree.fromstring(export.urdf()), Meshes())


def test_the_export_as_drawn_is_plausible(export: Any) -> None:
    assert doubts(export) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (BASE, '<mass value="0"/>', "link 'base_link': mass is 0 kg, expected more than 0"),
        (BASE, '<mass value="-4"/>', "link 'base_link': mass is -4 kg, expected more than 0"),
        (BASE, "", "link 'base_link': <inertial><mass value>: expected a finite number, found ''"),
        (
            'izz="0.00072"',
            'izz="0"',
            "link 'upper_arm_link': principal inertias are 0, 0.00936, 0.00936 kg m², expected",
        ),
        (
            'izz="0.00072"',
            'izz="0.02"',
            "link 'upper_arm_link': principal inertias are 0.00936, 0.00936, 0.02 kg m²: no body",
        ),
        (
            'ixx="0.00936" ixy="0"',
            'ixx="0.00936" ixy="0.01"',
            "link 'upper_arm_link': principal inertias are -0.00064, 0.00072, 0.0194 kg m², expec",
        ),
        (
            'ixx="0.00936"',
            'ixx="many"',
            "link 'upper_arm_link': <inertial><inertia ixx>: expected a finite number, found 'ma",
        ),
        (
            'ixx="0.00936" ixy="0"',
            'ixx="0.00936"',
            "link 'upper_arm_link': <inertial><inertia ixy>: expected a finite number, found ''",
        ),
    ],
)
def test_values_that_no_body_has_are_refused_with_the_link(
    export: Any, old: str, new: str, message: str
) -> None:
    export.replace(old, new)
    with pytest.raises(ConfigError, match="^" + re.escape(message)):
        doubts(export)


def test_rounding_of_a_thin_plate_is_no_fault(export: Any) -> None:
    export.replace('izz="0.026667"', 'izz="0.02833401"')
    assert doubts(export) == []


@pytest.mark.parametrize("setting", ['balanceinertia="true"', 'inertiafromgeom="true"'])
def test_inertia_that_a_mujoco_setting_replaces_is_not_refused(export: Any, setting: str) -> None:
    export.replace('izz="0.00072"', 'izz="0.02"')
    export.replace("</robot>", f"<mujoco><compiler {setting}/></mujoco></robot>")
    assert doubts(export) == []


def test_shapes_without_a_mass_are_reported(export: Any) -> None:
    text = re.sub(
        r"<inertial>.*?</inertial>", "", export.file.read_text(), count=1, flags=re.DOTALL
    )
    export.file.write_text(text)
    (warning,) = doubts(export)
    assert warning.startswith("link 'base_link': it has shapes but no <inertial>")


def test_a_joint_that_moves_nothing_that_weighs_is_refused(export: Any) -> None:
    text = re.sub(r"<inertial>.*?</inertial>", "", export.file.read_text(), flags=re.DOTALL)
    export.file.write_text(text)
    with pytest.raises(ConfigError, match=r"joint 'shoulder_pitch': .* no <inertial>.*: set a mat"):
        doubts(export)


def test_a_frame_without_shapes_needs_no_mass(export: Any) -> None:
    export.replace("</robot>", f'<link name="a"/><link name="b">{NOTHING}</link></robot>')
    assert doubts(export) == []


def test_a_joint_that_moves_a_mass_of_zero_is_refused(export: Any) -> None:
    text = re.sub(r"<inertial>.*?</inertial>", NOTHING, export.file.read_text(), flags=re.DOTALL)
    export.file.write_text(text)
    with pytest.raises(ConfigError, match=r"joint 'shoulder_pitch': .* no <inertial> with a mass"):
        doubts(export)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ('<box size="0.1 -0.1 0.1"/>', "box size is '0.1 -0.1 0.1', expected more than 0"),
        ('<sphere radius="0"/>', "sphere radius is '0', expected more than 0"),
        ('<cylinder radius="0.1" length="0"/>', "cylinder length is '0', expected more than 0"),
        ('<cylinder radius="0.1"/>', "cylinder length: expected a finite number, found ''"),
        ("", "expected one <geometry> with one shape, found none"),
        (
            '<sphere radius="1"/><box size="1 1 1"/>',
            "expected one <geometry> with one shape, found sphere, box",
        ),
    ],
)
def test_a_shape_without_a_size_or_beside_another_one_is_refused(
    export: Any, shape: str, message: str
) -> None:
    """Of two shapes MuJoCo would take one."""
    collision = f"<collision><geometry>{shape}</geometry></collision>"
    export.replace("</robot>", f'<link name="box">{collision}</link></robot>')
    with pytest.raises(ConfigError, match=re.escape(f"link 'box': collision: {message}")):
        doubts(export)


def test_a_centre_of_mass_that_is_not_finite_is_refused(export: Any) -> None:
    place = '<inertial><origin xyz="0 0 nan"/><mass value="1"/></inertial>'
    export.replace("</robot>", f'<link name="b">{place}</link></robot>')
    message = "link 'b': <inertial>: origin xyz: expected 3 finite numbers, found '0 0 nan'"
    with pytest.raises(ConfigError, match=message):
        doubts(export)


@pytest.mark.parametrize("factor", [1e6, 1e-3])  # [kg mm²] instead of [kg m²], and the reverse
def test_an_inertia_in_other_units_is_reported_with_the_link(export: Any, factor: float) -> None:
    across, along = 0.00936 * factor, 0.00072 * factor
    export.replace(
        UPPER, f'<inertia ixx="{across}" iyy="{across}" izz="{along}" ixy="0" ixz="0" iyz="0"/>'
    )
    (warning,) = doubts(export)
    assert warning.startswith("link 'upper_arm_link': its inertia is that of a mass ")
    assert warning.endswith("its shapes span 0.312 m: check the units of the export (kg m²)")


def test_a_centre_of_mass_outside_the_shapes_is_reported_with_the_link(export: Any) -> None:
    export.replace('<origin xyz="0 0 0.13"/>', '<origin xyz="0 0 130"/>')
    (warning,) = doubts(export)
    assert "link 'upper_arm_link': its centre of mass (0, 0, 130) m is 130 m outside" in warning


@pytest.mark.parametrize(
    ("shape", "upright", "lying"),
    [
        ('<box size="0.06 0.3 0.06"/>', "1.5707963 0 0", "0 0 0"),
        ('<cylinder radius="0.03" length="0.3"/>', "0 0 0", "0 1.5707963 0"),
    ],
)
def test_primitive_shapes_count_with_their_poses(
    export: Any, shape: str, upright: str, lying: str
) -> None:
    for tag in ("visual", "collision"):
        export.replace(
            f'<{tag}>\n      <geometry><mesh filename="../meshes/upper_arm.obj"/>',
            f'<{tag}><origin xyz="0 0 0.13" rpy="{upright}"/>\n      <geometry>{shape}',
        )
    # Near the end of the arm, if the shape stands upright.
    export.replace('<origin xyz="0 0 0.13"/>', '<origin xyz="0 0 0.27"/>')
    assert doubts(export) == []
    export.replace(f'rpy="{upright}"', f'rpy="{lying}"')
    (warning,) = doubts(export)
    assert "link 'upper_arm_link': its centre of mass (0, 0, 0.27) m is 0.11 m outside" in warning
