"""Inputs of a policy besides the joints and its motion: an IMU, velocity commands."""

from dataclasses import dataclass

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controllers.policy.parameters import PolicyParameters
from humanoid_policy.errors import PolicyFailedError
from humanoid_policy.observation.terms import Source
from humanoid_policy.reason_codes import POLICY_WITHOUT_INPUT


@dataclass(frozen=True, slots=True, eq=False)
class ImuSample:
    """A checked message of the IMU."""

    angular_velocity: FloatArray  # [rad/s], (3,)
    gravity: FloatArray  # its direction in the frame of the base, (3,)
    arrival: float  # [s], the loop's time


@dataclass(frozen=True, slots=True, eq=False)
class VelocityCommand:
    """A checked velocity command."""

    value: FloatArray  # vx, vy [m/s], wz [rad/s], (3,)
    arrival: float  # [s], the loop's time


class LiveInputs:
    """The latest values of the topics. `imu` and `velocity` may be filled by any thread."""

    def __init__(self, sources: frozenset[Source], parameters: PolicyParameters) -> None:
        self.imu: LatestValue[ImuSample] = LatestValue()
        self.velocity: LatestValue[VelocityCommand] = LatestValue()
        self._needs_imu = Source.IMU in sources
        self._parameters = parameters
        self._imu: ImuSample | None = None
        self._velocity: VelocityCommand | None = None

    def present(self, now: float) -> tuple[ImuSample | None, FloatArray]:
        """Return the IMU's sample, None if it is not observed, and the velocity command, (3,).

        Called by the loop's thread. Raises PolicyFailedError while the IMU is silent.
        """
        self._imu = self.imu.take() or self._imu
        self._velocity = self.velocity.take() or self._velocity
        limit = self._parameters.imu_timeout
        if self._needs_imu and (self._imu is None or now - self._imu.arrival > limit):
            raise PolicyFailedError(
                POLICY_WITHOUT_INPUT, f"no valid message of the IMU for {limit:g} s: topic imu/data"
            )
        command = self._velocity
        fresh = command is not None and now - command.arrival <= self._parameters.velocity_timeout
        return self._imu, command.value if command is not None and fresh else np.zeros(3)
