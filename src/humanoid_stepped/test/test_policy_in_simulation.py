"""One policy in the simulation and on the virtual robot: the same behaviour within bounds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pytest
import yaml
from test_support.arm_joints import ARM
from test_support.controllers import add_policy, write_controllers
from test_support.machine import TestMachine
from test_support.policies import policy_model, prime_properties
from test_support.stepped.prime import Prime

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controller_manager.hardware.hardware_group import load_hardware
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.ros.parameters import parse
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.passive_controllers import DampingController
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_controllers.standby import StandbyController
from prime_description import expand

RATE: Final = 200.0  # [Hz] of the simulation; the virtual robot has 50
STEP: Final = 0.02  # [s] between two compared samples
LONG: Final = 4.0  # [s] of the comparison
NAMES: Final = [f"{side}_{joint}" for side in ("left", "right") for joint in ARM]
MOTION: Final = {
    "joints": ["left_shoulder_pitch", "left_elbow_pitch", "right_elbow_pitch", "left_wrist_roll"],
    "times": [1.0, 2.0, 3.0],
    "positions": [-0.4, -0.9, -0.3, 0.4, 0.0, -0.7, -0.8, -0.3, -0.15, -0.5, -0.5, 0.0],
}
# Bounds of the difference of the two: friction, sensors and actuators differ, the policy does not.
LARGEST: Final = 0.1  # [rad]
RMS: Final = 0.025  # [rad] of all joints


def model() -> bytes:
    """Residuals that reduce the error of shoulders and elbows."""
    count = len(NAMES)
    weights = np.zeros((count, count))
    weights[:] = np.diag([0.8 * ("wrist" not in name) for name in NAMES])
    properties = prime_properties(action_kind="residuals", observation_names="joint_pos_error")
    return policy_model(properties, weights)


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policy")
    file = folder / "policy.onnx"
    file.write_bytes(model())
    return add_policy(write_controllers(folder, 1.0), file, motion=MOTION)


def simulated(controllers: Path) -> FloatArray:
    """Measured positions of the simulation from the beginning of LOCOMOTION on, (samples, 14)."""
    description = parse_robot_description(
        expand({"use_sim": "true", "real_time_factor": "0"}), RATE
    )
    hardware = load_hardware(description)
    facts = RobotFacts(description.joints, description.limits, RATE, hardware.capabilities)
    content = yaml.safe_load(controllers.read_text())
    made: dict[str, Controller] = {
        "damping_controller": DampingController(),
        "standby_controller": StandbyController(),
        "rl_policy_controller": (policy := RlPolicyController()),
    }
    for name, controller in made.items():
        own = content[name]["ros__parameters"]
        controller.on_configure(parse(controller.Parameters, name, Document(name, own)), facts)
    time = 0.0
    loop = ControlLoop(
        hardware,
        LimitStage(description.limits),
        {name: ControllerSlot(name, it) for name, it in made.items()},
        safe_chain=["damping_controller"],
        update_rate=RATE,
        machine=TestMachine(lambda: 0.0),
    )
    loop.start("damping_controller", time)
    samples = []
    for i, (name, seconds) in enumerate(
        (("damping_controller", 1.0), ("standby_controller", 3.0), ("rl_policy_controller", LONG))
    ):
        loop.request(SwitchRequest(name, loop.snapshot.switch_number, i + 1))
        samples = []
        for _ in range(round(seconds * RATE)):
            time += 1.0 / RATE
            loop.tick(time, 1.0 / RATE, partial(float, time))
            policy.inference.step()
            samples.append(loop.snapshot.state_array[0].copy())
        assert loop.snapshot.controller == name, loop.snapshot.fall
    return np.array(samples)[:: round(STEP * RATE)]


def on_virtual_robot(controllers: Path) -> FloatArray:
    """Return the same for the virtual robot, with a few samples before and after."""
    prime = Prime(controllers.parent, controllers_file=controllers)
    prime.up()
    prime.damped()
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.pass_time(1.0)
    prime.client.joint_states.clear()
    prime.enter(Mode.LOCOMOTION)
    prime.pass_time(LONG)
    return np.array([it.position for it in prime.client.joint_states])


def test_simulation_and_virtual_robot_behave_alike(controllers: Path) -> None:
    simulation, robot = simulated(controllers), on_virtual_robot(controllers)
    assert simulation[:, NAMES.index("left_elbow_pitch")].min() < -0.75, "it moves"
    # The gains are confirmed some ticks after the request, on the virtual robot later.
    lags = range(len(robot) - len(simulation) + 20)
    differences = [robot[lag:][: len(simulation) - 20] - simulation[:-20] for lag in lags]
    best = min(differences, key=lambda it: float(np.square(it).mean()))
    assert np.abs(best).max() <= LARGEST
    assert np.sqrt(np.square(best).mean()) <= RMS


def test_simulation_is_deterministic(controllers: Path) -> None:
    assert np.array_equal(simulated(controllers), simulated(controllers))
