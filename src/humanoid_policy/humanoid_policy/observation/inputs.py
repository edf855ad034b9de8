"""The inputs of an observation at one time, of one robot or of a batch of robots."""

from dataclasses import dataclass

from humanoid_control_common.robot.joints import FloatArray


@dataclass(frozen=True, slots=True)
class Reference:
    """A motion that the policy follows, at one time."""

    position: FloatArray  # [rad], (..., n)
    velocity: FloatArray  # [rad/s], (..., n)
    phase: FloatArray  # 0 to 1 of the motion, (..., 1)


@dataclass(frozen=True, slots=True)
class ObservationInputs:
    """Measurements and requested motion; the leading shape is that of the batch, () for one robot.

    A value that no term of the observation needs may be None.
    """

    position: FloatArray  # measured [rad], (..., n)
    velocity: FloatArray  # measured [rad/s], (..., n)
    effort: FloatArray  # measured [Nm], (..., n)
    action: FloatArray  # of the policy step before, unscaled, 0 at first, (..., m)
    reference: Reference | None = None
    angular_velocity: FloatArray | None = None  # of the base, in its frame [rad/s], (..., 3)
    gravity: FloatArray | None = None  # its direction in the frame of the base, (..., 3)
    velocity_command: FloatArray | None = None  # vx, vy [m/s], wz [rad/s], (..., 3)
