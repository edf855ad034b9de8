"""Simulate candidates that track motions, and compute their costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_bringup.plan import SIMULATION_UPDATE_RATE
from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy.observation.inputs import ObservationInputs, Reference
from humanoid_policy_training.arm_network import Parameters
from humanoid_policy_training.random_robots import RandomRobots
from humanoid_policy_training.reaching_motions import ReachingMotions
from humanoid_policy_training.reaching_task import PERIOD, ReachingTask

TICKS: Final = round(PERIOD * SIMULATION_UPDATE_RATE)  # of the control loop in a policy period
CHANGE_COST: Final = 0.02  # of a change of the action, squared: a quiet robot
JERK_COST: Final = 0.02  # of a change of the change, squared


@dataclass(frozen=True, slots=True)
class Outcome:
    """Costs (candidates,), and errors [rad] (candidates, robots, steps, n_joints)."""

    costs: FloatArray
    errors: FloatArray


def run(
    task: ReachingTask,
    candidates: Parameters,
    robots: RandomRobots,
    motions: ReachingMotions,
    steps: int,
) -> Outcome:
    """Let each of `candidates` (n, size) track all `motions` for `steps` policy periods.

    `robots` are as many as candidates times motions, and at their beginnings. As on the robot, an
    action acts one policy period after its observation; until the first one the motion leads.
    """
    count, group, joints = len(candidates), *motions.poses[:, 0].shape
    shape = (count, group, joints)
    layers = task.network.layers(candidates.astype(np.float32))
    before, change_before = np.zeros(shape), np.zeros(shape)
    commanded = robots.measured()[0].reshape(shape)
    errors = np.empty((count, group, steps, joints))
    cost = np.zeros(count)
    for i in range(steps):
        time = i * PERIOD
        position, velocity = (it.reshape(shape) for it in robots.measured())
        reference = _reference(motions, time, shape)
        errors[:, :, i] = reference.position - robots.true()[0].reshape(shape)
        inputs = ObservationInputs(position, velocity, np.zeros(shape), before, reference)
        observation = task.observation.compute(inputs)
        action = task.bounds.bounded(task.network.actions(layers, observation), observation)
        held = task.action_law.held(before, before)
        change = action - before
        cost += CHANGE_COST * (change**2).mean(axis=(1, 2))
        cost += JERK_COST * ((change - change_before) ** 2).mean(axis=(1, 2))
        before, change_before = action.astype(np.float64), change
        times = (time + tick * PERIOD / TICKS for tick in range(TICKS))
        targets = [task.action_law.target(held, _reference(motions, it, shape)) for it in times]
        positions = _slewed(commanded, [it.position for it in targets], task.limits.velocity)
        commanded = positions[:, :, -1]
        velocities = np.stack([it.velocity for it in targets], axis=2)
        robots.step(*(it.reshape(-1, TICKS, joints) for it in (positions, velocities)))
    return Outcome(cost / steps + (errors**2).mean(axis=(1, 2, 3)), errors)


def _slewed(
    commanded: FloatArray, targets: Sequence[FloatArray], velocity: FloatArray
) -> FloatArray:
    """Return positions that follow `targets` no faster than `velocity`, as the controller does.

    `commanded` (..., n_joints) before; the result has one more axis, of the ticks, before the last.
    """
    step = velocity * PERIOD / TICKS
    found = []
    for target in targets:
        commanded = commanded + np.clip(target - commanded, -step, step)
        found.append(commanded)
    return np.stack(found, axis=2)


def _reference(motions: ReachingMotions, time: float, shape: tuple[int, ...]) -> Reference:
    position, velocity = (np.broadcast_to(it, shape) for it in motions.at(time))
    return Reference(position, velocity, np.zeros((*shape[:-1], 1)))
