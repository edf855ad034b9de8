"""What is left of velocity and effort near the ends of a joint's soft range."""

from __future__ import annotations

import numpy as np

from humanoid_control_common.joints import FloatArray, JointLimits
from humanoid_control_common.surface import JointState


def velocity_room(state: JointState, limits: JointLimits) -> tuple[FloatArray, FloatArray]:
    """Least and largest target velocity [rad/s] of every joint, (n,) each.

    Towards an end at most position_gain times the distance to it, beyond it none; always within
    the joint's velocity limit.
    """
    limit = limits.velocity
    if limits.soft is None:
        return -limit, limit
    down, up = _slowed(state, limits)
    return np.maximum(-limit, -down), np.minimum(limit, up)


def effort_room(
    state: JointState, limits: JointLimits, limit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Least and largest feed-forward effort [Nm] of every joint, (n,) each, within `limit`.

    Towards an end at most velocity_gain times what the joint is slower than it may be there.
    """
    soft = limits.soft
    if soft is None:
        return -limit, limit
    down, up = _slowed(state, limits)
    gain, brakes = soft.velocity_gain, soft.velocity_gain * soft.position_gain > 0.0
    low = np.where(brakes, gain * np.where(brakes, down + state.velocity, 0.0), np.inf)
    high = np.where(brakes, gain * np.where(brakes, up - state.velocity, 0.0), np.inf)
    return np.maximum(-limit, -np.maximum(low, 0.0)), np.minimum(limit, np.maximum(high, 0.0))


def _slowed(state: JointState, limits: JointLimits) -> tuple[FloatArray, FloatArray]:
    """Largest speeds [rad/s] towards the lower and the upper end; infinite where none is asked."""
    soft = limits.soft
    assert soft is not None
    brakes = soft.position_gain > 0.0
    down = soft.position_gain * np.maximum(state.position - soft.lower, 0.0)
    up = soft.position_gain * np.maximum(soft.upper - state.position, 0.0)
    return np.where(brakes, down, np.inf), np.where(brakes, up, np.inf)
