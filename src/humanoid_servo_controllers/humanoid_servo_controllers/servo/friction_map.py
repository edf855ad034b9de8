"""Friction maps: the effort that friction takes, over the position and per direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import FloatArray, IndexArray


class PointError(ConfigError):
    """A curve is wrong; `point` is the index of the wrong point, None if it is the whole."""

    def __init__(self, text: str, point: int | None = None) -> None:
        super().__init__(text if point is None else f"point {point}: {text}")
        self.point = point


@dataclass(frozen=True, slots=True, eq=False)
class FrictionCurve:
    """Points of one direction; between them efforts are interpolated, beyond them held.

    Args:
        positions: [rad] ascending, (k,), 2 or more.
        efforts: [Nm], (k,): 0, or of the sign of the direction.
        sign: of the direction: 1 forwards, -1 backwards.

    Raises PointError: too few, not finite, not ascending, an effort of the wrong sign.
    """

    positions: FloatArray
    efforts: FloatArray
    sign: int

    def __post_init__(self) -> None:
        if len(self.positions) < 2:
            raise PointError(f"{len(self.positions)} points, expected 2 or more")
        before = -np.inf
        for i, (position, effort) in enumerate(zip(self.positions, self.efforts, strict=True)):
            if not (np.isfinite(position) and np.isfinite(effort)):
                raise PointError(f"{position:g} rad, {effort:g} Nm, expected finite numbers", i)
            if position <= before:
                text = f"position {position:g} rad, expected more than {before:g} rad"
                raise PointError(f"{text} of the point before", i)
            if self.sign * effort < 0.0:
                expected = "0 or more" if self.sign > 0 else "0 or less"
                raise PointError(f"effort {effort:g} Nm, expected {expected}", i)
            before = position


@dataclass(frozen=True, slots=True, eq=False)
class FrictionMap:
    """Both directions of one joint."""

    forward: FrictionCurve
    backward: FrictionCurve


def flat() -> FrictionMap:
    """Return the map without friction."""
    ends, none = np.array([0.0, 1.0]), np.zeros(2)
    return FrictionMap(FrictionCurve(ends, none, 1), FrictionCurve(ends, none, -1))


class FrictionTable:
    """The maps of n joints, looked up together."""

    def __init__(self, maps: Sequence[FrictionMap]) -> None:
        self._rows = np.arange(len(maps))
        self._forward = _Padded([it.forward for it in maps])
        self._backward = _Padded([it.backward for it in maps])
        self.is_flat = not any(
            curve.efforts.any() for it in maps for curve in (it.forward, it.backward)
        )

    def effort(self, position: FloatArray, forward: NDArray[np.bool_]) -> FloatArray:
        """Return the effort [Nm] at `position` [rad], (n,) each; `forward` is True or False."""
        found: FloatArray = np.where(
            forward,
            self._forward.at(position, self._rows),
            self._backward.at(position, self._rows),
        )
        return found


class _Padded:
    """Curves of n joints with the same number of points: the last ones are repeated."""

    def __init__(self, curves: Sequence[FrictionCurve]) -> None:
        longest = max(len(curve.positions) for curve in curves)
        positions = np.full((len(curves), longest), np.inf)
        self._efforts = np.zeros((len(curves), longest))
        self._slopes = np.zeros((len(curves), longest))
        for i, curve in enumerate(curves):
            count = len(curve.positions)
            positions[i, :count] = curve.positions
            self._efforts[i, :count] = curve.efforts
            self._efforts[i, count:] = curve.efforts[-1]
            self._slopes[i, : count - 1] = np.diff(curve.efforts) / np.diff(curve.positions)
        self._inner = positions[:, 1:]
        self._origins = np.where(np.isfinite(positions), positions, 0.0)
        self._first = positions[:, 0].copy()
        self._last = np.array([curve.positions[-1] for curve in curves])

    def at(self, position: FloatArray, rows: IndexArray) -> FloatArray:
        held = np.minimum(np.maximum(position, self._first), self._last)
        segment = np.count_nonzero(held[:, None] > self._inner, axis=1)
        since = held - self._origins[rows, segment]
        found: FloatArray = self._efforts[rows, segment] + self._slopes[rows, segment] * since
        return found
