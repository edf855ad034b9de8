"""An arm of two links that swings about the y axis."""

from __future__ import annotations

import pytest

UPPER, LOWER = 0.4, 0.3  # [m]
MASSES = (2.0, 1.0)  # [kg]; their centres are at half the length
JOINTS = ("shoulder", "elbow")

_LINK = """<link name="{name}"><inertial><origin xyz="0 0 {com}"/><mass value="{mass}"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
_JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0 0 {z}"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="3" effort="30" velocity="3"/></joint>"""


@pytest.fixture(scope="session")
def arm() -> str:
    """At 0 both links hang."""
    links = [
        '<link name="base"/>',
        _LINK.format(name="upper", com=-UPPER / 2, mass=MASSES[0]),
        _LINK.format(name="lower", com=-LOWER / 2, mass=MASSES[1]),
    ]
    joints = [
        _JOINT.format(name="shoulder", parent="base", child="upper", z=1.0),
        _JOINT.format(name="elbow", parent="upper", child="lower", z=-UPPER),
    ]
    return f"<robot name='arm'>{''.join(links + joints)}</robot>"
