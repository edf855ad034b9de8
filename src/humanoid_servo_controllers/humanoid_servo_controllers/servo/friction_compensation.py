"""The effort that is added to a demand to overcome friction."""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.servo.friction_map import FrictionTable

# Below the first a joint counts as at rest; above, its friction falls. Both as in sr_core.
REST: Final = 0.01  # [rad/s]
DECAY: Final = 20.0  # [s/rad]; 0: friction is the same at every speed


class FrictionCompensation:
    """Friction of n joints in the direction of the demand: map(q) · g(velocity) · h(demand).

    g is 1 up to the speed `rest` and then falls by exp(-decay · speed). By default it falls fast:
    the compensation is for breaking away. h rises from 0 to 1 over `demand_deadband`, so that a
    demand that changes its sign gives no step.

    Args:
        table: the maps.
        demand_deadband: [Nm], (n,), 0 or more.
        rest: [rad/s], 0 or more.
        decay: [s/rad], 0 or more.
    """

    def __init__(
        self,
        table: FrictionTable,
        demand_deadband: FloatArray,
        rest: float = REST,
        decay: float = DECAY,
    ) -> None:
        self._table, self._rest, self._decay = table, rest, decay
        # A demand of 0 has no direction: it gets 0, also without a deadband.
        self._ramp = np.maximum(demand_deadband, np.finfo(np.float64).tiny)

    def effort(self, position: FloatArray, velocity: FloatArray, demand: FloatArray) -> FloatArray:
        """Return the effort [Nm] (n,) at `position` [rad], `velocity` [rad/s], `demand` [Nm]."""
        if self._table.is_flat:
            return np.zeros_like(demand)
        speed = np.abs(velocity)
        found = self._table.effort(position, demand > 0.0)
        found *= np.minimum(np.abs(demand) / self._ramp, 1.0)
        if self._decay and np.count_nonzero(speed > self._rest):
            found *= np.exp(-self._decay * np.maximum(speed - self._rest, 0.0))
        return found
