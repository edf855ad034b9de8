"""The MIT interface: five command and three state interfaces per joint, as struct of arrays.

    effort = stiffness * (position_cmd - position) + damping * (velocity_cmd - velocity) +
    effort_cmd

Interface names are those of ros2_control (and of `mujoco_ros2_control`): the same words in URDF,
controllers YAML and code.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, read_only

COMMAND_INTERFACES: Final = ("position", "velocity", "effort", "stiffness", "damping")
STATE_INTERFACES: Final = ("position", "velocity", "effort")

_set = object.__setattr__


class Capability(IntEnum):
    """The way an actuator acts on one command interface of one joint."""

    NEVER = 0
    PER_MODE = 1
    PER_TICK = 2


LARGEST: Final = 1e150  # a larger value is absurd, and its square is not finite


class _Rows:
    """Named rows of one array. Values change in place; rows cannot be replaced."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if value is getattr(self, name):
            return  # `command.position += …` has changed the row in place
        raise AttributeError(f"{name} can't be replaced; assign its elements: {name}[:] = …")


class JointState(_Rows):
    """Measured state of n joints in the joint frame.

    `array` is the storage, shape (3, n); the named fields are its rows, shape (n,). Values of a
    joint without measurement are NaN.
    """

    __slots__ = ("array", "effort", "position", "velocity")

    array: FloatArray
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [Nm]

    def __init__(self, joint_count: int, array: FloatArray | None = None) -> None:
        if array is None:
            array = np.full((3, joint_count), np.nan)
        position, velocity, effort = array
        _set(self, "array", array)
        _set(self, "position", position)
        _set(self, "velocity", velocity)
        _set(self, "effort", effort)

    def copy(self) -> JointState:
        """Return a state with its own storage."""
        return JointState(self.array.shape[1], self.array.copy())

    def read_only(self) -> JointState:
        """Return a read-only view of the same storage."""
        view = read_only(self.array)
        return JointState(view.shape[1], view)


class JointCommand(_Rows):
    """MIT command for n joints in the joint frame.

    `array` is the storage, shape (5, n); the named fields are its rows, shape (n,). Initially zero:
    a joint without command is limp.
    """

    __slots__ = ("array", "damping", "effort", "position", "stiffness", "velocity")

    array: FloatArray
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [Nm], feed-forward
    stiffness: FloatArray  # [Nm/rad], >= 0
    damping: FloatArray  # [Nm*s/rad], >= 0

    def __init__(self, joint_count: int, array: FloatArray | None = None) -> None:
        if array is None:
            array = np.zeros((5, joint_count))
        position, velocity, effort, stiffness, damping = array
        _set(self, "array", array)
        _set(self, "position", position)
        _set(self, "velocity", velocity)
        _set(self, "effort", effort)
        _set(self, "stiffness", stiffness)
        _set(self, "damping", damping)

    def copy(self) -> JointCommand:
        """Return a command with its own storage."""
        return JointCommand(self.array.shape[1], self.array.copy())

    def is_valid(self) -> bool:
        """Return whether every value is finite and at most LARGEST, and no gain is negative."""
        # A small sum of squares means small values: the quick answer in nearly all cases.
        small = np.vdot(self.array, self.array) < LARGEST
        if small and not np.count_nonzero(self.array[3:] < 0.0):
            return True
        return not self.invalid_joints().any()

    def invalid_joints(self) -> NDArray[np.bool_]:
        """Return a mask (n,) of the joints with a value that is not valid."""
        wrong = np.logical_not(np.abs(self.array) <= LARGEST)
        wrong[3:] |= self.array[3:] < 0.0
        return np.asarray(wrong.any(axis=0))


def mit_torque(command: JointCommand, state: JointState) -> FloatArray:
    """Return the torque [Nm] of the MIT law for each joint, shape (n,), before any limit."""
    return (
        command.stiffness * (command.position - state.position)
        + command.damping * (command.velocity - state.velocity)
        + command.effort
    )
