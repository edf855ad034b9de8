"""Train the policy: all candidates of a generation track the same motions on the same robots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy_training.arm_network import Parameters
from humanoid_policy_training.episodes import run
from humanoid_policy_training.evolution import Evolution
from humanoid_policy_training.random_robots import NOMINAL, Randomization, RandomRobots
from humanoid_policy_training.reaching_motions import random_motions
from humanoid_policy_training.reaching_task import PERIOD, ReachingTask

CANDIDATES: Final = 64
MOTIONS: Final = 4  # that each candidate tracks
STEPS: Final = 120  # of a motion: 2.4 s
SPREAD: Final = 0.04
RATE: Final = 0.015  # of the first generation; it falls to a tenth
START_ERROR: Final = 0.15  # [rad] from the reference at the beginning: the sag of STANDBY
TESTED: Final = 64  # motions of a test
TEST_STEPS: Final = 300
SETTLED: Final = 25  # steps after which a test counts: the error of the beginning has decayed
TEST_SEED: Final = 7
BETWEEN_TESTS: Final = 20  # generations


@dataclass(frozen=True, slots=True)
class Score:
    """Tracking errors [rad], root mean square over motions, joints and time."""

    generation: int
    nominal: float  # robots as described, without payload and friction
    random: float  # robots as in the training


def robots_of(task: ReachingTask, count: int) -> RandomRobots:
    """Return `count` robots with the gains of LOCOMOTION."""
    return RandomRobots(task.model, count, task.metadata, task.takes_velocity, task.hands)


def tracking_error(
    task: ReachingTask, robots: RandomRobots, parameters: Parameters, ranges: Randomization
) -> FloatArray:
    """Return the RMS error [rad] of each joint, (n_joints,), on the motions of the test."""
    random = np.random.default_rng(TEST_SEED)
    motions = random_motions(random, task.limits, TESTED, TEST_STEPS * PERIOD)
    robots.reset(motions.poses[:, 0], ranges, random, TESTED)
    errors = run(task, parameters[None], robots, motions, TEST_STEPS).errors[0, :, SETTLED:]
    found: FloatArray = np.sqrt((errors**2).mean(axis=(0, 1)))
    return found


def train(
    task: ReachingTask,
    generations: int,
    seed: int,
    tested: Callable[[Score, Parameters], None],
) -> Parameters:
    """Return the parameters after `generations`; call `tested` with intermediate ones."""
    random = np.random.default_rng(seed)
    evolution = Evolution(task.network.initial(random), CANDIDATES, SPREAD)
    with robots_of(task, CANDIDATES * MOTIONS) as robots, robots_of(task, TESTED) as test_robots:

        def test(generation: int) -> None:
            rms = (
                tracking_error(task, test_robots, evolution.parameters, ranges)
                for ranges in (NOMINAL, Randomization())
            )
            score = Score(generation, *(float(np.sqrt((it**2).mean())) for it in rms))
            tested(score, evolution.parameters)

        test(0)
        for generation in range(generations):
            motions = random_motions(random, task.limits, MOTIONS, STEPS * PERIOD)
            first = motions.poses[:, 0]
            start = first + random.uniform(-START_ERROR, START_ERROR, first.shape)
            robots.reset(np.tile(start, (CANDIDATES, 1)), Randomization(), random, MOTIONS)
            outcome = run(task, evolution.candidates(random), robots, motions, STEPS)
            evolution.learn(outcome.costs, RATE * 0.1 ** (generation / generations))
            if (generation + 1) % BETWEEN_TESTS == 0:
                test(generation + 1)
    return evolution.parameters
