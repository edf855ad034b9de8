"""A joint of the virtual robot's plant with planted friction, under a servo controller."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import yaml

from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_servo_controllers.controllers import (
    EffortController,
    ServoController,
    VelocityController,
)
from humanoid_servo_controllers.friction_recording.controller import (
    CONTROLLER,
    RecordingMethod,
    recorder_parameters,
)
from humanoid_servo_controllers.friction_recording.recording import Bounds, Recording, Sample
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap
from humanoid_twin.physics.friction import BreakawayCurve, JointFriction
from humanoid_twin.physics.mujoco_plant import MujocoPlant

JOINT = "wrist"
RATE = 200.0  # [Hz] of the loop
TICK = 1.0 / RATE  # [s]
LIMIT = 9.0  # [Nm]
VELOCITY = 3.0  # [rad/s]
MASS, LENGTH = 0.4, 0.1  # [kg], [m]: 0.39 Nm when it is level
FORWARD = [(-0.2, 0.5), (0.2, 0.9)]  # [rad, Nm]
BACKWARD = [(-0.2, -0.8), (0.2, -0.5)]
URDF = f"""<robot name="one">
  <link name="base"/>
  <link name="hand"><inertial><origin xyz="0 0 -{LENGTH}"/><mass value="{MASS}"/>
    <inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{JOINT}" type="revolute"><parent link="base"/><child link="hand"/>
    <axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" effort="{LIMIT}" velocity="{VELOCITY}"/></joint>
</robot>"""


def bounds(lower: float = -0.2, upper: float = 0.2, **more: Any) -> Bounds:
    """Bounds within the joint's own."""
    return Bounds(lower, upper, -0.5, 0.5, **({"max_effort": 2.0, "max_speed": 1.5} | more))


def planted() -> FrictionMap:
    """The friction of both directions."""
    forward, backward = np.array(FORWARD), np.array(BACKWARD)
    return FrictionMap(
        FrictionCurve(forward[:, 0], forward[:, 1], 1),
        FrictionCurve(backward[:, 0], backward[:, 1], -1),
    )


class FrictionJoint:
    """A hanging link with friction and weight; the loop ticks when a test calls it.

    Args:
        kind: class of its controller.
        parameters: of that.
        position: at the start [rad].
        friction: whether it has any.
        stribeck: whether it is less in motion.
        noise: of the measured position, its standard deviation [rad].
    """

    def __init__(
        self,
        kind: type[ServoController],
        parameters: dict[str, Any],
        position: float = 0.0,
        *,
        friction: bool = True,
        stribeck: bool = False,
        noise: float = 0.0,
    ) -> None:
        own = JointFriction(
            forward=BreakawayCurve(FORWARD, 1),
            backward=BreakawayCurve(BACKWARD, -1),
            coulomb=0.8 if stribeck else 1.0,
            stribeck_speed=0.05,
            viscous=0.05,
        )
        self.plant = MujocoPlant(URDF, {JOINT: 0.01}, {JOINT: own} if friction else {})
        self.plant.set_state(0, position, 0.0)
        limit = np.array([0.5])
        limits = JointLimits(-limit, limit, np.array([VELOCITY]), np.array([LIMIT]))
        self.controller = kind()
        facts = RobotFacts(JointSet((JOINT,)), limits, RATE)
        self.controller.on_configure(kind.Parameters.model_validate(parameters), facts)
        self.state, self.command, self.now = JointState(1), JointCommand(1), 0.0
        self._noise, self._generator = noise, np.random.default_rng(1)
        self._measure()
        self.controller.on_activate(self.state, self.command, self.now)

    def tick(self, command: float | None) -> float:
        """Run one tick, with a new command or none. Return the effort [Nm]."""
        if command is not None:
            self.controller.receive(np.array([command]), self.now)
        self._measure()
        self.controller.update(self.state, self.command, self.now, TICK)
        self.plant.torque[0] = effort = float(self.command.effort[0])
        for _ in range(round(TICK * 1000)):
            self.plant.step(0.001)
        self.now += TICK
        return effort

    def sample(self) -> Sample:
        """Return the measurement of the joint."""
        position, velocity = float(self.plant.position[0]), float(self.plant.velocity[0])
        gravity = MASS * 9.81 * LENGTH * math.sin(position)
        return Sample(self.now, position, velocity, float(self.command.effort[0]), gravity)

    def record(
        self,
        recording: Recording,
        longest: float = 600.0,
        watch: Callable[[Recording], object] | None = None,
    ) -> list[float]:
        """Run a recording to its end, at most `longest` [s]; return the positions."""
        positions = []
        while not recording.done:
            assert self.now < longest, f"no end after {longest:g} s"
            self.tick(recording.step(self.sample()))
            positions.append(float(self.plant.position[0]))
            if watch is not None:
                watch(recording)
        return positions

    def _measure(self) -> None:
        noise = self._generator.normal(0.0, self._noise) if self._noise else 0.0
        self.state.position[:] = self.plant.position + noise
        self.state.velocity[:] = self.plant.velocity
        self.state.effort[:] = self.command.effort


def recorded_joint(method: RecordingMethod, position: float = 0.0, **more: Any) -> FrictionJoint:
    """Return a joint under the controller of a recorder."""
    text = recorder_parameters(method, JOINT, LIMIT, VELOCITY)
    raw = yaml.safe_load(text)[CONTROLLER]["ros__parameters"]
    kind = VelocityController if method == "sweep" else EffortController
    assert raw.pop("type") == f"humanoid_control/{kind.__name__}"
    assert raw.pop("joints") == [JOINT]
    del raw["fallback_controllers"]
    return FrictionJoint(kind, raw, position, **more)
