"""Plants for tests: Prime, and small robots with a known motion."""

from collections.abc import Callable

import pytest
from test_support.twin.prime_actuators import ROTORS

from humanoid_twin.physics.mujoco_plant import MujocoPlant

MASS, ARM, ROTOR = 1.0, 0.2, 0.01  # [kg], [m] of the centre of mass, [kg m²]
INERTIA = 0.01 + MASS * ARM**2 + ROTOR  # [kg m²] about the axis


def link(name: str, mass: float = MASS) -> str:
    return f"""<link name="{name}"><inertial>
        <origin xyz="{ARM} 0 0"/><mass value="{mass}"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
      </inertial><collision><origin xyz="{ARM} 0 0"/>
        <geometry><box size="0.1 0.02 0.02"/></geometry></collision></link>"""


def hinge(name: str, child: str, axis: str) -> str:
    beside = "0 1 0" if name == "level" else "0 0 0"  # apart from the other arm
    return f"""<joint name="{name}" type="revolute"><parent link="base"/><child link="{child}"/>
      <origin xyz="{beside}"/><axis xyz="{axis}"/>
      <limit lower="-3" upper="3" velocity="9" effort="9"/></joint>"""


def two_arms() -> str:
    """`level` turns about a vertical axis, `swing` about a level one: gravity pulls at it."""
    return f"""<robot name="two"><link name="base"/>{link("plate")}{link("pendulum")}
      {hinge("level", "plate", "0 0 1")}{hinge("swing", "pendulum", "0 1 0")}
      <link name="hand"/><joint name="grip" type="fixed"><parent link="pendulum"/>
      <child link="hand"/></joint></robot>"""


@pytest.fixture(scope="session")
def two_arms_urdf() -> Callable[[], str]:
    """Function that makes the URDF of two arms."""
    return two_arms


@pytest.fixture
def arms() -> MujocoPlant:
    """Joint 0 is the swing, joint 1 the level one: not the order of the URDF."""
    return MujocoPlant(two_arms(), {"swing": ROTOR, "level": ROTOR})


@pytest.fixture
def prime(prime_urdf: str) -> MujocoPlant:
    return MujocoPlant(prime_urdf, ROTORS)
