"""Parameters of the policy controller; everything about the policy itself is in its model."""

from typing import Self

from pydantic import Field, model_validator

from humanoid_control_common.configuration.config import StrictModel


class MotionParameters(StrictModel):
    """A motion through waypoints, for a policy that follows one."""

    joints: list[str] = Field(
        min_length=1, description="The joints that move; the others stay at their default position."
    )
    times: list[float] = Field(
        min_length=1, description="Of the waypoints, from the activation on, ascending [s]."
    )
    positions: list[float] = Field(
        description="Of the joints at each waypoint, one waypoint after another [rad]."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        expected = len(self.joints) * len(self.times)
        if len(self.positions) != expected:
            raise ValueError(
                f"{len(self.positions)} positions, expected {expected}: {len(self.joints)} joints "
                f"at {len(self.times)} waypoints"
            )
        return self

    @property
    def waypoints(self) -> list[tuple[float, list[float]]]:
        """Time [s] and positions [rad] of each."""
        count = len(self.joints)
        return [
            (time, self.positions[i * count : (i + 1) * count]) for i, time in enumerate(self.times)
        ]


class PolicyParameters(StrictModel):
    """Parameters of the policy controller."""

    model: str = Field(
        min_length=1, description="The ONNX file: an absolute path, or package://NAME/PATH."
    )
    motion: MotionParameters | None = Field(
        default=None, description="The motion that the policy follows, if it follows one."
    )
    imu_timeout: float = Field(
        default=0.1,
        gt=0.0,
        description="Age of the latest IMU message that ends the policy, if it observes one [s].",
    )
    velocity_timeout: float = Field(
        default=0.5,
        gt=0.0,
        description="Age of the latest velocity command after which it counts as 0 [s].",
    )
