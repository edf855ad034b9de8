"""A batch of robots acts like single ones: gains, asymmetry of the buses, latency, payload."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from humanoid_devices_mujoco.model import BIAS_POSITION, BIAS_VELOCITY
from humanoid_policy_training.random_robots import NOMINAL, TIMESTEP, Randomization, RandomRobots
from humanoid_policy_training.reaching_task import PERIOD, ReachingTask
from humanoid_policy_training.training import robots_of

COUNT = 4
WRISTS = [4, 5, 11, 12]  # Prime's Sito joints


@pytest.fixture
def robots(task: ReachingTask) -> Iterator[RandomRobots]:
    with robots_of(task, COUNT) as found:
        yield found


def commanded(task: ReachingTask, robots: RandomRobots, velocity: float = 0.0) -> None:
    """One period to 0.2 rad on every joint."""
    shape = (COUNT, 1, len(task.metadata.joint_names))
    robots.step(np.full(shape, 0.2), np.full(shape, velocity))


def reset(task: ReachingTask, robots: RandomRobots, ranges: Randomization, group: int = 1) -> None:
    start = np.zeros((COUNT, len(task.metadata.joint_names)))
    robots.reset(start, ranges, np.random.default_rng(3), group)


def test_a_robot_without_randomness_obeys_the_mit_law(
    task: ReachingTask, robots: RandomRobots
) -> None:
    reset(task, robots, NOMINAL)
    commanded(task, robots)
    model = task.model
    model.opt.timestep = TIMESTEP
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.actuator_biasprm[:, BIAS_POSITION] = -20.0
    model.actuator_biasprm[:, BIAS_VELOCITY] = -2.0
    data = mujoco.MjData(model)
    data.ctrl[:] = 20.0 * 0.2
    mujoco.mj_step(model, data, round(PERIOD / TIMESTEP))
    rows = model.jnt_qposadr[model.actuator_trnid[:, 0]]
    for position, velocity in zip(*robots.true(), strict=True):
        np.testing.assert_allclose(position, data.qpos[rows], atol=1e-12)
        np.testing.assert_allclose(velocity, data.qvel[rows], atol=1e-12)


def test_a_commanded_velocity_acts_on_the_wrists_only(
    task: ReachingTask, robots: RandomRobots
) -> None:
    reset(task, robots, NOMINAL)
    commanded(task, robots)
    without = robots.true()[1][0]
    reset(task, robots, NOMINAL)
    commanded(task, robots, velocity=1.0)
    gained = robots.true()[1][0] - without
    assert (gained[WRISTS] > 0.05).all()
    assert list(np.flatnonzero(task.takes_velocity)) == WRISTS


def test_a_late_command_acts_late(task: ReachingTask, robots: RandomRobots) -> None:
    reset(task, robots, replace(NOMINAL, erob_latency=(0.04, 0.04), wrist_latency=(0.02, 0.02)))
    limp = robots.true()[0].copy()
    commanded(task, robots)
    held = robots.true()[0].copy()
    reset(task, robots, NOMINAL)
    commanded(task, robots)
    assert np.abs(held - limp).max() < 0.02, "it holds its pose for 20 ms, beside gravity"
    assert (robots.true()[0][:, WRISTS] - held[:, WRISTS] > 0.002).all()


def test_robots_of_a_group_differ_and_groups_repeat_them(
    task: ReachingTask, robots: RandomRobots
) -> None:
    quiet = replace(Randomization(), position_noise=0.0)
    reset(task, robots, quiet, group=2)
    commanded(task, robots)
    position = robots.true()[0]
    np.testing.assert_array_equal(position[:2], position[2:])
    assert np.abs(position[0] - position[1]).max() > 1e-5


def test_a_payload_pulls_an_arm_down(task: ReachingTask, robots: RandomRobots) -> None:
    lifted = np.zeros((COUNT, len(task.metadata.joint_names)))
    lifted[:, 0] = -1.2
    sags = []
    for mass in (0.0, 1.0):
        ranges = replace(NOMINAL, payload=(mass, mass), payload_offset=(-0.1, -0.1))
        robots.reset(lifted, ranges, np.random.default_rng(3), 1)
        for _ in range(100):
            robots.step(lifted[:, None], np.zeros_like(lifted)[:, None])
        sags.append(float(robots.true()[0][0, 0] - lifted[0, 0]))
    assert sags[1] > sags[0] + 0.1
