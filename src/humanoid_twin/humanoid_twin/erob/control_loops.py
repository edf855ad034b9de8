"""Compute a motor current per millisecond from a target per SYNC0, in counts and register units.

The demand is interpolated; the cascaded loops follow it with the gains in force.
"""

from dataclasses import replace
from typing import Literal

from humanoid_twin.erob.parameters import (
    POSITION_GAIN_UNIT,
    TICK,
    VELOCITY_GAIN_UNIT,
    DriveParameters,
    LoopGains,
    ObjectAccess,
)

RegisterName = Literal["position", "velocity", "integral", "feed_forward"]


class GainStore:
    """Registers written over the bus, factory gains, and which of the two are active.

    `active` are the gains for the next step of the loops.
    """

    def __init__(self, factory: LoopGains, *, stores_behind_closed_gate: bool) -> None:
        self._factory = factory
        self._stores = stores_behind_closed_gate
        self.power_cycle()

    def power_cycle(self) -> None:
        """Close the gate and reset the registers to the factory gains."""
        self.registers = self._factory
        self.gate = 0

    @property
    def gate(self) -> int:
        """0x2383: 1 makes the registers active."""
        return self._gate

    @gate.setter
    def gate(self, value: int) -> None:
        self._gate = value
        self.active = self.registers if value == 1 else self._factory

    def write(self, name: RegisterName, value: int) -> None:
        """Write a register; the loops don't use it while the gate is 0."""
        if self.gate == 0 and not self._stores:
            return
        self.registers = replace(self.registers, **{name: value})
        self.gate = self._gate


class CspInterpolator:
    """Straight lines between targets, each over the SYNC0 period before it (assumed).

    The period is measured between the last two targets, as SYNC0 alone latches them.
    """

    __slots__ = ("_longest", "_remaining", "_since_target", "_target", "speed", "value")

    def __init__(self, longest: float) -> None:
        self._longest = max(1, round(longest / TICK))  # [ticks]
        self._since_target = 0
        self.value = 0.0  # [counts]
        self.speed = 0.0  # [counts/s] of the demand, in the latest tick
        self.hold(0.0)

    def hold(self, position: float) -> None:
        """Demand this position [counts] until the next target."""
        self.value = self._target = float(position)
        self._remaining = 0
        self.speed = 0.0

    def aim(self, target: int, ticks: int | None = None) -> None:
        """Latch a target [counts]: reach it after `ticks`, by default one SYNC0 period."""
        self._target = float(target)
        ticks = self._since_target if ticks is None else ticks
        self._remaining = min(self._longest, max(1, ticks))
        self._since_target = 0

    def tick(self) -> float:
        """Advance by one millisecond. Return the demand [counts]."""
        self._since_target += 1
        remaining = self._remaining
        if remaining:
            step = (self._target - self.value) / remaining
            self.value += step
            self.speed = step / TICK
            self._remaining = remaining - 1
        else:
            self.speed = 0.0
        return self.value


# Velocity demanded per position error and LSB of 0x2382:01 [1/s]: 0.01943.
_POSITION_UNIT = POSITION_GAIN_UNIT / VELOCITY_GAIN_UNIT
_FEED_FORWARD_UNIT = 1 / 0x4000  # share of the demand's speed for one LSB of 0x2382:03


class CascadedLoop:
    """Both loops of one drive. `velocity_error` [counts/s] is the velocity loop's last input.

    Linearized at the output: kd = Kt · gear · 83442.87 · 19.3e-5 · velocity register and
    kp = kd · 0.01943 · position register, both times the transmission's efficiency.
    """

    __slots__ = ("_feed_forward", "_feeds", "_gain", "_integral", "_limit", "_stiffness", "_sum",
                 "_unit", "gains", "position_gain", "velocity_error")  # fmt: skip

    def __init__(self, parameters: DriveParameters) -> None:
        self._limit = parameters.current_limit
        self._unit = parameters.integral_unit
        self._feeds = parameters.feed_forward is not ObjectAccess.ABSENT
        self.use(parameters.factory)
        self.reset()

    def use(self, gains: LoopGains) -> None:
        """Use these registers from now on."""
        self.gains = gains
        self._stiffness = _POSITION_UNIT * gains.position  # [1/s]
        self._feed_forward = _FEED_FORWARD_UNIT * gains.feed_forward if self._feeds else 0.0
        self._gain = VELOCITY_GAIN_UNIT * gains.velocity  # [mA per count/s]
        self._integral = self._unit * gains.integral * self._gain  # [mA per count]
        # Current for a position error of one count at a constant speed [mA/count].
        self.position_gain = self._stiffness * self._gain

    def reset(self) -> None:
        """Clear the integral, after power was off."""
        self._sum = 0.0  # [counts]
        self.velocity_error = 0.0

    def current(self, error: float, speed: float, velocity: int) -> float:
        """Return the motor current [mA] of one tick.

        `error`: demand minus position [counts]; `speed` of the demand, `velocity`: [counts/s].
        """
        demanded_speed = self._stiffness * error + self._feed_forward * speed
        self.velocity_error = speed_error = demanded_speed - velocity
        current, integral, limit = self._gain * speed_error, self._integral, self._limit
        if integral == 0.0:
            self._sum = 0.0  # an integral that is switched on again starts at 0
        else:
            # Current at its limit: integrate only what leads away from it.
            total = current + integral * self._sum
            if abs(total) < limit or total * speed_error < 0:
                self._sum += speed_error * TICK
            current += integral * self._sum
        if current > limit:
            return limit
        return current if current > -limit else -limit

    def brake(self, velocity: int) -> float:
        """Return the motor current [mA] of one tick that stops the shaft, whatever the target."""
        return self.current(0.0, 0.0, velocity)
