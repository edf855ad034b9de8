"""The whole of Prime against theory: gravity, wrenches, trajectories, limits, calm damping."""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.rules.safety import SafetyLevel

LEFT_HAND = "left_wrist_yaw_link"


class Theory:
    """Rigid-body dynamics of the same description, computed beside the simulation."""

    def __init__(self, simulation: Any) -> None:
        self.model = mujoco.MjSpec.from_string(simulation.info.urdf).compile()
        self.data = mujoco.MjData(self.model)
        names = simulation.info.joint_set.names
        self.rows = [self.model.joint(name).dofadr[0] for name in names]
        self.model.dof_armature[self.rows] = [
            float(joint.parameters["rotor_inertia"]) for joint in simulation.info.joints
        ]

    def gravity(self, position: FloatArray) -> FloatArray:
        """Torque [Nm] that holds the joints at `position` [rad] against gravity."""
        return self.inverse(position, np.zeros_like(position), np.zeros_like(position))

    def inverse(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Torque [Nm] that makes the joints accelerate by `qdd` [rad/s^2]."""
        data, rows = self.data, self.rows
        data.qpos[rows], data.qvel[rows], data.qacc[rows] = q, qd, qdd
        mujoco.mj_inverse(self.model, data)
        return data.qfrc_inverse[rows].copy()

    def energies(self, state: JointState) -> tuple[float, float]:
        """Potential and kinetic energy [J]."""
        self.data.qpos[self.rows], self.data.qvel[self.rows] = state.position, state.velocity
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = self.data.energy
        return float(potential), float(kinetic)

    def of_wrench(self, position: FloatArray, body: str, wrench: FloatArray) -> FloatArray:
        """Joint torque [Nm] of `wrench` (force, torque) at the centre of mass of `body`."""
        self.data.qpos[self.rows] = position
        mujoco.mj_fwdPosition(self.model, self.data)
        linear, angular = np.zeros((2, 3, self.model.nv))
        number = self.model.body(body).id
        mujoco.mj_jacBodyCom(self.model, self.data, linear, angular, number)
        return (linear.T @ wrench[:3] + angular.T @ wrench[3:])[self.rows]


def hold(simulation: Any, pose: FloatArray, stiffness: float) -> None:
    simulation.command.position[:] = pose
    simulation.command.stiffness[:] = stiffness
    simulation.command.damping[:] = 6.0


def test_held_arms_sag_by_gravity_torque_over_stiffness(
    prime: Any, raised_pose: FloatArray
) -> None:
    hold(prime, raised_pose, 60.0)

    prime.run(8.0)

    deflection = raised_pose - prime.state.position
    gravity = Theory(prime).gravity(prime.state.position)
    loaded = np.abs(gravity) > 0.05  # [Nm]
    assert loaded.sum() >= 10
    assert deflection[loaded] == pytest.approx(gravity[loaded] / 60.0, rel=0.01)
    assert deflection[~loaded] == pytest.approx(gravity[~loaded] / 60.0, abs=1e-5)
    assert prime.state.effort == pytest.approx(gravity, rel=0.01, abs=1e-3)


@pytest.mark.parametrize("force", [(0, 0, -12), (5, -15, 0)], ids=str)
def test_a_wrench_at_the_hand_deflects_by_its_joint_torque_over_stiffness(
    prime: Any, raised_pose: FloatArray, force: tuple[float, ...]
) -> None:
    wrench = np.array([*force, 0.3, 0.2, 0.1])
    hold(prime, raised_pose, 60.0)
    prime.system.apply_wrench(LEFT_HAND, wrench[:3], wrench[3:])

    prime.run(8.0)

    theory, position = Theory(prime), prime.state.position
    external = theory.of_wrench(position, LEFT_HAND, wrench)
    deflection_of_wrench = position - raised_pose + theory.gravity(position) / 60.0
    felt = np.abs(external) > 1.0  # [Nm]
    assert felt.sum() >= 2
    assert deflection_of_wrench[felt] == pytest.approx(external[felt] / 60.0, rel=0.01)
    assert not external[7:].any()  # no effect on the right arm


def test_computed_torque_follows_a_sine_with_all_joints(
    simulate: Any, prime_urdf: str, raised_pose: FloatArray
) -> None:
    prime = simulate(prime_urdf, update_rate=1000.0)
    theory = Theory(prime)
    centre, amplitude, omega = raised_pose, 0.25, 3.0  # [rad], [rad], [rad/s]

    def largest_error(with_inverse_dynamics: bool) -> float:
        start, errors = prime.system.time, []

        def follow() -> None:
            t = prime.system.time - start
            q = centre + amplitude * np.sin(omega * t)
            qd = np.full_like(q, amplitude * omega * np.cos(omega * t))
            qdd = -(omega**2) * (q - centre)
            errors.append(np.abs(q - prime.state.position).max())
            torque = theory.inverse(q, qd, qdd) * with_inverse_dynamics
            prime.command.array[:] = q, qd, torque, np.full_like(q, 20.0), np.full_like(q, 2.0)

        prime.place(centre, amplitude * omega)
        prime.run(2.5, before=follow)
        return max(errors)

    assert largest_error(with_inverse_dynamics=True) < 0.005
    assert largest_error(with_inverse_dynamics=False) > 0.1


def test_limp_arms_fall_without_any_effort(prime: Any, raised_pose: FloatArray) -> None:
    theory = Theory(prime)
    prime.place(raised_pose)
    potential, at_rest = theory.energies(prime.state)

    history = prime.run(0.2)

    fallen, kinetic = theory.energies(prime.state)
    assert not history.effort.any()
    assert at_rest == 0.0
    assert potential - fallen > 1.0  # [J]
    assert kinetic == pytest.approx(potential - fallen, rel=0.02)


def test_effort_never_exceeds_the_limits_however_large_the_gains(
    prime: Any, raised_pose: FloatArray
) -> None:
    limit = prime.info.limits.effort
    prime.command.position[:] = raised_pose
    prime.command.stiffness[:] = 1e5
    prime.command.damping[:] = 6.0
    prime.command.effort[:] = 500.0

    history = prime.run(1.0)

    assert (np.abs(history.effort) <= limit).all()
    assert (np.abs(history.effort).max(axis=0) == limit).all()
    assert np.isfinite(history.position).all()
    assert prime.system.safety().level is SafetyLevel.OK


def test_ten_seconds_of_damping_from_a_raised_pose_stay_calm(
    prime: Any, raised_pose: FloatArray
) -> None:
    prime.place(raised_pose)
    prime.command.damping[:] = 6.0

    history = prime.run(10.0)

    speed = np.abs(history.velocity).max(axis=1)
    assert speed[:200].max() > 0.1  # the arm sinks
    assert speed.max() < 1.5  # [rad/s], about weight over damping
    assert speed[-1] < 0.05
    blocks = speed.reshape(10, 200).max(axis=1)  # per second
    assert (np.diff(blocks) < 0.0).all()
    reversals = (np.diff(np.sign(history.velocity), axis=0) != 0).sum(axis=0)
    assert reversals.max() < 10  # no chatter
    assert prime.system.safety().level is SafetyLevel.OK


def test_without_rotor_inertia_the_same_damping_makes_light_wrists_chatter(
    simulate: Any, prime_urdf: str, raised_pose: FloatArray
) -> None:
    without, count = re.subn(r'(<param name="rotor_inertia">)[^<]*', r"\g<1>0", prime_urdf)
    assert count == 14
    bare = simulate(without)  # an implicit integrator would prevent this
    bare.place(raised_pose)
    bare.command.damping[:] = 6.0

    history = bare.run(1.0)

    late = history.velocity[-100:]
    reversals = (np.diff(np.sign(late), axis=0) != 0).sum(axis=0)
    assert reversals.max() > 20
    assert np.abs(late).max() > 20.0  # [rad/s]
