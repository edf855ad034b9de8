"""Friction maps: the effort that overcomes friction, over the position and per direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray

LARGEST: Final = 1e6  # [rad], far beyond every joint: no lookup loses its digits


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

    Raises PointError: too few, not finite, not ascending, a position beyond LARGEST, an effort of
    the wrong sign.
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
            if abs(position) > LARGEST:
                raise PointError(f"position {position:g} rad, expected at most {LARGEST:g} rad", i)
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

    @property
    def largest(self) -> float:
        """The largest amount of its efforts [Nm]."""
        return float(max(np.abs(it.efforts).max() for it in (self.forward, self.backward)))


def flat() -> FrictionMap:
    """Return the map without friction."""
    ends, none = np.array([0.0, 1.0]), np.zeros(2)
    return FrictionMap(FrictionCurve(ends, none, 1), FrictionCurve(ends, none, -1))


class FrictionTable:
    """The maps of n joints, looked up together.

    The curves lie one behind the other on a single axis, so one search finds the segments of all
    joints. A curve of k points has k + 1 segments: the first and the last one are level.
    """

    def __init__(self, maps: Sequence[FrictionMap]) -> None:
        curves = [curve for it in maps for curve in (it.backward, it.forward)]
        # Beyond all curves, but within their stretches of the axis [rad].
        self._lowest = min(curve.positions[0] for curve in curves) - 1.0
        self._highest = max(curve.positions[-1] for curve in curves) + 1.0
        stretch = self._highest - self._lowest + 1.0
        self._starts = stretch * np.arange(len(curves))
        self._keys = np.concatenate(
            [it.positions + start for it, start in zip(curves, self._starts, strict=True)]
        )
        slopes = [np.diff(it.efforts) / np.diff(it.positions) for it in curves]
        self._slopes = np.concatenate([[0.0, *slope, 0.0] for slope in slopes])
        self._at_zero = np.concatenate(
            [
                [it.efforts[0], *(it.efforts[:-1] - slope * it.positions[:-1]), it.efforts[-1]]
                for it, slope in zip(curves, slopes, strict=True)
            ]
        )
        self._backward = 2 * np.arange(len(maps))  # index of each joint's backward curve
        self.is_flat = not any(curve.efforts.any() for curve in curves)

    def effort(self, position: FloatArray, forward: NDArray[np.bool_]) -> FloatArray:
        """Return the effort [Nm] at `position` [rad], (n,) each; `forward` is True or False."""
        curve = self._backward + forward
        key = np.minimum(np.maximum(position, self._lowest), self._highest)
        key += self._starts.take(curve)
        segment = self._keys.searchsorted(key)
        segment += curve  # each curve before has one segment more than points
        found: FloatArray = self._slopes.take(segment)
        found *= position
        found += self._at_zero.take(segment)
        return found
