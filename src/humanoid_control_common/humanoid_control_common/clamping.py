"""Limits of arrays in the loop's tick."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_control_common.robot.joints import FloatArray


def clamp(
    values: ArrayLike, low: ArrayLike, high: ArrayLike, out: FloatArray | None = None
) -> FloatArray:
    """Return `values` within `low` and `high`, like np.clip, in a third of its time.

    np.clip spends its time in Python functions of numpy, which are rarely in the processor's caches
    when a tick begins. A value that is NaN stays NaN. `high` has priority over `low`.
    """
    above: NDArray[np.float64] = np.maximum(values, low, out=out)
    return np.minimum(above, high, out=above)
