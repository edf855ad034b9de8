"""Trajectories of Prime in the loop, on the mock and in MuJoCo, against the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from test_support.machine import TestMachine

from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.hardware_group import load_hardware
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.goal import Goal, Progress, Status
from humanoid_motion.trajectory.points import Point
from prime_description import expand

RATE = 200.0  # [Hz]
# Load / stiffness: in these poses at most 3 Nm at 20 Nm/rad.
SAG = {"use_fake_hardware": 1e-9, "use_sim": 0.15}  # [rad]
ELBOWS = ("left_elbow_pitch", "right_elbow_pitch")
ROLLS = ("left_wrist_roll", "right_wrist_roll")


class Loop:
    """Prime's loop in REMOTE with the trajectory controller, on a clock that only tests advance."""

    def __init__(self, backend: str) -> None:
        description = parse_robot_description(expand({backend: "true"}), RATE)
        hardware = load_hardware(description)
        facts = RobotFacts(description.joints, description.limits, RATE, hardware.capabilities)
        self.controller, damping = JointTrajectoryController(), DampingController()
        raw = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
        self.controller.on_configure(JointTrajectoryController.Parameters(**raw), facts)
        damping.on_configure(DampingParameters(damping=6.0), facts)
        slots = {"damping": damping, "trajectory": self.controller}
        self.now, self.joints = 0.0, description.joints
        self._loop = ControlLoop(
            hardware,
            LimitStage(description.limits),
            {name: ControllerSlot(name, it) for name, it in slots.items()},
            safe_chain=("damping",),
            update_rate=RATE,
            machine=TestMachine(lambda: self.now),
        )
        self._loop.start("damping", 0.0)
        self._loop.request(SwitchRequest("trajectory", None, 1))
        self.run(2.0)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * RATE)):
            self.now += 1.0 / RATE
            self._loop.tick(self.now, 1.0 / RATE, lambda: self.now)
        assert self._loop.snapshot.controller == "trajectory"

    def follow(self, goal: Goal) -> FloatArray:
        """Follow `goal` to its end; the commanded positions (ticks, n), checked by its form."""
        commanded = []
        start = self.now
        for _ in range(round((goal.trajectory.duration + 2.0) * RATE)):
            self.run(1.0 / RATE)
            commanded.append(self._loop.snapshot.command_array[0].copy())
            # The first tick after the request is the beginning.
            expected = goal.trajectory.at(self.now - start - 1.0 / RATE)[0]
            assert commanded[-1] == pytest.approx(expected, abs=1e-6)
        return np.array(commanded)

    @property
    def progress(self) -> Progress:
        found = self.controller.follower.progress
        assert found is not None
        return found

    @property
    def measured(self) -> FloatArray:
        return self._loop.snapshot.state_array[0]


@pytest.fixture(params=["use_fake_hardware", "use_sim"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_trajectory_is_commanded_as_its_closed_form_and_reached(backend: str) -> None:
    loop = Loop(backend)
    targets = {**dict.fromkeys(ELBOWS, -0.8), **dict.fromkeys(ROLLS, 0.4)}
    points = [Point(2.0, list(targets.values()))]
    rows = loop.joints.indices(targets)
    begin = loop.progress.goal.trajectory.end[0]
    goal = loop.controller.planner.follow(list(targets), points, loop.now)
    commanded = loop.follow(goal)
    u = np.arange(0, 400)[:, None] / 400  # of 2 s
    way = (np.array([*targets.values()]) - begin[rows]) * (10 * u**3 - 15 * u**4 + 6 * u**5)
    assert np.abs(commanded[:400, rows] - begin[rows] - way).max() < 1e-6
    assert commanded[-1, rows] == pytest.approx([*targets.values()])
    assert loop.progress.of(goal.number)[0] is Status.SUCCEEDED
    assert np.abs(loop.measured - commanded[-1]).max() <= SAG[backend]


def test_a_move_as_fast_as_the_limits_permit_is_reached(backend: str) -> None:
    loop = Loop(backend)
    goal = loop.controller.planner.move(dict.fromkeys(ELBOWS, -1.0), loop.now)
    commanded = loop.follow(goal)
    bend = np.diff(commanded, 2, axis=0) * RATE**2
    assert np.abs(bend).max() <= 4.0 * (1 + 1e-6)
    assert np.abs(loop.measured - commanded[-1]).max() <= SAG[backend]
