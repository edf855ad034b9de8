"""Compute a friction map from samples, and the residual of samples to a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.friction_recording.recording import (
    FrictionSample,
    RecordingError,
    direction_in_words,
)
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap

LEAST: Final = 3  # samples of a bin that counts
OUTSIDE: Final = 0.5  # part of a bin's width
DIRECTIONS: Final = (1, -1)
DIGITS: Final = 6  # of the points: micrometres at an arm's length


@dataclass(frozen=True, slots=True, eq=False)
class BinMedians:
    """Medians of the samples of one direction, in bins of equal width.

    Args:
        centres: of the bins [rad], (k,).
        efforts: [Nm], (k,); NaN in bins with fewer than LEAST samples.
    """

    centres: FloatArray
    efforts: FloatArray


def binned(
    samples: Sequence[FrictionSample], direction: int, lower: float, upper: float, points: int
) -> BinMedians:
    """Return the medians of `direction` in `points` bins from `lower` to `upper` [rad].

    A joint may begin far outside of them, and coasts beyond their ends: samples that are farther
    away than OUTSIDE count for no bin.
    """
    edges = np.linspace(lower, upper, points + 1)
    outside = OUTSIDE * (upper - lower) / points
    chosen = [
        it
        for it in samples
        if it.direction == direction and lower - outside <= it.position <= upper + outside
    ]
    positions = np.array([it.position for it in chosen])
    efforts = np.array([it.effort for it in chosen])
    number = np.clip(np.digitize(positions, edges) - 1, 0, points - 1)
    medians = np.full(points, np.nan)
    for i in range(points):
        own = efforts[number == i]
        if len(own) >= LEAST:
            medians[i] = np.median(own)
    return BinMedians(0.5 * (edges[:-1] + edges[1:]), medians)


def interpolated_bins(
    samples: Sequence[FrictionSample], lower: float, upper: float, points: int
) -> int:
    """Return how many bins of both directions `friction_map` interpolates."""
    found = [binned(samples, direction, lower, upper, points) for direction in DIRECTIONS]
    return sum(int(np.isnan(it.efforts).sum()) for it in found)


def friction_map(
    samples: Sequence[FrictionSample], lower: float, upper: float, points: int
) -> FrictionMap:
    """Return the map of `samples`: medians of `points` bins from `lower` to `upper` [rad].

    Bins with fewer than LEAST samples are interpolated, at the ends held. An effort of the wrong
    sign (the error of the gravity model is larger than the friction) becomes 0.

    Raises RecordingError for a direction without a bin that counts.
    """
    curves = {}
    for direction in DIRECTIONS:
        found = binned(samples, direction, lower, upper, points)
        counts = np.isfinite(found.efforts)
        if not counts.any():
            number = sum(it.direction == direction for it in samples)
            raise RecordingError(
                f"{number} samples {direction_in_words(direction)}, expected {LEAST} in one of "
                f"{points} bins at least: more passes or fewer points give more"
            )
        efforts = np.interp(found.centres, found.centres[counts], found.efforts[counts])
        signed = direction * np.maximum(direction * efforts, 0.0)
        positions = np.round(found.centres, DIGITS) + 0.0  # no -0.0
        curves[direction] = FrictionCurve(positions, np.round(signed, DIGITS) + 0.0, direction)
    return FrictionMap(curves[1], curves[-1])


def recorded_range(found: FrictionMap) -> tuple[float, float]:
    """Return the range [rad] of the bins whose centres are the points of `found`."""
    curves = [found.forward.positions, found.backward.positions]
    lower = min(float(it[0] - 0.5 * (it[1] - it[0])) for it in curves)
    upper = max(float(it[-1] + 0.5 * (it[-1] - it[-2])) for it in curves)
    return lower, upper


@dataclass(frozen=True, slots=True)
class Residual:
    """The residual of a map in one direction, by the medians of bins.

    Args:
        direction: 1 forwards, -1 backwards.
        mean: of the differences' amounts [Nm].
        largest: of them [Nm].
        friction: mean amount of the friction measured [Nm].
        bins: how many were compared.
    """

    direction: int
    mean: float
    largest: float
    friction: float
    bins: int


def residuals(
    samples: Sequence[FrictionSample], found: FrictionMap, lower: float, upper: float, points: int
) -> tuple[Residual, Residual]:
    """Return what `found` leaves unexplained of `samples`, forwards and backwards.

    Arguments are those of `friction_map`. Raises RecordingError as it does.
    """
    friction_map(samples, lower, upper, points)
    pairs = []
    for direction, curve in zip(DIRECTIONS, (found.forward, found.backward), strict=True):
        measured = binned(samples, direction, lower, upper, points)
        counts = np.isfinite(measured.efforts)
        efforts = measured.efforts[counts]
        expected = np.interp(measured.centres[counts], curve.positions, curve.efforts)
        differences = np.abs(efforts - expected)
        pairs.append(
            Residual(
                direction,
                float(differences.mean()),
                float(differences.max()),
                float(np.abs(efforts).mean()),
                len(efforts),
            )
        )
    return pairs[0], pairs[1]
