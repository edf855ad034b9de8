"""The robot in MuJoCo: poses, contacts, symmetry, stability."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_support.arm_joints import ALL_JOINTS, ARM, SIDES

Urdf = Callable[[str], Element]
MIRROR = np.diag([1.0, -1.0, 1.0])  # the xz plane
FLIP = np.array([1.0 if part.endswith("pitch") else -1.0 for part in ARM])  # right = FLIP * left
DAMPING = 6.0  # [Nm s/rad], the DAMPING mode
TIMESTEP = 1e-3  # [s]


@pytest.fixture(scope="module")
def model(urdf_text: Callable[[str], str]) -> mujoco.MjModel:
    return mujoco.MjSpec.from_string(urdf_text("sim")).compile()


def forward(model: mujoco.MjModel, positions: np.ndarray) -> mujoco.MjData:
    """Return MuJoCo's data for a pose at rest; positions (14,) [rad]."""
    data = mujoco.MjData(model)
    data.qpos[:] = positions
    mujoco.mj_forward(model, data)
    return data


def mirrored_pose(fractions: list[float], model: mujoco.MjModel) -> np.ndarray:
    """Return positions (14,) [rad]: left arm at `fractions` of its ranges, right arm mirrored."""
    lower, upper = model.jnt_range[:7].T
    left = lower + np.asarray(fractions) * (upper - lower)
    return np.concatenate([left, FLIP * left])


def test_mujoco_loads_the_description_with_the_joints_in_order(model: mujoco.MjModel) -> None:
    assert [model.joint(i).name for i in range(model.njnt)] == list(ALL_JOINTS)
    assert model.nv == 14
    assert model.jnt_limited.all()


def test_hanging_arms_touch_nothing(model: mujoco.MjModel) -> None:
    assert forward(model, np.zeros(14)).ncon == 0


@pytest.mark.parametrize("index", range(14), ids=ALL_JOINTS)
def test_single_joint_that_moves_around_zero_has_no_contact(
    model: mujoco.MjModel, index: int
) -> None:
    for angle in np.linspace(-0.3, 0.3, 61):
        positions = np.zeros(14)
        positions[index] = angle
        assert forward(model, positions).ncon == 0, f"contact at {angle:.2f} rad"


@pytest.mark.parametrize("side", SIDES)
def test_arm_swung_far_inward_does_touch_the_body(model: mujoco.MjModel, side: str) -> None:
    positions = np.zeros(14)
    positions[ALL_JOINTS.index(f"{side}_shoulder_roll")] = -0.8 if side == "left" else 0.8
    assert forward(model, positions).ncon > 0


def test_slightly_bent_ready_pose_is_inside_the_limits_and_touches_nothing(
    model: mujoco.MjModel,
) -> None:
    left = np.array([0.1, 0.15, 0.0, -0.5, 0.0, 0.0, 0.0])
    positions = np.concatenate([left, FLIP * left])
    lower, upper = model.jnt_range.T
    assert np.all(lower + 0.1 < positions)
    assert np.all(positions < upper - 0.1)
    assert forward(model, positions).ncon == 0


def test_arms_hang_straight_down_at_zero(model: mujoco.MjModel) -> None:
    data = forward(model, np.zeros(14))
    for side, sign in zip(SIDES, (1, -1), strict=True):
        shoulder = data.body(f"{side}_shoulder_roll_link").xpos
        wrist = data.body(f"{side}_wrist_yaw_link").xpos
        assert wrist - shoulder == pytest.approx([0, 0, wrist[2] - shoulder[2]], abs=1e-12)
        assert wrist[2] < shoulder[2] - 0.4
        assert sign * shoulder[1] > 0.2
    assert data.qfrc_bias == pytest.approx(np.zeros(14), abs=0.1)  # hardly any gravity torque


def test_positive_angles_move_the_hand_as_in_the_readme(model: mujoco.MjModel) -> None:
    for name, direction in {
        "left_shoulder_pitch": [-1, 0, 0],  # backward
        "right_shoulder_pitch": [-1, 0, 0],
        "left_shoulder_roll": [0, 1, 0],  # to the left: away from the body for the left arm
        "right_shoulder_roll": [0, 1, 0],
        "left_elbow_pitch": [-1, 0, 0],  # so that bending the elbow is negative
        "right_elbow_pitch": [-1, 0, 0],
    }.items():
        body = name.split("_")[0] + "_wrist_yaw_link"
        positions = np.zeros(14)
        rest = forward(model, positions).body(body).xpos.copy()
        positions[ALL_JOINTS.index(name)] = 0.2
        assert (forward(model, positions).body(body).xpos - rest) @ direction > 0.04, name


fractions = st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7)


@settings(deadline=None)
@given(fractions=fractions)
def test_right_arm_is_the_mirror_image_of_the_left(
    model: mujoco.MjModel, fractions: list[float]
) -> None:
    data = forward(model, mirrored_pose(fractions, model))
    for part in ARM:
        left, right = (data.body(f"{side}_{part}_link") for side in SIDES)
        assert right.xpos == pytest.approx(MIRROR @ left.xpos, abs=1e-9)
        assert right.xipos == pytest.approx(MIRROR @ left.xipos, abs=1e-9)
        rotation = MIRROR @ left.xmat.reshape(3, 3) @ MIRROR
        assert right.xmat.reshape(3, 3) == pytest.approx(rotation, abs=1e-9)
    assert data.qfrc_bias[7:] == pytest.approx(FLIP * data.qfrc_bias[:7], abs=1e-9)


def rates_of_damping(
    model: mujoco.MjModel, positions: np.ndarray, rotors: np.ndarray
) -> np.ndarray:
    """Return the decay rates [1/s] of the joint velocities under damping 6 on every joint."""
    data = forward(model, positions)
    inertia = np.zeros((14, 14))
    mujoco.mj_fullM(model, data, inertia)
    inertia += np.diag(rotors)
    return np.asarray(np.linalg.eigvals(np.linalg.solve(inertia, DAMPING * np.eye(14))).real)


@settings(deadline=None)
@given(fractions=fractions)
def test_rotor_inertia_keeps_damping_stable_at_the_physics_step(
    urdf: Urdf, model: mujoco.MjModel, fractions: list[float]
) -> None:
    params = urdf("sim").findall("ros2_control/joint/param[@name='rotor_inertia']")
    rotors = np.array([float(str(p.text)) for p in params])
    positions = mirrored_pose(fractions, model)
    # An explicit step is stable while rate * step < 2; below 1 it does not overshoot.
    assert rates_of_damping(model, positions, rotors).max() * TIMESTEP < 1.0
    assert rates_of_damping(model, positions, np.zeros(14)).max() * TIMESTEP > 2.0
