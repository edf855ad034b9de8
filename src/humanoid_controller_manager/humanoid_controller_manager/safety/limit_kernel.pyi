"""The arithmetic of the limit stage, compiled from limit_kernel.c."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray

LEAST_STIFFNESS: Final[float]  # [Nm/rad] keeps the allowed distance finite

@final
class LimitKernel:
    """Limits commands of n joints.

    It refers to the arrays that it is given: C-contiguous, of shape (n,). Their owner may change
    the values between two calls, and must not resize the arrays.

    Raises TypeError, ValueError or BufferError for arrays of another kind.
    """

    def __new__(
        cls,
        joint_count: int,
        *,
        lower: FloatArray,  # [rad] range of the target
        upper: FloatArray,
        velocity: FloatArray,  # [rad/s] largest
        effort: FloatArray,  # [Nm] largest now
        stiffness: FloatArray,  # [Nm/rad] largest; inf: any
        damping: FloatArray,  # [Nm*s/rad] largest; inf: any
        position_gain: FloatArray,  # [1/s] of the soft limits; 0: none
        velocity_gain: FloatArray,  # [Nm*s/rad] of the soft limits; 0: none
        realized: FloatArray,  # [Nm/rad] that drives hold; NaN: the commanded stiffness acts
        before: FloatArray,  # [rad] written: targets of the tick before, measured where none acted
        target: FloatArray,  # [rad] written: targets of this tick
        acts: NDArray[np.bool_],  # written: where there is stiffness
        counts: NDArray[np.int64],  # added to: ticks with something limited, (8, n), see `Limited`
    ) -> LimitKernel: ...
    def limit(self, state: FloatArray, command: FloatArray, period: float, /) -> None:
        """Limit `command` (5, n) in place for `state` (3, n), `period` [s] after the last call."""

    def limit_torque(self, state: FloatArray, command: FloatArray, /) -> None:
        """Limit stiffness, damping and feed-forward together, of a command changed since."""
