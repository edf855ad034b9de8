"""The motion that the policy of Prime follows."""

from __future__ import annotations

from pathlib import Path

import yaml
from ament_index_python.packages import get_package_share_directory
from sensor_msgs.msg import JointState

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controllers.policy.parameters import MotionParameters
from humanoid_controllers.policy.policy_check import motion_of
from humanoid_policy.model import load_policy
from humanoid_policy.motion_reference import MotionReference
from prime_description import expand
from test_support.stepped.stack import Stack

RATE = 50.0  # [Hz], of no effect on the motion


def shipped_motion() -> MotionReference:
    """Return the motion that Prime's own policy follows."""
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    content = yaml.safe_load((share / "config/prime_controllers.yaml").read_text())
    given = content["rl_policy_controller"]["ros__parameters"]["motion"]
    known = parse_robot_description(expand({"use_sim": "true"}), RATE)
    facts = RobotFacts(known.joints, known.limits, RATE)
    metadata = load_policy(str(share / "policies/reaching.onnx")).metadata
    motion = motion_of(metadata, MotionParameters.model_validate(given), facts)
    assert motion is not None
    return motion


def begin_motion(stack: Stack, mass: float) -> list[JointState]:
    """Enter LOCOMOTION with `mass` [kg] in each hand. Return the joint states, from then on."""
    states: list[JointState] = []
    stack.client.listen(JointState, "/prime/joint_states", states.append)
    stack.up()
    for side in ("left", "right"):
        stack.control.payload(f"{side}_wrist_yaw_link", mass)
    for mode in (Mode.DAMPING, Mode.STANDBY):
        stack.client.reach(mode)
    stack.client.finish_standby()
    stack.client.reach(Mode.LOCOMOTION)
    states.clear()
    return states
