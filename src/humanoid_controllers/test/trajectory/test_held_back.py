"""Controllers whose motion the limit stage holds back continue from the reached position.

Two fingers, one controller each: the way of either is free while the other one rests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_support.machine import TestMachine

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.mode_controllers import (
    ClaimedJoints,
    ControllerSlot,
    group_name,
)
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_controllers.remote import RemoteCommand, RemoteParameters, RemotePolicyController
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.follower import HELD_BACK_TIMEOUT
from humanoid_controllers.trajectory.goal import Goal, Status
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.path_check import PathCheck
from humanoid_motion.errors import MotionRefusedError
from src.humanoid_motion.test.collision.conftest import fingers, tips_apart

__all__ = ["fingers"]  # a fixture

NAMES, RATE, DISTANCE = ("left", "right"), 100.0, 0.02  # [Hz], [m]
VELOCITY, ACCELERATION = 3.0, 4.0  # [rad/s], [rad/s^2], the controller's default


def _trajectories(robot: RobotFacts) -> JointTrajectoryController:
    controller = JointTrajectoryController()
    raw = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    controller.on_configure(controller.Parameters.model_validate(raw), robot)
    return controller


def _remote(robot: RobotFacts) -> RemotePolicyController:
    controller = RemotePolicyController()
    parameters = RemoteParameters(stiffness=20.0, damping=2.0, command_timeout=1e6)
    controller.on_configure(parameters, robot)
    return controller


def _stream(position: float) -> FloatArray:
    """Return the command of one joint, (5, 1)."""
    return np.array([[position], [0.0], [0.0], [20.0], [2.0]])


class Fingers:
    """A loop in REMOTE, with mock joints; one controller made by `make` for each finger."""

    def __init__(self, urdf: str, make: Any) -> None:
        joints = JointSet(NAMES)
        limit = np.full(2, 1.5)
        limits = JointLimits(-limit, limit, np.full(2, VELOCITY), np.full(2, 100.0))
        model = CollisionModel(urdf, NAMES)
        check = PathCheck(model, DISTANCE, self.position, np.arange(2))
        facts = RobotFacts(joints, limits, RATE, None, lambda: check)
        infos = tuple(JointInfo(name, {}, 0.0) for name in NAMES)
        info = HardwareInfo(
            name="fingers",
            plugin="mock",
            parameters={},
            joints=infos,
            limits=limits,
            update_rate=RATE,
            urdf=urdf,
        )
        member = Member(info, GenericSystem(), np.arange(2), JointState(2), JointCommand(2))
        hardware = HardwareGroup(joints, [member])
        hardware.configure()
        self.damping = damping = DampingController()
        damping.on_configure(DampingParameters(damping=6.0), facts)
        slots = {"damping": ControllerSlot("damping", damping)}
        self.of: dict[str, Any] = {}
        for row, name in enumerate(NAMES):
            controller: Controller = make(facts.of(np.array([row])))
            self.of[name] = controller
            slots[name] = ControllerSlot(
                name, controller, ("damping",), ClaimedJoints(np.array([row]))
            )
        self.time = 10.0
        self.loop = ControlLoop(
            hardware,
            LimitStage(limits, SelfCollisionStage(model, DISTANCE)),
            slots,
            safe_chain=["damping"],
            update_rate=RATE,
            machine=TestMachine(lambda: self.time),
        )
        self.targets: list[FloatArray] = []
        self.loop.start("damping", self.time)
        number = self.loop.snapshot.switch_number
        self.loop.request(SwitchRequest(group_name(NAMES), number, 1))
        self.tick()

    def position(self) -> FloatArray:
        return self.loop.snapshot.state.position

    def tick(self) -> None:
        self.time += 1 / RATE
        self.loop.tick(self.time, 1 / RATE, lambda: self.time)
        assert self.loop.snapshot.fall is None, self.loop.snapshot.fall
        assert tips_apart(self.position()) > DISTANCE - 1e-5
        self.targets.append(self.loop.snapshot.command.position.copy())

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * RATE)):
            self.tick()

    def move(self, name: str, position: float, duration: float = 0.0) -> Goal:
        goal: Goal = self.of[name].planner.move({name: position}, self.time, duration)
        return goal

    def end(self, name: str, goal: Goal) -> tuple[Status, str]:
        progress = self.of[name].follower.progress
        assert progress is not None
        found: tuple[Status, str] = progress.of(goal.number)
        return found

    def bend(self) -> float:
        """Return the largest acceleration of the written targets [rad/s^2] since the last call."""
        found = float(np.abs(np.diff(self.targets, 2, axis=0)).max()) * RATE**2
        self.targets.clear()
        return found


@pytest.fixture
def moving(fingers: str) -> Fingers:
    return Fingers(fingers, _trajectories)


def test_two_motions_that_meet_stop_and_end_with_the_links_named(moving: Fingers) -> None:
    """Each was accepted with the other one at rest. No target moves where its joint may not go."""
    goals = {name: moving.move(name, end) for name, end in (("left", 0.7), ("right", -0.7))}
    drift = 0.0
    for _ in range(round((1.5 + 2 * HELD_BACK_TIMEOUT) * RATE)):
        moving.tick()
        for row, (name, goal) in enumerate(goals.items()):
            progress = moving.of[name].follower.progress
            if progress.goal is goal:
                ahead = goal.trajectory.at(progress.time)[0, 0] - moving.targets[-1][row]
                drift = max(drift, abs(ahead))
    assert drift < 1.1 * VELOCITY / RATE
    for name, goal in goals.items():
        status, text = moving.end(name, goal)
        assert status is Status.LINKS_TOO_NEAR
        assert text == "left_link and right_link are 20 mm apart: the way is not free"
    moving.bend()
    for name in NAMES:  # back, which is free
        moving.move(name, 0.0)
    moving.run(2.0)
    assert moving.position() == pytest.approx([0.0, 0.0], abs=1e-6)
    assert moving.bend() <= ACCELERATION * (1 + 1e-6)


def test_a_motion_that_was_held_back_goes_on_without_a_step_when_its_way_is_free(
    moving: Fingers,
) -> None:
    left, right = moving.move("left", 0.7, 2.0), moving.move("right", -0.42)
    moving.tick()
    while moving.of["left"].follower.progress.rate > 0.2:
        moving.tick()
    assert moving.end("right", right)[0] is Status.SUCCEEDED
    assert moving.end("left", left)[0] is Status.ACTIVE
    assert moving.position()[0] < 0.6
    with pytest.raises(MotionRefusedError, match="links too near to each other slow"):
        moving.move("left", 0.0)
    moving.bend()
    moving.move("right", 0.0)
    moving.run(2.0)
    assert moving.end("left", left)[0] is Status.SUCCEEDED
    assert moving.position() == pytest.approx([0.7, 0.0], abs=1e-6)
    assert moving.bend() <= ACCELERATION * (1 + 1e-6)


def test_a_goal_planned_before_the_motion_was_held_back_does_not_begin(moving: Fingers) -> None:
    """The next motion would begin at the position of the unlimited one."""
    moving.move("left", 0.7, 2.0)
    moving.move("right", -0.45)
    moving.tick()
    goals = []
    while moving.of["left"].follower.progress.rate == 1.0:
        goals.append(moving.move("left", 0.1))  # replaces the goal before, which has not begun
        moving.tick()
    moving.run(0.2)
    ends = [moving.end("left", goal) for goal in goals]
    assert ends[-1][0] is Status.OVERTAKEN
    assert any("apart: the motion that it continues is slowed down" in text for _, text in ends)
    assert moving.of["left"].follower.progress.goal not in goals


def test_a_stop_of_a_motion_that_is_held_back_ends_it_where_it_is(moving: Fingers) -> None:
    goals = [moving.move("left", 0.7), moving.move("right", -0.7)]
    while moving.of["left"].follower.progress.rate > 0.5:
        moving.tick()
    moving.of["left"].planner.cancel()
    moving.run(0.5)
    assert moving.end("left", goals[0])[0] is Status.CANCELED
    held = moving.of["left"].follower.progress.goal.trajectory.end[0]
    assert held == pytest.approx(moving.targets[-1][:1], abs=1e-3)


def test_a_stream_that_led_too_near_turns_back_at_once(fingers: str) -> None:
    """The target of REMOTE does not move where the joints may not go."""
    robot = Fingers(fingers, _remote)
    robot.of["left"].receive(RemoteCommand(_stream(0.6), robot.time))
    robot.of["right"].receive(RemoteCommand(_stream(-0.6), robot.time))
    robot.run(3.0)
    here = robot.position().copy()
    assert here[0] < 0.55
    robot.of["left"].receive(RemoteCommand(_stream(-0.5), robot.time))
    robot.tick()
    assert robot.targets[-1][0] == pytest.approx(here[0] - VELOCITY / RATE, abs=2e-3)


def test_a_member_that_fails_in_on_held_back_is_replaced_in_the_same_tick(
    fingers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = Fingers(fingers, _remote)

    def broken(target: FloatArray, why: str) -> None:
        raise RuntimeError(f"{len(target)} target, {why}")

    monkeypatch.setattr(robot.of["right"], "on_held_back", broken)
    robot.of["left"].receive(RemoteCommand(_stream(0.6), robot.time))
    robot.of["right"].receive(RemoteCommand(_stream(-0.6), robot.time))
    with pytest.raises(AssertionError, match="right failed: RuntimeError: 1 target, left_link"):
        robot.run(3.0)
    assert robot.loop.snapshot.controller == "damping"


def test_a_controller_that_takes_over_does_not_get_the_command_before(
    fingers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, told = Fingers(fingers, _remote), []
    robot.of["left"].receive(RemoteCommand(_stream(0.6), robot.time))
    robot.of["right"].receive(RemoteCommand(_stream(-0.6), robot.time))
    robot.run(1.0)
    assert robot.loop.limits.held_back is not None
    for controller in (*robot.of.values(), robot.damping):
        monkeypatch.setattr(controller, "on_held_back", lambda *given: told.append(given))
    robot.loop.request(SwitchRequest("damping", robot.loop.snapshot.switch_number, 2))
    robot.tick()
    robot.loop.request(SwitchRequest("left+right", robot.loop.snapshot.switch_number, 3))
    robot.run(0.1)
    assert robot.loop.snapshot.controllers == NAMES
    assert told == []
