"""PID control of n joints."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray


@dataclass(frozen=True, slots=True)
class PidGains:
    """Gains of n joints, (n,) each. The unit of u is that of the output, of e that of the error."""

    p: FloatArray  # [u/e]
    i: FloatArray  # [u/(e s)]
    d: FloatArray  # [u s/e]
    i_clamp_min: FloatArray  # [u] of the integral part, 0 or less
    i_clamp_max: FloatArray  # [u], 0 or more

    def __post_init__(self) -> None:
        shape = self.p.shape
        for field in fields(self):
            if getattr(self, field.name).shape != shape:
                raise ValueError(f"{field.name}: expected shape {shape}")


class Pid:
    """u = p e + clamp(i I) + d e', where I is the integral of the error.

    Args:
        gains: of n joints.
        antiwindup: whether the integral itself stops where its part reaches the clamp; otherwise
            it grows further, and takes as long to return.
        derivative_on_measurement: whether e' is that of the measurement, with its sign changed: a
            step of the command gives no kick. It counts from the second tick on.
    """

    def __init__(
        self, gains: PidGains, *, antiwindup: bool, derivative_on_measurement: bool = False
    ) -> None:
        count = len(gains.p)
        self.antiwindup, self._on_measurement = antiwindup, derivative_on_measurement
        self.integral = np.zeros(count)  # [e s]
        self.integral_part = np.zeros(count)  # [u] of the output
        self.output = np.zeros(count)  # [u]
        self.derivative_part = np.zeros(count)  # [u] of the output
        self._last = np.zeros(count)  # error, or measurement with the other sign
        self._fresh = np.ones(count, dtype=np.bool_)
        self.gains = gains
        self.set_gains(gains)

    def set_gains(self, gains: PidGains) -> None:
        """Change the gains; the part of the integral in the output stays, within its clamp."""
        acts = gains.i != 0.0
        self.integral *= self.gains.i
        np.divide(self.integral, gains.i, out=self.integral, where=acts)
        self.gains = gains
        low, high = np.full_like(gains.i, -np.inf), np.full_like(gains.i, np.inf)
        np.divide(gains.i_clamp_min, gains.i, out=low, where=acts)
        np.divide(gains.i_clamp_max, gains.i, out=high, where=acts)
        self._lowest, self._highest = low, high
        self._has_integral = bool(acts.any())
        self.integral_part.fill(0.0)
        self._has_derivative = bool(gains.d.any())

    def reset(self) -> None:
        """Clear the state."""
        self.integral.fill(0.0)
        self.integral_part.fill(0.0)
        self._last.fill(0.0)
        self._fresh.fill(True)

    def step(self, error: FloatArray, measured: FloatArray, period: float) -> FloatArray:
        """Return the output (n,), valid until the next call.

        A joint whose error is not finite, and all joints when no time has passed, get 0 and keep
        their past.

        Args:
            error: command - measurement, (n,).
            measured: (n,), for the derivative on measurement.
            period: [s] since the call before.
        """
        output, part, gains = self.output, self.integral_part, self.gains
        bad = None if math.isfinite(error.dot(error)) else ~np.isfinite(error)
        self.derivative_part.fill(0.0)
        if period <= 0.0:
            output.fill(0.0)
            return output
        if bad is not None:
            error = np.where(bad, 0.0, error)
        np.multiply(gains.p, error, out=output)
        if self._has_integral:
            np.multiply(error, period, out=part)
            self.integral += part
            if self.antiwindup:
                np.maximum(self.integral, self._lowest, out=self.integral)
                np.minimum(self.integral, self._highest, out=self.integral)
            np.multiply(gains.i, self.integral, out=part)
            if not self.antiwindup:
                np.maximum(part, gains.i_clamp_min, out=part)
                np.minimum(part, gains.i_clamp_max, out=part)
            output += part
        if self._has_derivative:
            self._add_derivative(error, measured, period, bad)
        if bad is not None:
            output[bad] = self.derivative_part[bad] = 0.0
        return output

    def _add_derivative(
        self,
        error: FloatArray,
        measured: FloatArray,
        period: float,
        bad: NDArray[np.bool_] | None,
    ) -> None:
        now = -measured if self._on_measurement else error
        rate = now - self._last
        rate /= period
        if self._on_measurement:
            rate[self._fresh] = 0.0
        rate *= self.gains.d
        self.derivative_part[:] = rate
        self.output += rate
        if bad is None:
            self._last[:] = now
            self._fresh.fill(False)
        else:
            np.copyto(self._last, now, where=~bad)
            self._fresh &= bad
