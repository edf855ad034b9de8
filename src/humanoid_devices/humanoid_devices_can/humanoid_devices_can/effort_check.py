"""Comparison of each motor's measured effort with the MIT law of its commands.

A motor that answers may still ignore its commands, or have other gains: frames are not proof of
receipt. Such a motor keeps its last set point and gains, also after a fall to DAMPING.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.reasons import Reason
from humanoid_devices_can.reason_codes import COMMANDS_NOT_EXECUTED
from humanoid_devices_can.settings import EFFORT_TOLERANCE, Motor

# [s] between two comparisons, at least. One takes 0.3 ms if other programs used the caches before.
INTERVAL: Final = 0.035
# [s] from a command until the effort that it causes is measured: it waits in queues, and feedback
# comes every 10 ms.
DELAY: Final = 0.06
# [s] of a judgement. Longer than 0.5 s: gains that were lost are sent again by then.
WINDOW: Final = 0.6
# The scale of the reported effort is uncertain, for example peak or effective current (assumed).
SCALE: Final = 2.0
USUAL_TOLERANCE: Final = 0.05  # of the effort limit, where none is given (assumed)


class EffortCheck:
    """Finds motors whose effort differs from the law of their commands for a whole WINDOW.

    It must be too low in all comparisons of the window, or too high in all of them.

    The law is evaluated with the measured position and velocity, for all commands that may be in
    force. The effort may be half to twice the law, plus and minus the tolerance. A law beyond the
    effort limit allows all efforts between both: the motor has a limit of its own.
    """

    def __init__(
        self, motors: Sequence[Motor], effort_limit: FloatArray, update_rate: float
    ) -> None:
        """`effort_limit` [Nm], (n,): of the URDF and the motors; `update_rate` of the loop [Hz].

        Raises ConfigError for a tolerance beyond the limit, with which nothing would be found.
        """
        count = len(motors)
        for motor, most in zip(motors, effort_limit.tolist(), strict=True):
            found = motor.effort_tolerance
            if found is not None and found > most:
                raise ConfigError(
                    f"{motor.where}: {EFFORT_TOLERANCE} is {found:g} Nm, expected at most the "
                    f"joint's effort limit, {most:g} Nm"
                )
        given = [motor.effort_tolerance for motor in motors]
        usual = USUAL_TOLERANCE * effort_limit
        self.tolerance = np.array(  # [Nm], (n,)
            [b if a is None else a for a, b in zip(given, usual.tolist(), strict=True)]
        )
        self.largest = np.zeros(count)  # [Nm] deviation for a whole window, since the start
        self.problems: dict[int, Reason] = {}  # by motor, until its effort is right again
        self._motors, self._limit = motors, effort_limit
        depth = math.ceil(DELAY * update_rate) + 1
        self._commands = np.full((depth, 5, count), np.nan)
        self._next = 0
        self._compared_at = -math.inf
        self._window_start: float | None = None
        # [Nm] deviations within the window, below and above: noise on both sides is none.
        self._least = np.full((2, count), np.inf)

    def commanded(self, command: JointCommand) -> None:
        """Take a command that is sent now, in the joint frame."""
        self._commands[self._next] = command.array
        self._next = (self._next + 1) % len(self._commands)

    def is_due(self, now: float) -> bool:
        """Return whether the next comparison is due at `now` [s]."""
        return now - self._compared_at >= INTERVAL

    def compare(self, state: JointState, doubtful: NDArray[np.bool_], now: float) -> None:
        """Compare at `now` [s].

        `doubtful`, (n,): motors whose measurements are old or wrong, or that are being enabled.
        """
        self._compared_at = now
        deviation = self._deviation(state)
        deviation[:, doubtful] = 0.0
        np.fmin(self._least, deviation, out=self._least)
        for i in [i for i in self.problems if deviation[:, i].max() <= self.tolerance[i]]:
            del self.problems[i]
        if self._window_start is None:
            self._window_start = now
        elif now - self._window_start >= WINDOW:
            self._judge(state)
            self._window_start = now
            self._least.fill(np.inf)

    def _deviation(self, state: JointState) -> FloatArray:
        """Return how far [Nm] the effort is below and above what the law allows, (2, n).

        Negative within; NaN if unknown.
        """
        position, velocity, effort, stiffness, damping = self._commands.transpose(1, 0, 2)
        law = stiffness * (position - state.position)
        law += damping * (velocity - state.velocity)
        law += effort
        low, high = np.fmin.reduce(law), np.fmax.reduce(law)
        low, high = np.minimum(low, self._limit), np.maximum(high, -self._limit)
        low = np.where(low > 0.0, low / SCALE, low * SCALE)
        high = np.where(high < 0.0, high / SCALE, high * SCALE)
        return np.array([low - state.effort, state.effort - high])

    def _judge(self, state: JointState) -> None:
        least = np.where(np.isfinite(self._least), self._least, 0.0).max(axis=0)
        np.maximum(self.largest, least, out=self.largest)
        for i in np.flatnonzero(least > self.tolerance).tolist():
            # The text of the first judgement stays: another one would be another report.
            if i not in self.problems:
                self.problems[i] = self._reason(i, state.effort[i], least[i])

    def _reason(self, i: int, effort: float, deviation: float) -> Reason:
        return Reason.of(
            COMMANDS_NOT_EXECUTED,
            f"{self._motors[i]}: does not execute its commands: its effort of "
            f"{effort:.3g} Nm is {deviation:.3g} Nm away from what they ask for",
        )
