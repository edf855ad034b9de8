"""Reduce a recorded motion of joints to few points, smooth and within limits."""

from typing import Final

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.motion_file.motion import ANGLE_DIGITS, TIME_DIGITS
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import MOST_POINTS, Points
from humanoid_motion.trajectory.polynomials import extremes

STEP: Final = 0.01  # [s] of the samples in between
BLUR: Final = 0.08  # [s], standard deviation: hands tremble at 4 Hz and more, and teach slower
WIDTH: Final = 3  # of the blur, in standard deviations
INTERVAL: Final = 0.1  # [s] between two points
MOST: Final = MOST_POINTS // 2  # points: a longer motion has longer intervals
STIRS: Final = 0.02  # [rad] from where it was: a joint that moves
MARGIN: Final = 1.02  # of the slowing, so that few rounds are needed
ROUNDS: Final = 50
SHORTEST: Final = 0.3  # [s] of a recording
GAP: Final = 1.0  # [s] between two samples: what the joints did meanwhile is unknown


def smoothed(
    times: FloatArray, positions: FloatArray, limits: MotionLimits, joints: JointSet
) -> tuple[FloatArray, FloatArray]:
    """Return times [s] from 0, (m,), and positions [rad], (m, n), like those that were recorded.

    They are rounded as a motion file has them. Rest at the beginning and at the end is cut off.
    Where the recorded motion is faster than the limits permit, it is slowed down, there and nearby.

    Args:
        times: of the samples [s], (k,); samples that are not later than those before are dropped.
        positions: measured [rad], (k, n).
        limits: of each joint.
        joints: their names.

    Raises ConfigError for values that are not finite, a recording that is too short, one with a gap
    or a clock that was set, and one in which nothing moves.
    """
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ConfigError("the recording has a value that is not finite")
    times, positions = _ascending(times, positions)
    if len(times) < 2 or times[-1] - times[0] < SHORTEST:
        raise ConfigError(f"the recording is too short: expected {SHORTEST:g} s at least")
    even = np.arange(times[0], times[-1], STEP)
    samples = np.stack([np.interp(even, times, column) for column in positions.T], axis=1)
    blurred = _blurred(_without_rest(samples))
    duration = (len(blurred) - 1) * STEP
    count = int(np.clip(np.ceil(duration / INTERVAL), 2, MOST))
    chosen = np.linspace(0, len(blurred) - 1, count + 1).round().astype(int)
    found = _rounded_within(blurred[chosen], limits)
    return _slowed(chosen * STEP, found, limits, joints), found


def _rounded_within(positions: FloatArray, limits: MotionLimits) -> FloatArray:
    """Return positions rounded as a file has them; a range is rounded inwards, not beyond it."""
    scale = 10.0**ANGLE_DIGITS
    lower, upper = np.ceil(limits.lower * scale) / scale, np.floor(limits.upper * scale) / scale
    found: FloatArray = np.clip(np.round(positions, ANGLE_DIGITS), lower, upper)
    return found


def _ascending(times: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    since = times[1:] - np.maximum.accumulate(times)[:-1]  # [s] the latest one before
    jumps = np.flatnonzero(np.abs(since) > GAP)
    if jumps.size:
        raise ConfigError(
            f"a sample of the recording is {since[jumps[0]]:+.3g} s after those before, expected "
            f"{GAP:g} s at most: samples are missing, or the clock was set: record it again"
        )
    later = np.ones(len(times), dtype=np.bool_)
    later[1:] = since > 0.0
    return times[later], positions[later]


def _without_rest(samples: FloatArray) -> FloatArray:
    """Return the samples from the begin of motion to its end, with the blur's width around them."""
    begins = np.flatnonzero(np.abs(samples - samples[0]).max(axis=1) > STIRS)
    ends = np.flatnonzero(np.abs(samples - samples[-1]).max(axis=1) > STIRS)
    if not len(begins):
        raise ConfigError(f"nothing moves in the recording: expected a joint by {STIRS:g} rad")
    around = round(WIDTH * BLUR / STEP)
    last = ends[-1] if len(ends) else len(samples) - 1
    return samples[max(begins[0] - around, 0) : last + around + 1]


def _blurred(samples: FloatArray) -> FloatArray:
    """Return the samples blurred without delay; beginning and end stay where they are."""
    around = round(WIDTH * BLUR / STEP)
    weights = np.exp(-0.5 * (np.arange(-around, around + 1) * STEP / BLUR) ** 2)
    weights /= weights.sum()
    # Two widths of rest: the blurred motion begins and ends where the samples do.
    padded = np.pad(samples, ((2 * around, 2 * around), (0, 0)), mode="edge")
    columns = [np.convolve(column, weights, "valid") for column in padded.T]
    return np.stack(columns, axis=1)


def _slowed(
    times: FloatArray, positions: FloatArray, limits: MotionLimits, joints: JointSet
) -> FloatArray:
    """Return times that keep the motion within the limits: segments that do not are longer."""
    rows, start = np.arange(len(joints)), np.zeros((3, len(joints)))
    start[0] = positions[0]
    free = MotionLimits(*(np.full(len(joints), it) for it in (-np.inf, *[np.inf] * 4)))
    for _ in range(ROUNDS):
        points = Points(rows, times, positions, None, None)
        trajectory = trajectory_through(start, points, free, joints, np.inf)
        durations = np.diff(times)
        lowest, highest = extremes(trajectory.coefficients, durations)
        speed, bend = np.maximum(-lowest, highest)[1:]
        longer = np.maximum(
            (speed / limits.velocity).max(axis=1), np.sqrt(bend / limits.acceleration).max(axis=1)
        )
        if longer.max() <= 1.0:
            return times
        stretch = np.where(longer > 1.0, longer * MARGIN, 1.0)
        # The velocity at a point depends on both of its segments.
        near = np.pad(stretch, 1, mode="edge")
        stretch = np.maximum(stretch, np.sqrt(np.maximum(near[:-2], near[2:])))
        times = np.concatenate([[0.0], np.cumsum(durations * stretch)]).round(TIME_DIGITS)
    raise MotionRefusedError("no time is long enough for this motion: expected finite limits")
