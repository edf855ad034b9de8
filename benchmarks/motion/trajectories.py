"""Measure trajectories: a tick of the controller, and the time to plan a motion.

A tick is compared with a tick of REMOTE, which follows a stream of commands.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.support.figures import Figure, arguments, figure, report
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controllers.remote import RemoteCommand, RemoteParameters, RemotePolicyController
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_motion.trajectory.points import Point

JOINTS = 14
PERIOD = 0.005  # [s]
TICKS = 20_000
PLANS = 200


def facts() -> RobotFacts:
    """Return 14 joints with ±3 rad and 4 rad/s."""
    ones = np.ones(JOINTS)
    names = JointSet(tuple(f"joint_{i}" for i in range(JOINTS)))
    return RobotFacts(names, JointLimits(-3 * ones, 3 * ones, 4 * ones, 30 * ones), 1.0 / PERIOD)


def trajectory_controller() -> JointTrajectoryController:
    """Return a controller in charge, at rest at 0."""
    controller = JointTrajectoryController()
    controller.on_configure(
        JointTrajectoryController.Parameters(stiffness=20.0, damping=2.0), facts()
    )
    state = JointState(JOINTS)
    state.array.fill(0.0)
    controller.on_activate(state, JointCommand(JOINTS), 0.0)
    return controller


def points(count: int) -> list[Point]:
    """Return a smooth motion of `count` points, a second apart."""
    joints = np.arange(JOINTS)
    return [
        Point(i + 1.0, (0.3 * np.sin(0.7 * i + joints) - 0.3 * np.sin(joints)).tolist())
        for i in range(count)
    ]


def ticks(controller: Controller, before: Callable[[float], object], count: int) -> Figure:
    """Return the time of one update; `before` is called ahead of it with the time."""
    state, command = JointState(JOINTS), JointCommand(JOINTS)
    state.array.fill(0.0)
    samples = np.empty(count)
    gc.collect()
    for i in range(count):
        now = (i + 1) * PERIOD
        before(now)
        begin = time.perf_counter()
        controller.update(state, command, now, PERIOD)
        samples[i] = time.perf_counter() - begin
        state.position[:] = command.position
    return figure(samples[count // 20 :], "us", 1e6)


def followed(count: int) -> Figure:
    """Return the time of an update on a trajectory of 100 points."""
    controller = trajectory_controller()
    names = facts().joints.names
    controller.planner.follow(names, points(100), 0.0)
    return ticks(controller, lambda now: None, count)


def streamed(count: int) -> Figure:
    """Return the time of an update of REMOTE with a new command in each tick."""
    controller = RemotePolicyController()
    parameters = RemoteParameters(stiffness=20.0, damping=2.0, command_timeout=0.1)
    controller.on_configure(parameters, facts())
    state = JointState(JOINTS)
    state.array.fill(0.0)
    controller.on_activate(state, JointCommand(JOINTS), 0.0)
    array = np.zeros((5, JOINTS))
    return ticks(controller, lambda now: controller.receive(RemoteCommand(array, now)), count)


def planned(plan: Callable[[JointTrajectoryController], object], count: int) -> Figure:
    """Return the time of `plan`."""
    samples = np.empty(count)
    for i in range(count):
        controller = trajectory_controller()
        gc.collect()
        begin = time.perf_counter()
        plan(controller)
        samples[i] = time.perf_counter() - begin
    return figure(samples, "ms", 1e3)


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    names = facts().joints.names
    ends = {name: 0.5 + 0.1 * i for i, name in enumerate(names)}
    count, plans = (TICKS // 20, PLANS // 20) if options.quick else (TICKS, PLANS)
    figures = {
        "update of the trajectory controller": followed(count),
        "update of REMOTE": streamed(count),
        "plan a move": planned(lambda it: it.planner.move(ends, 0.0), plans),
    }
    for number in (1, 10, 100, 1000):
        figures[f"plan a trajectory of {number} points"] = planned(
            partial(_follow, points(number)), plans
        )
    report("Trajectories of 14 joints", figures, options.json)


def _follow(points: list[Point], controller: JointTrajectoryController) -> None:
    controller.planner.follow(facts().joints.names, points, 0.0)


if __name__ == "__main__":
    main()
