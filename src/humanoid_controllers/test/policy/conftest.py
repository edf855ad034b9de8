"""The policy controller on joints that only tests move; tests also run the inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from test_support.policies import policy_model

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_policy.model import load_policy

JOINTS = ("shoulder", "elbow", "wrist")
RATE = 100.0  # [Hz]
PERIOD = 1.0 / RATE
BEGIN = 50.0  # [s]: clocks do not begin at zero
# The policy's joints are in another order than the robot's.
PROPERTIES = {
    "task": "reach",
    "joint_names": "wrist,shoulder,elbow",
    "joint_stiffness": "5.5,20.0,30.0",
    "joint_damping": "0.25,2.0,3.0",
    "default_joint_pos": "0.0,0.1,-0.5",
    "action_joint_names": "elbow,wrist",
    "action_kind": "targets",
    "action_scale": "0.5",
    "observation_names": "joint_pos",
    "policy_period": "0.04",
}


class Bench:
    """The controller of three joints: ±2 rad, 3 rad/s, 10 Nm, at 100 Hz.

    Args:
        folder: for the model.
        bias: the action; a model with `weights` adds a function of the observation.
        motion: parameter of the controller.
        capabilities: of the joints, see RobotFacts.
        properties: changes of the model's metadata.
    """

    def __init__(
        self,
        folder: Path,
        bias: object = 0.0,
        *,
        weights: FloatArray | None = None,
        invalid_for: float = np.inf,
        endless_for: float = np.inf,
        motion: Mapping[str, object] | None = None,
        capabilities: np.ndarray | None = None,
        **properties: str,
    ) -> None:
        file = folder / "policy.onnx"
        found = {**PROPERTIES, **properties}
        bias = np.asarray(bias, dtype=float)
        file.write_bytes(
            policy_model(found, weights, bias, invalid_for=invalid_for, endless_for=endless_for)
        )
        limit = np.full(3, 2.0)
        limits = JointLimits(-limit, limit, np.full(3, 3.0), np.full(3, 10.0))
        self.controller = RlPolicyController(load_policy)
        raw = {"model": str(file), "motion": motion}
        parameters = RlPolicyController.Parameters.model_validate(raw)
        facts = RobotFacts(JointSet(JOINTS), limits, RATE, capabilities)
        self.controller.on_configure(parameters, facts)
        self.now = BEGIN
        self.state, self.command = JointState(3), JointCommand(3)
        self.state.array.fill(0.0)
        self.state.position[:] = [0.1, -0.5, 0.0]

    def activate(self) -> Bench:
        """Start the controller in the loop's order."""
        self.controller.check_start(self.state, self.now)
        self.controller.on_activate(self.state, JointCommand(3), self.now)
        return self

    def tick(self, count: int = 1, *, infers: bool = True) -> JointCommand:
        """Run ticks with the inference between them; return the latest command."""
        for _ in range(count):
            self.controller.update(self.state, self.command, self.now, PERIOD)
            if infers:
                self.controller.inference.step()
            self.now += PERIOD
        return self.command


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    """Make a bench whose controller is active, see Bench."""

    def make(*arguments: object, **changes: object) -> Bench:
        return Bench(tmp_path, *arguments, **changes).activate()  # type: ignore[arg-type]

    return make


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Bench]:
    """Make a bench whose controller is not active."""
    return lambda *arguments, **changes: Bench(tmp_path, *arguments, **changes)


@pytest.fixture
def arms_per_mode() -> np.ndarray:
    """Capabilities of a robot whose wrist alone has all interfaces in every tick."""
    found = np.full((5, 3), Capability.PER_TICK)
    found[1:3, :2] = Capability.NEVER
    found[3:, :2] = Capability.PER_MODE
    return found
