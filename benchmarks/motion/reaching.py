"""Measure how well Prime tracks the motion of LOCOMOTION, with its policy and with gains alone.

The runs are in MuJoCo, as `hc up mujoco`, and on the virtual robot, on one simulated clock; without
and with a payload in each hand. "Gains alone" is the same controller with a policy whose action is
0. "Held" is the same on the virtual robot with gravity compensation, which does not know the
payload. The error is the difference of the measured joints to the motion, from its first second to
its end.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest.mock import patch

import numpy as np
import yaml
from ament_index_python.packages import get_package_share_directory
from humanoid_control_msgs.msg import ControlMode
from sensor_msgs.msg import JointState
from test_support.reaching import begin_motion, shipped_motion
from test_support.stepped.stack import Stack

from benchmarks.support.figures import Figure, arguments, ratio, report, single
from benchmarks.support.in_process import robot
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import SIMULATION_UPDATE_RATE, description
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_devices_mujoco.mujoco_system import MujocoSystem
from humanoid_policy.motion_reference import MotionReference
from humanoid_policy_training.onnx_export import write_policy
from humanoid_policy_training.reaching_task import reaching_task

CONTROLLER: Final = "rl_policy_controller"
SHARE: Final = Path(get_package_share_directory("humanoid_bringup_prime"))
CONTROLLERS: Final = SHARE / "config/prime_controllers.yaml"
POLICY: Final = SHARE / "policies/reaching.onnx"
PERIOD: Final = 1.0 / SIMULATION_UPDATE_RATE  # [s]
SIMULATED: Final = "MuJoCo"
HELD: Final = "compensates_gravity"
BEGIN: Final = 1.0  # [s] of the motion
END: Final = 9.0  # [s]
PAYLOAD: Final = 1.0  # [kg] in each hand
GRAVITY: Final = 9.81  # [m/s^2]
LONGEST: Final = 20.0  # [s] of STANDBY


class Simulated:
    """Prime in MuJoCo with the policy `model`, and `mass` [kg] in each hand."""

    def __init__(self, urdf: str, model: Path, mass: float) -> None:
        self._controller = RlPolicyController()
        more = {CONTROLLER: (self._controller, {"model": str(model)})}
        self._prime = robot(urdf, SIMULATION_UPDATE_RATE, lambda: 0.0, more=more)
        self.now = 0.0  # [s]
        simulation = self._prime.hardware.members[0].component
        assert isinstance(simulation, MujocoSystem)
        for side in ("left", "right"):
            force = [0.0, 0.0, -GRAVITY * mass]
            simulation.apply_wrench(f"{side}_wrist_yaw_link", force, [0.0] * 3)

    def tick(self) -> Snapshot:
        """Run one tick of the loop, and the inference after it."""
        self.now += PERIOD
        loop = self._prime.loop
        loop.heartbeat()
        loop.tick(self.now, PERIOD, float)
        self._controller.inference.step()
        return self._prime.modes.observe(self.now)

    def enter(self, intent: Intent) -> None:
        """Request a mode and run the tick in which it begins."""
        answer = self._prime.modes.handle(intent, self.now)
        if not answer.accepted:
            raise RuntimeError(answer.message)
        self.tick()


def in_mujoco(urdf: str, motion: MotionReference, model: Path, mass: float) -> FloatArray:
    """Return the errors [rad], (n_ticks, n_joints)."""
    prime = Simulated(urdf, model, mass)
    prime.enter(Intent.DAMP)
    prime.enter(Intent.LOAD)
    while not ((progress := prime.tick().progress) and progress.finished):
        if prime.now > LONGEST:
            raise RuntimeError("STANDBY does not end")
    prime.enter(Intent.START_LOCOMOTION)
    began, errors = prime.now, []
    while (time := prime.now - began) < END:
        snapshot = prime.tick()
        if snapshot.mode is not Mode.LOCOMOTION:
            raise RuntimeError(f"{snapshot.fall}")
        if time >= BEGIN:
            errors.append(motion.at(prime.now - began)[0] - snapshot.state.position)
    return np.array(errors)


def on_the_virtual_robot(
    folder: Path, motion: MotionReference, model: Path, mass: float
) -> FloatArray:
    """Return the errors [rad], (n_ticks, n_joints)."""
    content = yaml.safe_load(CONTROLLERS.read_text())
    content[CONTROLLER]["ros__parameters"]["model"] = str(model)
    period = 1.0 / content["controller_manager"]["ros__parameters"]["update_rate"]
    file = folder / "controllers.yaml"
    file.write_text(yaml.safe_dump(content))
    stack = Stack(folder, controllers_file=file)
    states = begin_motion(stack, mass)
    # The statement of the mode has the measurement of the tick before its first one.
    began = _seconds(stack.client.now) + period
    stack.pass_time(END)
    if stack.client.now.mode != Mode.LOCOMOTION:
        raise RuntimeError(stack.client.now.status_message)
    times = [_seconds(state) - began for state in states]
    kept = [(time, it.position) for time, it in zip(times, states, strict=True) if time >= BEGIN]
    return np.array([motion.at(time)[0] - position for time, position in kept])


def _seconds(message: JointState | ControlMode) -> float:
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)


def rms(errors: FloatArray) -> Figure:
    """Return the root mean square over joints and time."""
    return single(float(np.sqrt((errors**2).mean())) * 1e3, "mrad")


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    task = reaching_task("prime")
    urdf = description(Options(backend=Backend.MUJOCO, real_time_factor=0.0))
    motion = shipped_motion()
    values: dict[str, Figure] = {}
    with TemporaryDirectory() as folder:
        nothing = Path(folder) / "nothing.onnx"
        write_policy(nothing, task, np.zeros(task.network.size))
        places = {
            SIMULATED: partial(in_mujoco, urdf, motion),
            "virtual robot": partial(on_the_virtual_robot, Path(folder), motion),
        }
        for mass in (0.0,) if options.quick else (0.0, PAYLOAD):
            for place, errors_with in places.items():
                name = f"{place}, {mass:g} kg in each hand"
                alone, ours = (rms(errors_with(model, mass)) for model in (nothing, POLICY))
                if place != SIMULATED:  # where the loop has no compensation
                    with patch.object(RlPolicyController, HELD, property(lambda _: True)):
                        values[f"{name}: gains alone, held"] = rms(errors_with(nothing, mass))
                values[f"{name}: gains alone"], values[f"{name}: policy"] = alone, ours
                values[f"{name}: gains alone / policy"] = ratio(alone, ours)
    report("Tracking error of LOCOMOTION, RMS of 14 joints", values, options.json)


if __name__ == "__main__":
    main()
