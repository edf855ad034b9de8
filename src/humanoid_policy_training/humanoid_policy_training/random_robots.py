"""A batch of Primes in MuJoCo that differ in payload, friction, strength and latency."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import mujoco
import numpy as np
from mujoco import rollout

from humanoid_control_common.robot.joints import FloatArray, IndexArray
from humanoid_devices_mujoco.model import BIAS_POSITION, BIAS_VELOCITY
from humanoid_policy.metadata import PolicyMetadata

TIMESTEP: Final = 0.004  # [s] of the physics
THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class Randomization:
    """Ranges from which the properties of each robot are drawn, uniformly."""

    payload: tuple[float, float] = (0.0, 1.5)  # [kg] in each hand
    payload_offset: tuple[float, float] = (-0.15, 0.0)  # [m] along the hand's z axis
    friction: tuple[float, float] = (0.0, 1.0)  # [Nm], of each eRob joint; a third at a wrist
    # Realized over nominal gains of the eRob joints; load tests of Prime showed 0.7.
    efficiency: tuple[float, float] = (0.65, 1.05)
    # [s] from measurement to torque, beside the policy period. On the ring at 50 Hz: a cycle to
    # the host, one back, and the drive's interpolation.
    erob_latency: tuple[float, float] = (0.0, 0.07)
    wrist_latency: tuple[float, float] = (0.0, 0.02)
    position_noise: float = 0.0005  # [rad]
    velocity_noise: float = 0.02  # [rad/s]


NOMINAL: Final = Randomization(
    payload=(0.0, 0.0),
    friction=(0.0, 0.0),
    efficiency=(1.0, 1.0),
    erob_latency=(0.0, 0.0),
    wrist_latency=(0.0, 0.0),
    position_noise=0.0,
    velocity_noise=0.0,
)


class RandomRobots:
    """Simulates `count` robots in threads; commands are held for one policy period.

    Args:
        model: of one robot, see humanoid_devices_mujoco.model.build_model.
        metadata: of the policy, whose gains are commanded.
        takes_velocity: whether a velocity acts on the joint, (n_joints,): the asymmetry of the
            buses.
        hands: names of the bodies that carry the payload.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        count: int,
        metadata: PolicyMetadata,
        takes_velocity: FloatArray,
        hands: Sequence[str],
    ) -> None:
        self._base = copy.copy(model)
        self._base.opt.timestep = TIMESTEP
        # The motions are not checked for contacts; the loop's limit stage keeps links apart.
        self._base.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._count, self._takes_velocity = count, takes_velocity
        self._stiffness = np.array(metadata.joint_stiffness)
        self._damping = np.array(metadata.joint_damping)
        self._hands = [model.body(name).id for name in hands]
        self._rows: IndexArray = model.jnt_qposadr[model.actuator_trnid[:, 0]]
        self._steps = round(metadata.policy_period / TIMESTEP)
        self._size = mujoco.mj_stateSize(self._base, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._models = [copy.copy(self._base) for _ in range(count)]
        self._data = [mujoco.MjData(self._base) for _ in range(THREADS)]
        self._rollout = rollout.Rollout(nthread=THREADS)
        self._random = np.random.default_rng()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rollout.close()

    def reset(
        self, position: FloatArray, ranges: Randomization, random: np.random.Generator, group: int
    ) -> None:
        """Put new robots at `position` (count, n_joints), at rest.

        The first `group` robots differ; the next ones repeat them, so that candidates of one
        generation are compared on equal robots.
        """
        self._random, self._ranges = random, ranges
        drawn = [self._draw(random) for _ in range(group)]
        for i, model in enumerate(self._models):
            self._apply(drawn[i % group], model)
        self._gains = np.stack(
            [-m.actuator_biasprm[:, [BIAS_POSITION, BIAS_VELOCITY]].T for m in self._models]
        )
        is_wrist = self._takes_velocity > 0.0
        delays = np.stack([np.where(is_wrist, it.wrist_delay, it.erob_delay) for it in drawn])
        late = max(int(delays.max()), 1)
        # Of each physics step's command in the commands since `late` steps before the period.
        sources = np.arange(self._steps)[None, :, None] + late - delays[:, None, :]
        self._sources = np.tile(sources, (self._count // group, 1, 1))
        self._state = np.zeros((self._count, self._size))
        self._state[:, 1 + self._rows] = position
        held = (self._gains[:, 0] * position)[:, None]
        self._control = np.repeat(held, late + self._steps, axis=1)

    def measured(self) -> tuple[FloatArray, FloatArray]:
        """Return measured positions [rad] and velocities [rad/s], (count, n_joints) each."""
        position, velocity = self.true()
        if self._ranges.position_noise:
            position = position + self._random.normal(
                0.0, self._ranges.position_noise, position.shape
            )
            velocity = velocity + self._random.normal(
                0.0, self._ranges.velocity_noise, velocity.shape
            )
        return position, velocity

    def true(self) -> tuple[FloatArray, FloatArray]:
        """Return the same without noise."""
        n = self._base.nq
        return self._state[:, 1 + self._rows], self._state[:, 1 + n + self._rows]

    def step(self, position: FloatArray, velocity: FloatArray) -> None:
        """Simulate one policy period.

        Commands at equal times in it: `position` [rad] and `velocity` [rad/s],
        (count, n_ticks, n_joints) each.
        """
        velocity = velocity * self._takes_velocity
        control = self._gains[:, None, 0] * position + self._gains[:, None, 1] * velocity
        ticks = np.arange(self._steps) * position.shape[1] // self._steps
        self._control = np.concatenate([self._control[:, self._steps :], control[:, ticks]], axis=1)
        delayed = np.take_along_axis(self._control, self._sources, axis=1)
        states, _ = self._rollout.rollout(self._models, self._data, self._state, delayed)
        self._state = states[:, -1].copy()

    # Inside.

    def _draw(self, random: np.random.Generator) -> _Properties:
        it = self._ranges
        joints = len(self._rows)
        return _Properties(
            payload=random.uniform(*it.payload, len(self._hands)),
            offset=random.uniform(*it.payload_offset, len(self._hands)),
            friction=random.uniform(*it.friction, joints),
            efficiency=random.uniform(*it.efficiency, joints),
            erob_delay=round(random.uniform(*it.erob_latency) / TIMESTEP),
            wrist_delay=round(random.uniform(*it.wrist_latency) / TIMESTEP),
        )

    def _apply(self, it: _Properties, model: mujoco.MjModel) -> None:
        is_wrist = self._takes_velocity > 0.0
        gain = np.where(is_wrist, 1.0, it.efficiency)
        model.actuator_biasprm[:, BIAS_POSITION] = -gain * self._stiffness
        model.actuator_biasprm[:, BIAS_VELOCITY] = -gain * self._damping
        model.dof_frictionloss[self._rows] = np.where(is_wrist, it.friction / 3, it.friction)
        for body, mass, offset in zip(self._hands, it.payload, it.offset, strict=True):
            own = self._base.body_mass[body]
            model.body_mass[body] = own + mass
            model.body_ipos[body] = self._base.body_ipos[body]
            model.body_ipos[body, 2] += offset * mass / (own + mass)
            model.body_inertia[body] = self._base.body_inertia[body] + mass * offset**2


@dataclass(frozen=True, slots=True)
class _Properties:
    payload: FloatArray
    offset: FloatArray
    friction: FloatArray
    efficiency: FloatArray
    erob_delay: int  # [time steps]
    wrist_delay: int
