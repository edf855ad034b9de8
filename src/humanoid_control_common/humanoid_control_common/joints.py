"""The ordered set of joints every array of the stack is indexed by, and their limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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
        """Positions of `names` in this set, in the order given.

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

    def named(self, mask: NDArray[np.bool_]) -> str:
        """Comma-separated names of the joints where `mask` (n_joints,) is true."""
        return ", ".join(name for name, hit in zip(self.names, mask, strict=True) if hit)


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of every joint, in the order of the JointSet; each array has shape (n_joints,)."""

    lower: FloatArray  # [rad]
    upper: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s], > 0
    effort: FloatArray  # [Nm], > 0

    def __post_init__(self) -> None:
        shapes = {a.shape for a in (self.lower, self.upper, self.velocity, self.effort)}
        if len(shapes) != 1:
            raise ConfigError(f"joint limits have different shapes: {sorted(shapes)}")
        if not np.all(self.lower < self.upper):
            raise ConfigError("a joint's lower limit is not below its upper limit")
        if not (np.all(self.velocity > 0) and np.all(self.effort > 0)):
            raise ConfigError("a joint's velocity or effort limit is not positive")
