"""The ordered set of joints that indexes every array, and the joint limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class JointSet:
    """Joint names in a fixed order.

    Raises ConfigError if a name is given twice or the set is empty.
    """

    names: tuple[str, ...]
    _index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.names:
            raise ConfigError("the joint set is empty")
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise ConfigError(f"joint listed more than once: {', '.join(repeated)}")
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})

    def __len__(self) -> int:
        return len(self.names)

    def indices(self, names: Iterable[str]) -> IndexArray:
        """Return the positions of `names` in this set, in the given order.

        Raises ConfigError naming unknown and repeated joints and listing the known ones.
        """
        wanted = tuple(names)
        unknown = [name for name in wanted if name not in self._index]
        if unknown:
            raise ConfigError(f"unknown joint {', '.join(unknown)}; known: {', '.join(self.names)}")
        if len(set(wanted)) != len(wanted):
            repeated = sorted({name for name in wanted if wanted.count(name) > 1})
            raise ConfigError(f"joint listed more than once: {', '.join(repeated)}")
        return np.array([self._index[name] for name in wanted], dtype=np.intp)

    def names_at(self, rows: IndexArray) -> tuple[str, ...]:
        """Return the names of the joints at `rows`, (k,), in that order."""
        return tuple(self.names[row] for row in rows)

    def named(self, mask: NDArray[np.bool_]) -> str:
        """Return the names of the joints where `mask` (n_joints,) is true, comma-separated."""
        return ", ".join(name for name, hit in zip(self.names, mask, strict=True) if hit)


@dataclass(frozen=True, slots=True)
class SoftLimits:
    """The range of a joint's target, and the slowing of motion towards its ends.

    Values and law of URDF's <safety_controller>: towards an end the commanded velocity is at most
    velocity_max = position_gain * (end - position), and the effort at most
    velocity_gain * (velocity_max - velocity). A gain of 0 sets no such limit.
    Each array has shape (n_joints,).
    """

    lower: FloatArray  # [rad]
    upper: FloatArray  # [rad]
    position_gain: FloatArray  # k_position [1/s], >= 0
    velocity_gain: FloatArray  # k_velocity [Nm*s/rad], >= 0

    def __post_init__(self) -> None:
        _make_read_only(self, "lower", "upper", "position_gain", "velocity_gain")


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of every joint, in the order of the JointSet; each array has shape (n_joints,).

    The arrays are read-only: the loop's limits and a plug-in's are the same ones.
    """

    lower: FloatArray  # [rad]
    upper: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s], > 0
    effort: FloatArray  # [Nm], > 0
    soft: SoftLimits | None = None  # within lower and upper
    # Largest commanded stiffness [Nm/rad] and damping [Nm*s/rad], (2, n_joints), > 0; inf: none.
    gains: FloatArray | None = None

    def __post_init__(self) -> None:
        rows = [self.lower, self.upper, self.velocity, self.effort]
        if self.soft is not None:
            soft = self.soft
            rows += [soft.lower, soft.upper, soft.position_gain, soft.velocity_gain]
        if self.gains is not None:
            rows += [*self.gains]
        shapes = {row.shape for row in rows}
        if len(shapes) != 1:
            raise ConfigError(f"joint limits have different shapes: {sorted(shapes)}")
        if not np.all(self.lower < self.upper):
            raise ConfigError("a joint's lower limit is not below its upper limit")
        if not (np.all(self.velocity > 0) and np.all(self.effort > 0)):
            raise ConfigError("a joint's velocity or effort limit is not positive")
        if self.gains is not None and not np.all(self.gains > 0):
            raise ConfigError("a joint's largest stiffness or damping is not positive")
        if self.soft is not None:
            _check_soft(self, self.soft)
        _make_read_only(self, "lower", "upper", "velocity", "effort", "gains")

    @property
    def target_lower(self) -> FloatArray:
        """The lowest target [rad]: the soft limit if there is one."""
        return self.lower if self.soft is None else self.soft.lower

    @property
    def target_upper(self) -> FloatArray:
        """The highest target [rad]: the soft limit if there is one."""
        return self.upper if self.soft is None else self.soft.upper

    def of(self, rows: IndexArray) -> JointLimits:
        """Return the limits of the joints at `rows`, in that order."""
        soft = self.soft and SoftLimits(
            self.soft.lower[rows],
            self.soft.upper[rows],
            self.soft.position_gain[rows],
            self.soft.velocity_gain[rows],
        )
        gains = None if self.gains is None else self.gains[:, rows]
        return JointLimits(
            self.lower[rows], self.upper[rows], self.velocity[rows], self.effort[rows], soft, gains
        )


def _check_soft(limits: JointLimits, soft: SoftLimits) -> None:
    """Raise ConfigError unless the soft range lies within the joints' own."""
    inside = (limits.lower <= soft.lower) & (soft.upper <= limits.upper)
    if not np.all(inside & (soft.lower < soft.upper)):
        raise ConfigError("a joint's soft limits are no range within its limits")
    if not (np.all(soft.position_gain >= 0) and np.all(soft.velocity_gain >= 0)):
        raise ConfigError("a gain of a joint's soft limits is negative")


def read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """Return a read-only view of `array`."""
    view = array.view()
    view.flags.writeable = False
    return view


def _make_read_only(values: object, *names: str) -> None:
    """Replace these arrays of a frozen dataclass by read-only views; None stays."""
    for name in names:
        array = getattr(values, name)
        if array is not None:
            object.__setattr__(values, name, read_only(array))
