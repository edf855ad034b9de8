"""The MIT command surface: five command and three state interfaces per joint, as struct of arrays.

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

from humanoid_control_common.joints import FloatArray

COMMAND_INTERFACES: Final = ("position", "velocity", "effort", "stiffness", "damping")
STATE_INTERFACES: Final = ("position", "velocity", "effort")

_set = object.__setattr__


class Capability(IntEnum):
    """How an actuator acts on one command interface of one joint."""

    NEVER = 0
    PER_MODE = 1
    PER_TICK = 2


LARGEST: Final = 1e150  # beyond it a value is absurd, and its square no longer a number


class _Rows:
    """Named rows of one array. Values change in place; the rows can't be replaced."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if value is getattr(self, name):
            return  # `command.position += …` has changed the row in place
        raise AttributeError(f"{name} can't be replaced; assign its elements: {name}[:] = …")


class JointState(_Rows):
    """Measured state of n joints in the joint frame.

    `array` is the storage, shape (3, n); the named fields are its rows, shape (n,).
    A joint that was never measured is NaN.
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
        """A state with storage of its own."""
        return JointState(self.array.shape[1], self.array.copy())

    def read_only(self) -> JointState:
        """The same storage, for those who must not write to it."""
        view = self.array.view()
        view.flags.writeable = False
        return JointState(view.shape[1], view)


class JointCommand(_Rows):
    """MIT command for n joints in the joint frame.

    `array` is the storage, shape (5, n); the named fields are its rows, shape (n,). Starts as
    zeros: a joint nobody commands is limp.
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
        """A command with storage of its own."""
        return JointCommand(self.array.shape[1], self.array.copy())

    def is_valid(self) -> bool:
        """Whether every value is a finite number of sane size and no gain is negative."""
        # If the sum of squares is small, so is every value: that settles nearly all cases quickly.
        small = np.vdot(self.array, self.array) < LARGEST
        if small and not np.count_nonzero(self.array[3:] < 0.0):
            return True
        return not self.invalid_joints().any()

    def invalid_joints(self) -> NDArray[np.bool_]:
        """Mask (n,) of the joints whose command is not a sane number or has a negative gain."""
        wrong = np.logical_not(np.abs(self.array) <= LARGEST)
        wrong[3:] |= self.array[3:] < 0.0
        return np.asarray(wrong.any(axis=0))


def mit_torque(command: JointCommand, state: JointState) -> FloatArray:
    """Torque [Nm] of the MIT law for each joint, shape (n,), before any limit."""
    return (
        command.stiffness * (command.position - state.position)
        + command.damping * (command.velocity - state.velocity)
        + command.effort
    )
