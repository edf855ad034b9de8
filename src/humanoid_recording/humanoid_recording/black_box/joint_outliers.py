"""The joints with extreme values just before a fault."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray

BEFORE: Final = 1_000_000_000  # [ns] before the fault that count


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Motion of n joints at m times, shapes (m, n); limits (n,)."""

    names: tuple[str, ...]
    times: NDArray[np.int64]  # [ns]
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [Nm]
    target: FloatArray  # [rad]
    stiffness: FloatArray  # [Nm/rad]
    velocity_limit: FloatArray  # [rad/s]
    effort_limit: FloatArray  # [Nm]


@dataclass(frozen=True, slots=True)
class JointOutlier:
    """The joint with the largest value of one kind."""

    what: str  # "fastest"
    joint: str
    value: float
    unit: str
    share: float  # of its limit; NaN if there is none


def joint_outliers(motion: Motion, fault: int) -> tuple[JointOutlier, ...]:
    """Return the joints with most velocity, effort and distance to the target before `fault` [ns].

    The distance is measured as torque: stiffness times distance.
    """
    seen = (motion.times > fault - BEFORE) & (motion.times <= fault)
    if not seen.any():
        return ()
    distance = np.abs(motion.target - motion.position)
    pull = distance * motion.stiffness
    found = [
        _most("fastest", "rad/s", motion, np.abs(motion.velocity)[seen], motion.velocity_limit),
        _most("most effort", "Nm", motion, np.abs(motion.effort)[seen], motion.effort_limit),
    ]
    if pull[seen].any():
        found.append(_most("most spring torque", "Nm", motion, pull[seen], motion.effort_limit))
    return tuple(found)


def _most(
    what: str, unit: str, motion: Motion, values: FloatArray, limits: NDArray[Any]
) -> JointOutlier:
    """Return the largest by share of the limit; by value where no joint has a limit."""
    most = np.nanmax(np.nan_to_num(values), axis=0)
    limited = np.isfinite(limits) & (limits > 0.0)
    shares = np.divide(most, limits, out=np.zeros_like(most), where=limited)
    index = int(np.argmax(shares if limited.any() else most))
    share = float(shares[index]) if limited.any() else float("nan")
    return JointOutlier(what, motion.names[index], float(most[index]), unit, share)
