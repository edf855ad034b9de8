"""The cascaded loops: position → velocity → motor current, in counts and register units."""

from humanoid_twin.erob.parameters import (
    POSITION_GAIN_UNIT,
    TICK,
    VELOCITY_GAIN_UNIT,
    DriveParameters,
    LoopGains,
    Offer,
)

# Velocity demanded per position error and LSB of 0x2382:01 [1/s]: 0.01943.
_POSITION_UNIT = POSITION_GAIN_UNIT / VELOCITY_GAIN_UNIT
_FEED_FORWARD_UNIT = 1 / 0x4000  # share of the demand's speed for one LSB of 0x2382:03


class CascadedLoop:
    """Both loops of one drive. `velocity_error` [counts/s] is the velocity loop's last input.

    Linearized at the output: kd = Kt · gear · 83442.87 · 19.3e-5 · velocity register and
    kp = kd · 0.01943 · position register, both times the transmission's efficiency.
    """

    __slots__ = ("_feed_forward", "_feeds", "_gain", "_gains", "_integral_rate", "_limit",
                 "_stiffness", "_sum", "_unit", "velocity_error")  # fmt: skip

    def __init__(self, parameters: DriveParameters) -> None:
        self._limit = parameters.current_limit
        self._unit = parameters.integral_unit
        self._feeds = parameters.feed_forward is not Offer.ABSENT
        self._gains: LoopGains | None = None
        self.use(parameters.factory)
        self.reset()

    def use(self, gains: LoopGains) -> None:
        """Use these registers from now on."""
        if gains is self._gains:
            return
        self._gains = gains
        self._stiffness = _POSITION_UNIT * gains.position  # [1/s]
        self._feed_forward = _FEED_FORWARD_UNIT * gains.feed_forward if self._feeds else 0.0
        self._gain = VELOCITY_GAIN_UNIT * gains.velocity  # [mA per count/s]
        self._integral_rate = self._unit * gains.integral  # [1/s]

    @property
    def position_gain(self) -> float:
        """Current for a position error of one count at a constant speed [mA/count]."""
        return self._stiffness * self._gain

    def reset(self) -> None:
        """Clear the integral, after power was off."""
        self._sum = 0.0  # [counts]
        self.velocity_error = 0.0

    def current(self, demand: float, speed: float, position: int, velocity: int) -> float:
        """Return the motor current [mA] of one tick.

        `demand`, `position`: [counts]; `speed` of the demand, `velocity`: [counts/s].
        """
        demanded_speed = self._stiffness * (demand - position) + self._feed_forward * speed
        return self._velocity_loop(demanded_speed - velocity)

    def brake(self, velocity: int) -> float:
        """Return the motor current [mA] of one tick that stops the shaft, whatever the target."""
        return self._velocity_loop(float(-velocity))

    def _velocity_loop(self, error: float) -> float:
        self.velocity_error = error
        proportional = self._gain * error
        integral = self._integral_rate * self._gain
        if integral == 0.0:
            self._sum = 0.0  # an integral that is switched on again starts at 0
            return max(-self._limit, min(self._limit, proportional))
        # Current at its limit: integrate only what leads away from it.
        total = proportional + integral * self._sum
        if abs(total) < self._limit or total * error < 0:
            self._sum += error * TICK
        return max(-self._limit, min(self._limit, proportional + integral * self._sum))
