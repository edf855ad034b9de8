"""Two fingers with round tips, whose distance has a closed form."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray

LENGTH, APART, RADIUS = 0.30, 0.40, 0.05  # [m]


def _finger(name: str, y: float) -> str:
    return f"""
  <joint name="{name}" type="revolute">
    <parent link="base"/><child link="{name}_link"/>
    <origin xyz="0 {y} 0"/><axis xyz="1 0 0"/>
    <limit lower="-1.5" upper="1.5" effort="1" velocity="1"/>
  </joint>
  <link name="{name}_link">
    <inertial>
      <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision>
      <origin xyz="0 0 {LENGTH}"/><geometry><sphere radius="{RADIUS}"/></geometry>
    </collision>
  </link>"""


@pytest.fixture(scope="session")
def fingers() -> str:
    """Two upright fingers that turn about x."""
    shapes = '<collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    left, right = _finger("left", APART / 2), _finger("right", -APART / 2)
    return f'<robot name="fingers"><link name="base">{shapes}</link>{left}{right}</robot>'


@pytest.fixture(scope="session")
def chain() -> str:
    """Three joints with rotated axes and origins, and a long tip."""
    ball = "<geometry><sphere radius='0.01'/></geometry>"
    parts, parent = [f"<link name='base'><collision>{ball}</collision></link>"], "base"
    axes = ("1 0 0", "0 1 0", "0 0 1")
    for name, axis, turn in zip("abc", axes, ("0.3 0 1", "0 -0.7 0", "1 1 0"), strict=True):
        parts.append(f"""
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/><child link="{name}_link"/>
    <origin xyz="0.1 -0.05 0.2" rpy="{turn}"/><axis xyz="{axis}"/>
    <limit lower="-3" upper="3" effort="1" velocity="1"/>
  </joint>
  <link name="{name}_link">
    <inertial>
      <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision>
      <origin xyz="0.02 0.1 0.05" rpy="0.5 0 0"/><geometry><box size="0.02 0.3 0.04"/></geometry>
    </collision>
  </link>""")
        parent = f"{name}_link"
    return f'<robot name="chain">{"".join(parts)}</robot>'


@pytest.fixture(scope="session")
def three_fingers() -> str:
    """The two fingers, and a third one on the other side of the right one."""
    names = (("left", 0.2), ("right", -0.2), ("third", -0.35))
    fingers = "".join(_finger(name, y) for name, y in names)
    return f'<robot name="fingers"><link name="base"/>{fingers}</robot>'


# Right leans to the left, and third follows it: they are 10 mm apart.
NARROW = np.array([0.0, -0.45, -0.62])


def tips_apart(position: FloatArray) -> FloatArray:
    """Return the distances [m] (...) of the two tips at `position` (..., 2) [rad]."""
    y = np.array([APART / 2, -APART / 2]) - LENGTH * np.sin(position)
    z = LENGTH * np.cos(position)
    apart: FloatArray = np.hypot(y[..., 0] - y[..., 1], z[..., 0] - z[..., 1]) - 2 * RADIUS
    return apart
