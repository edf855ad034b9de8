"""The trajectory controller on joints that follow exactly, on a clock that only tests advance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.goal import Goal, Status

PERIOD = 0.01  # [s]
BEGIN = 50.0  # [s]: clocks do not begin at zero


class Bench:
    """The active controller of `count` joints (±2 rad, 3 rad/s) that begin at `position`.

    `offset` [rad] is the distance of the measured joints to the commanded ones.
    """

    def __init__(self, count: int = 3, position: float = 0.0, **changes: object) -> None:
        limit = np.full(count, 2.0)
        limits = JointLimits(-limit, limit, np.full(count, 3.0), np.full(count, 10.0))
        names = JointSet(tuple(f"joint_{i}" for i in range(count)))
        self.controller = JointTrajectoryController()
        raw = {
            "stiffness": 20.0,
            "damping": 2.0,
            "allow_partial_joints_goal": True,
            "max_acceleration": 5.0,
            "max_jerk": 60.0,
            **changes,
        }
        parameters = JointTrajectoryController.Parameters.model_validate(raw)
        self.controller.on_configure(parameters, RobotFacts(names, limits, 1.0 / PERIOD))
        self.planner, self.follower = self.controller.planner, self.controller.follower
        self.now, self.offset = BEGIN, np.zeros(count)
        self.state, self.command = JointState(count), JointCommand(count)
        self.state.array.fill(0.0)
        self.state.position[:] = position
        self.positions: list[FloatArray] = [self.state.position.copy()]
        self.activate()

    def activate(self) -> None:
        self.controller.on_activate(self.state, JointCommand(len(self.offset)), self.now)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.now += PERIOD
            self.controller.update(self.state, self.command, self.now, PERIOD)
            self.state.position[:] = self.command.position + self.offset
            self.state.velocity[:] = self.command.velocity
            self.positions.append(self.command.position.copy())

    def run(self, seconds: float) -> None:
        self.tick(round(seconds / PERIOD))

    def move(self, duration: float = 0.0, speed: float = 0.0, **targets: float) -> Goal:
        return self.planner.move(targets, self.now, duration, speed)

    def status(self, goal: Goal) -> Status:
        assert self.follower.progress is not None
        return self.follower.progress.of(goal.number)[0]

    def text(self, goal: Goal) -> str:
        assert self.follower.progress is not None
        return self.follower.progress.of(goal.number)[1]

    def refuse_steps(self) -> None:
        """Fail if the commanded positions step, or are faster or bend more than the limits."""
        if len(self.positions) < 2:
            return
        velocity = np.diff(self.positions, axis=0) / PERIOD
        assert np.abs(velocity).max() <= 3.0 * (1 + 1e-6)
        bend = np.diff(np.concatenate([0 * velocity[:1], velocity]), axis=0) / PERIOD
        assert np.abs(bend).max() <= 5.0 * (1 + 1e-6)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(scope="session")
def make_bench() -> Callable[..., Bench]:
    return Bench
