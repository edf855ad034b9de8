"""The inner force loop of a motor board: motor, tendon and PI on the measured force, at 5 kHz.

Forces, inertias and angles are reflected to the joint: Nm, kg m², rad.
"""

import math
from typing import Final

from pydantic import Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_twin.can.motors.firmware import TICK

STEPS: Final = 5  # of the inner loop in a tick of the firmware
STEP: Final = TICK / STEPS  # [s]
# A joint that is further away than it can have moved was placed by a command: its tendon comes
# along.
_PLACED: Final = 0.05  # [rad] in a tick, 50 rad/s


class BoardFigures(StrictModel):
    """The figures of a board with its motor and its tendon. None is of a known product."""

    motor_inertia: float = Field(gt=0.0)  # [kg m²]
    motor_damping: float = Field(ge=0.0)  # [Nm s/rad]
    motor_torque: float = Field(gt=0.0)  # [Nm] at most
    tendon_stiffness: float = Field(gt=0.0)  # [Nm/rad]
    tendon_damping: float = Field(ge=0.0)  # [Nm s/rad]
    backlash: float = Field(default=0.0, ge=0.0)  # [rad] without force
    force_p: float = Field(ge=0.0)  # [Nm/Nm]
    force_i: float = Field(ge=0.0)  # [Nm/(Nm s)]


class ForceLoop:
    """A motor that turns a joint by a tendon, and the loop that controls the tendon's force.

    `force` is the measured force [Nm]. `steps` counts the steps of the loop.
    """

    def __init__(self, figures: BoardFigures) -> None:
        self._figures = figures
        self._gap = 0.5 * figures.backlash  # [rad] to either side
        self.steps = 0
        self.reset()

    def reset(self) -> None:
        """Start at rest with a tendon that is not stretched, at the next `run`."""
        self.force = 0.0
        self._motor = math.nan  # [rad]
        self._speed = 0.0  # [rad/s] of the motor
        self._integral = 0.0  # [Nm]
        self._stretch = 0.0  # [rad] of the tendon, without the gap
        self._expected = math.nan  # [rad] travel at the next run

    def run(
        self, demand: float | None, travel: float, speed: float, near: float = 0.0
    ) -> tuple[float, int]:
        """Run a tick of the firmware, in which the joint moves at a constant speed.

        Args:
            demand: force [Nm]; None: the bridge is off, and the motor is dragged along.
            travel: of the tendon at the joint, at the start of the tick [rad].
            speed: of that [rad/s].
            near: a distance of the force from `demand` [Nm].

        Returns the mean force [Nm], and the step after which the force was near the demand first;
        0 if none was.
        """
        if not abs(travel - self._expected) < _PLACED:
            self.reset()
            self._motor, self._speed = travel, speed
        self._expected = travel + speed * TICK
        mean, reached = 0.0, 0
        for step in range(1, STEPS + 1):
            self._turn(self._drive(demand), travel + speed * STEP * step, speed)
            mean += self.force
            if not reached and demand is not None and abs(demand - self.force) <= near:
                reached = step
        self.steps += STEPS
        return mean / STEPS, reached

    def _drive(self, demand: float | None) -> float:
        """Return the torque of the motor [Nm]."""
        if demand is None:
            self._integral = 0.0
            return 0.0
        figures, limit = self._figures, self._figures.motor_torque
        error = demand - self.force
        integral = self._integral + figures.force_i * error * STEP
        torque = demand + figures.force_p * error + integral
        if abs(torque) > limit:
            return math.copysign(limit, torque)  # and the integral stays
        self._integral = integral
        return torque

    def _turn(self, torque: float, travel: float, speed: float) -> None:
        """Turn the motor by a step, to whose end the joint has come to `travel`."""
        figures, gap, stretch = self._figures, self._gap, self._stretch
        stiffness = figures.tendon_stiffness
        damping = figures.tendon_damping if stretch or not gap else 0.0
        push = torque - stiffness * stretch + damping * speed
        # The damping is implicit, so it takes energy at any step.
        momentum = figures.motor_inertia * self._speed + STEP * push
        resistance = figures.motor_inertia + STEP * (figures.motor_damping + damping)
        self._speed = momentum / resistance
        self._motor += STEP * self._speed
        stretch = self._motor - travel
        if gap:
            stretch -= max(-gap, min(gap, stretch))
        self._stretch = stretch
        force = stiffness * stretch + figures.tendon_damping * (self._speed - speed)
        # With a gap a side only pulls: it leaves the joint before its damping would push.
        self.force = 0.0 if gap and force * stretch <= 0.0 else force
