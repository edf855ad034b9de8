"""Polynomials of degree 5 or less in time: one for each segment and joint.

Coefficients of m segments and n joints have shape (m, 6, n): [:, i] belongs to t**i, with the time
t [s] from the segment's beginning. States have shape (..., 3, n): position [rad], velocity [rad/s],
acceleration [rad/s^2].
"""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray

COUNT: Final = 6  # of coefficients
# Halvings of an interval that contains an extreme: its place is known to 2**-27 of the interval,
# and its value to 2**-54, the precision of a float, because an extreme is flat.
HALVINGS: Final = 27


def cubic(start: FloatArray, end: FloatArray, duration: FloatArray) -> FloatArray:
    """Return the cubics with the positions and velocities of `start` and `end`.

    Args:
        start: (m, 3, n).
        end: (m, 3, n).
        duration: of each segment [s], (m,).
    """
    found, time, distance, _ = _begun(start, end, duration)
    found[:, 2] = 3 * distance / time**2 - (2 * start[:, 1] + end[:, 1]) / time
    found[:, 3] = -2 * distance / time**3 + (start[:, 1] + end[:, 1]) / time**2
    return found


def quartic(start: FloatArray, end: FloatArray, duration: FloatArray) -> FloatArray:
    """Return the polynomials with the state `start`, and the position and velocity of `end`."""
    found, time, distance, change = _begun(start, end, duration)
    distance = distance - start[:, 1] * time - start[:, 2] * time**2 / 2
    change = change - start[:, 2] * time
    found[:, 2] = start[:, 2] / 2
    found[:, 3] = 4 * distance / time**3 - change / time**2
    found[:, 4] = -3 * distance / time**4 + change / time**3
    return found


def quintic(start: FloatArray, end: FloatArray, duration: FloatArray) -> FloatArray:
    """Return the quintics with the states `start` and `end`."""
    found, time, distance, change = _begun(start, end, duration)
    distance = distance - start[:, 1] * time - start[:, 2] * time**2 / 2
    change = change - start[:, 2] * time
    bend = end[:, 2] - start[:, 2]
    found[:, 2] = start[:, 2] / 2
    found[:, 3] = 10 * distance / time**3 - 4 * change / time**2 + bend / (2 * time)
    found[:, 4] = -15 * distance / time**4 + 7 * change / time**3 - bend / time**2
    found[:, 5] = 6 * distance / time**5 - 3 * change / time**4 + bend / (2 * time**3)
    return found


def _begun(
    start: FloatArray, end: FloatArray, duration: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return coefficients with position and velocity, durations, distances, changes of velocity."""
    found = np.zeros((len(duration), COUNT, start.shape[2]))
    found[:, :2] = start[:, :2]
    return found, duration[:, None], end[:, 0] - start[:, 0], end[:, 1] - start[:, 1]


def values(coefficients: FloatArray, time: float) -> FloatArray:
    """Return the state (3, n) at `time` [s] of one segment, coefficients (6, n)."""
    t2 = time * time
    t3 = t2 * time
    t4 = t3 * time
    basis = np.array(
        (
            (1.0, time, t2, t3, t4, t4 * time),
            (0.0, 1.0, 2 * time, 3 * t2, 4 * t3, 5 * t4),
            (0.0, 0.0, 2.0, 6 * time, 12 * t2, 20 * t3),
        )
    )
    found: FloatArray = basis @ coefficients
    return found


def positions(coefficients: FloatArray, times: FloatArray) -> FloatArray:
    """Return the positions [rad], (k, n), at one of `times` [s], (k,), of each segment."""
    powers = times[:, None] ** np.arange(COUNT)
    found: FloatArray = np.einsum("kc,kcn->kn", powers, coefficients)
    return found


def shifted(coefficients: FloatArray, time: float) -> FloatArray:
    """Return the coefficients (6, n) of the same polynomials, with t counted from `time` [s] on."""
    found = coefficients.copy()
    for first in range(COUNT - 1):  # Horner's scheme, repeated: Taylor's coefficients at `time`
        for row in range(COUNT - 2, first - 1, -1):
            found[row] += time * found[row + 1]
    return found


def extremes(coefficients: FloatArray, duration: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest position, velocity and acceleration of every segment.

    The jerk's zeros divide a segment into pieces of monotone acceleration; its zeros, one at most
    in each piece, are found by halving and divide it into pieces of monotone velocity, and so on.

    Args:
        coefficients: (m, 6, n).
        duration: [s], (m,).

    Returns two arrays (3, m, n).
    """
    segments, _, joints = coefficients.shape
    powers = duration[:, None] ** np.arange(COUNT)
    # In the time from 0 to 1, so that one precision fits all: shape (6, 1, m * n).
    scaled = (coefficients * powers[:, :, None]).transpose(1, 0, 2).reshape(COUNT, 1, -1)
    rates = [scaled]
    for _ in range(3):
        rates.append(_derivative(rates[-1]))
    pieces = _ends(_quadratic_zeros(rates[3]))
    lowest, highest = np.empty((3, scaled.shape[2])), np.empty((3, scaled.shape[2]))
    for order in (2, 1, 0):
        found = _polynomial(rates[order], pieces)
        lowest[order], highest[order] = found.min(axis=0), found.max(axis=0)
        if order:
            pieces = _ends(_zeros(rates[order], pieces, found))
    scale = duration[:, None] ** -np.arange(3.0)[:, None, None]
    shape = (3, segments, joints)
    return lowest.reshape(shape) * scale, highest.reshape(shape) * scale


def _derivative(rows: FloatArray) -> FloatArray:
    found: FloatArray = rows[1:] * np.arange(1.0, len(rows))[:, None, None]
    return found


def _polynomial(rows: FloatArray, time: FloatArray) -> FloatArray:
    found = np.broadcast_to(rows[-1], time.shape)
    for row in rows[-2::-1]:
        found = found * time + row
    return found


def _ends(inner: FloatArray) -> FloatArray:
    """Return the ends of the pieces, ascending: 0, the `inner` ones and 1."""
    count = inner.shape[1]
    return np.concatenate([np.zeros((1, count)), inner, np.ones((1, count))])


def _quadratic_zeros(rows: FloatArray) -> FloatArray:
    """Return the two zeros of c0 + c1*t + c2*t**2 within 0..1, or an end instead; (2, k)."""
    c0, c1, c2 = rows[:, 0]
    root = np.sqrt(np.maximum(c1 * c1 - 4 * c2 * c0, 0.0))
    stable = -0.5 * (c1 + np.copysign(root, c1))  # no difference of near values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.stack([stable / c2, c0 / stable])
    found = np.clip(np.nan_to_num(found, nan=0.0), 0.0, 1.0)
    return np.sort(found, axis=0)


def _zeros(rows: FloatArray, pieces: FloatArray, at_ends: FloatArray) -> FloatArray:
    """Return the zero of each monotone piece, or its beginning if it has none."""
    low, high = pieces[:-1].copy(), pieces[1:].copy()
    rises = at_ends[1:] > at_ends[:-1]
    has_zero = (at_ends[:-1] > 0) != (at_ends[1:] > 0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        left = (_polynomial(rows, middle) > 0) != rises  # the zero lies to the right of it
        np.copyto(low, middle, where=left)
        np.copyto(high, middle, where=~left)
    return np.where(has_zero, 0.5 * (low + high), pieces[:-1])
