"""Coupled joints: two joints that one actuator moves, as one joint of a servo controller.

Positions, velocities and their limits add up; the effort goes to the first joint of the two, the
second one gets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_controller_manager.controller import RobotFacts


class CoupledJoints:
    """Maps the joints of the loop to those of a controller; a coupled joint represents two.

    A coupled joint takes the place of the first one of its two; the second one disappears. `facts`
    are those of the controller's joints. The capabilities are those of the first joints.
    """

    def __init__(self, coupled: Mapping[str, tuple[str, str]], robot: RobotFacts) -> None:
        """`coupled`: the two joints of `robot` by the name of the coupled joint.

        Raises ConfigError: a name that a joint has, an unknown joint, or one that is in two pairs.
        """
        _check(coupled, robot.joints)
        names = {first: name for name, (first, _) in coupled.items()}
        seconds = dict(coupled.values())
        own = [name for name in robot.joints.names if name not in seconds.values()]
        self._first = robot.joints.indices(own)  # loop's row of each joint, or of its first one
        pairs = [i for i, name in enumerate(own) if name in seconds]
        self._pairs = np.array(pairs, dtype=np.intp)  # own rows of the coupled joints
        self._second = robot.joints.indices([seconds[own[i]] for i in pairs])
        self._state = JointState(len(own))
        joints = JointSet(tuple(names.get(name, name) for name in own))
        limits = _added(robot.limits, self._first, self._pairs, self._second)
        self.facts = replace(robot.of(self._first), joints=joints, limits=limits)

    def measured(self, state: JointState) -> JointState:
        """Return the state of the controller's joints, in storage that is used again."""
        own = self._state.array
        np.take(state.array, self._first, axis=1, out=own, mode="clip")
        own[:2, self._pairs] += state.array[:2, self._second]
        return self._state

    def distribute(self, values: FloatArray, out: FloatArray) -> None:
        """Write the efforts [Nm] or dampings of the joints to the loop's, which are 0 before."""
        out[self._first] = values


def _check(coupled: Mapping[str, tuple[str, str]], joints: JointSet) -> None:
    used: set[str] = set()
    for name, pair in coupled.items():
        if name in joints.names:
            raise ConfigError(f"coupled_joints: '{name}' is a joint itself, expected a new name")
        for joint in pair:
            if joint not in joints.names:
                known = ", ".join(joints.names)
                raise ConfigError(f"coupled_joints: {name}: no joint '{joint}', there are {known}")
            if joint in used:
                raise ConfigError(f"coupled_joints: {name}: '{joint}' is coupled twice")
            used.add(joint)


def _added(
    limits: JointLimits, first: IndexArray, pairs: IndexArray, second: IndexArray
) -> JointLimits:
    """Return the limits of the controller's joints: ranges and velocities of pairs are sums."""

    def sums(row: FloatArray) -> FloatArray:
        found = row[first]
        found[pairs] += row[second]
        return found

    own, soft = limits.of(first), None
    if limits.soft is not None and own.soft is not None:
        whole = limits.soft
        soft = replace(own.soft, lower=sums(whole.lower), upper=sums(whole.upper))
    lower, upper, velocity = sums(limits.lower), sums(limits.upper), sums(limits.velocity)
    return replace(own, lower=lower, upper=upper, velocity=velocity, soft=soft)
