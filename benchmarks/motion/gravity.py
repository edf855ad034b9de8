"""Measure gravity compensation: its cost in a tick, and the sag of an arm with 1 kg.

A trajectory raises the arm on the stepped robot, with eRobs at 50 Hz whose transmissions give 0.7
of the nominal torque. The sag is the distance of the worst joint to its target, at rest.
"""

from __future__ import annotations

import gc
from functools import partial
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import yaml
from humanoid_control_msgs.msg import Payload as PayloadMessage
from humanoid_control_msgs.srv import MoveJoints, SetPayload
from std_srvs.srv import Trigger

from benchmarks.support.figures import Figure, arguments, durations, figure, report, single
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.safety.gravity_compensation import (
    LARGEST_BIAS,
    LARGEST_PAYLOAD,
    GravityCompensation,
    Joints,
)
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import Payload
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import SteppedRobot, stepped_options

if TYPE_CHECKING:
    pass

PERIOD: Final = 1.0 / 50.0  # [s]
HAND: Final = "left_hand_link"
MASS: Final = 1.0  # [kg]
RAISED: Final = {"left_shoulder_pitch": -0.8, "left_elbow_pitch": -0.6}  # [rad]
NAME: Final = "trajectory_controller"


def ticks(count: int) -> dict[str, Figure]:
    """Return the cost of a tick without and with compensation, and with two payloads."""
    urdf = find_robot("prime").expand({"use_sim": "true"})
    known = parse_robot_description(urdf, 1.0 / PERIOD)
    joints = len(known.joints)
    wrists = np.array(["wrist_roll" in it or "wrist_pitch" in it for it in known.joints.names])
    compensation = GravityCompensation(
        GravityModel(urdf, known.joints.names),
        known.limits,
        Joints(wrists, np.full(joints, 0.7), np.ones(joints, dtype=np.bool_)),
        largest_bias=LARGEST_BIAS,
        largest_payload=LARGEST_PAYLOAD,
    )
    state, command = JointState(joints), JointCommand(joints)
    state.array.fill(0.0)
    command.stiffness[:] = 20.0
    no_joint, all_joints = np.zeros(joints, dtype=np.bool_), np.ones(joints, dtype=np.bool_)
    limit = known.limits.effort

    def tick(wanted: np.ndarray) -> None:
        compensation.apply(state, command, wanted, command.stiffness, limit, PERIOD)

    def cost(wanted: np.ndarray) -> Figure:
        return figure(durations(repeat(partial(tick, wanted), count)), "us", 1e6)

    gc.disable()
    found = {"tick without compensation": cost(no_joint)}
    tick(all_joints)
    found["tick with compensation"] = cost(all_joints)
    for side in ("left", "right"):
        compensation.carry(Payload(f"{side}_hand_link", MASS))
    found["the same with two payloads"] = cost(all_joints)
    gc.enable()
    return found


class Arm:
    """Prime on the stepped robot, whose REMOTE follows trajectories."""

    def __init__(self, folder: Path, *, compensates: bool) -> None:
        file = folder / "controllers.yaml"
        file.write_text(yaml.safe_dump(_controllers(compensates=compensates)))
        self.robot = SteppedRobot(1, folder, stepped_options(controllers_file=file))
        self.control = self.robot.virtual.control
        self.node: Any = Participant(self.robot, "operator").node
        self.robot.start()
        self.robot.scheduler.run_for(3.0)
        for intent in ("damp", "load", "start_remote"):
            self.ask(Trigger, f"/humanoid_control/mode/{intent}")
            self.robot.scheduler.run_for(6.0 if intent == "load" else 1.0)

    def ask(self, kind: Any, service: str, request: Any = None) -> Any:
        """Call a service; return its answer."""
        call = self.node.create_client(kind, service).call_async(request or kind.Request())
        while not call.done():
            self.robot.scheduler.run_for(0.05)
        answer = call.result()
        if not answer.success:
            raise RuntimeError(f"{service}: {answer.message}")
        return answer

    def sag(self) -> float:
        """Return the sag [rad] at rest."""
        names, positions = list(RAISED), list(RAISED.values())
        request = MoveJoints.Request(joint_names=names, positions=positions, duration=2.0)
        self.ask(MoveJoints, f"/{NAME}/move", request)
        self.robot.scheduler.run_for(8.0)
        joints = self.control.joints()
        return max(abs(joints[name]["position"] - angle) for name, angle in RAISED.items())


def _controllers(*, compensates: bool) -> Any:
    content = yaml.safe_load(find_robot("prime").controllers_file.read_text())
    manager = content["controller_manager"]["ros__parameters"]
    manager[NAME] = manager.pop("remote_policy_controller") | {
        "type": "humanoid_control/JointTrajectoryController"
    }
    gains = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    content[NAME] = {"ros__parameters": gains | {"gravity_compensation": compensates}}
    return content


def sags() -> dict[str, Figure]:
    """Return the sag without compensation, and with it before and after the payload is set."""
    found = {}
    for compensates in (False, True):
        with TemporaryDirectory() as folder:
            arm = Arm(Path(folder), compensates=compensates)
            if compensates:
                found["sag of the empty arm, compensated"] = single(arm.sag() * 1e3, "mrad")
            arm.control.payload(HAND, MASS)
            told = "payload not set" if compensates else "not compensated"
            found[f"sag with 1 kg, {told}"] = single(arm.sag() * 1e3, "mrad")
            if compensates:
                payload = PayloadMessage(link=HAND, mass=MASS)
                request = SetPayload.Request(payload=payload)
                arm.ask(SetPayload, "/controller_manager/set_payload", request)
                found["sag with 1 kg, compensated"] = single(arm.sag() * 1e3, "mrad")
    return found


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    found = ticks(200 if options.quick else 20_000)
    report("Compensation of gravity", found | sags(), options.json)


if __name__ == "__main__":
    main()
