"""The shipped controllers file of Prime against the figures of its documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from test_support.arm_joints import ALL_JOINTS, ARM

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from prime_description import expand

FILE = Path(__file__).parents[1] / "config" / "prime_controllers.yaml"
# The documents' table of modes: stiffness [Nm/rad] and damping [Nm s/rad].
GAINS = {
    Mode.ZERO_TORQUE: (0.0, 0.0),
    Mode.DAMPING: (0.0, 6.0),
    Mode.STANDBY: (20.0, 2.0),
    Mode.LOCOMOTION: (20.0, 2.0),
    Mode.REMOTE: (20.0, 2.0),
}
# Right arm = MIRROR * left arm.
MIRROR = np.array([1.0 if part.endswith("pitch") else -1.0 for part in ARM])
SOFTER = ["damping_controller", "zero_torque_controller"]


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    """Parameters by node."""
    content = yaml.safe_load(FILE.read_text())
    return {node: section["ros__parameters"] for node, section in content.items()}


def test_every_mode_has_the_gains_of_the_documents_on_both_families(shipped: Any) -> None:
    drives = shipped["erob_impedance_manager"]
    assert dict(zip(Mode, zip(drives["mode_kp"], drives["mode_kd"], strict=True), strict=True)) == (
        GAINS
    )
    assert shipped["damping_controller"]["damping"] == 6.0
    for controller in (
        "standby_controller",
        "remote_policy_controller",
        "trajectory_controller",
        "joint_stream_controller",
    ):
        found = shipped[controller]
        assert (found["stiffness"], found["damping"]) == (20.0, 2.0)
    manager = shipped["controller_manager"]
    assert (manager["hold_stiffness"], manager["hold_damping"]) == (20.0, 2.0)


def test_the_robot_starts_limp_and_every_controller_falls_back_to_softer_ones(
    shipped: Any,
) -> None:
    manager = shipped["controller_manager"]
    assert manager["initial_controller"] == "zero_torque_controller"
    assert manager["safe_controllers"] == SOFTER
    assert manager["damping_controller"]["fallback_controllers"] == SOFTER[1:]
    for controller in (
        manager["standby_controller"],
        manager["rl_policy_controller"],
        manager["remote_policy_controller"],
        manager["trajectory_controller"],
        shipped["joint_stream_controller"],
    ):
        assert controller["fallback_controllers"] == SOFTER


def test_limits_of_speed_and_silence_are_those_of_the_documents(shipped: Any) -> None:
    manager, remote = shipped["controller_manager"], shipped["remote_policy_controller"]
    assert manager["update_rate"] == 50
    assert manager["velocity_safety_factor"] == 2.0
    assert (remote["command_timeout"], remote["on_stale"]) == (0.1, "damp")
    stream = shipped["joint_stream_controller"]
    assert (stream["fallback"], stream["resume_after_expiry"]) == ("damp", False)
    drives = shipped["erob_impedance_manager"]
    assert drives["torque_efficiency"] == 1.0
    assert (drives["parallel_sdo"], drives["follow_requests"]) == (True, False)


def test_poses_and_the_motion_are_mirrored_and_inside_the_range_of_targets(shipped: Any) -> None:
    standby, motion = shipped["standby_controller"], shipped["rl_policy_controller"]["motion"]
    assert motion["joints"] == list(ALL_JOINTS)
    rows = [standby["poses"][name]["positions"] for name in standby["sequence"]]
    rows += np.reshape(motion["positions"], (len(motion["times"]), -1)).tolist()
    limits = parse_robot_description(expand({"use_sim": "true"}), 200.0).limits
    for row in rows:
        left, right = np.reshape(row, (2, -1))
        np.testing.assert_array_equal(right, MIRROR * left)
        assert (row >= limits.target_lower).all()
        assert (row <= limits.target_upper).all()
    assert standby["poses"]["ready"]["positions"] == rows[1] == rows[2] == rows[-1]
