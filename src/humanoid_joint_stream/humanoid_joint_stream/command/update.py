"""One update of a stream, and the check of it."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from humanoid_control_common.errors import RobotError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import LARGEST, Capability
from humanoid_joint_client.status import Status
from humanoid_joint_stream.command.executed_command import ExecutedCommand
from humanoid_joint_stream.facts import StreamFacts

NO_MESSAGE: Final = "the update is no message Update"
SAME: Final = 1e-6  # relative: gains that came as float32 are those of the mode


class UpdateError(RobotError):
    """An update is not applied.

    Attributes:
        status: why.
        ends_stream: False for a broken value: the command before runs to its own end.
    """

    def __init__(self, status: Status, text: str, *, ends_stream: bool = True) -> None:
        super().__init__(text)
        self.status, self.ends_stream = status, ends_stream


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked update."""

    command: ExecutedCommand
    key: int
    velocity_limit: float  # [rad/s]; inf: none
    short_horizon: bool  # it may end between two ticks


class UpdateCheck:
    """Checks the updates of one stream, and stores its gains.

    An update needs gains until one is accepted; a later one may have all of them or none.
    """

    def __init__(self, facts: StreamFacts) -> None:
        self._facts = facts
        self._gains: FloatArray | None = None  # (2, n)
        acts = np.array(facts.capabilities)
        self._never_load = acts[2] != Capability.PER_TICK
        self._fixed_gains = acts[3:] != Capability.PER_TICK
        self._mode_gains = np.array([[facts.stiffness], [facts.damping]])

    def check(self, update: Any, received: int) -> Checked:
        """Return the command in the message `update`, received at `received` [ns].

        None is an update that could not be decoded. Raises UpdateError; gains of a refused update
        are not stored.
        """
        if update is None:
            raise _invalid(NO_MESSAGE)
        if len(update.contact_advice):
            raise _invalid("contact_advice: expected none, the robot has no feet")
        if not update.HasField("end_time"):
            raise _invalid("end_time: missing")
        gains = self._gains_of(update)
        rows = np.empty((5, len(self._facts.joints)))
        for row, name in enumerate(("position", "velocity", "load")):
            rows[row] = self._row(name, getattr(update, name))
        rows[3:] = gains
        limit = self._velocity_limit(update)
        if update.extrapolation_duration < 0:
            raise _invalid(
                f"extrapolation_duration: {update.extrapolation_duration} ns, expected 0 or more"
            )
        self._check_values(rows)
        self._check_time(update.end_time, received)
        self._check_capabilities(rows)
        self._gains = gains
        reference = update.reference_time if update.HasField("reference_time") else received
        command = ExecutedCommand(
            rows, received, update.end_time, reference, update.extrapolation_duration
        )
        short = update.end_time - received < self._facts.min_horizon
        return Checked(command, update.user_command_key, limit, short)

    def _gains_of(self, update: Any) -> FloatArray:
        if not update.HasField("gains"):
            if self._gains is None:
                raise _invalid("gains: missing, and no update was accepted before with gains")
            return self._gains
        gains = update.gains
        return np.array(
            [self._row("gains.k_q_p", gains.k_q_p), self._row("gains.k_qd_p", gains.k_qd_p)]
        )

    def _row(self, name: str, values: Any) -> FloatArray:
        expected = len(self._facts.joints)
        if len(values) != expected:
            raise _invalid(f"{name}: {len(values)} values, expected {expected}")
        return np.array(values, dtype=np.float64)

    @staticmethod
    def _velocity_limit(update: Any) -> float:
        if not update.HasField("velocity_safety_limit"):
            return np.inf
        limit = float(update.velocity_safety_limit)
        if not 0.0 < limit < np.inf:
            raise _invalid(f"velocity_safety_limit: {limit:g} rad/s, expected more than 0")
        return limit

    def _check_values(self, rows: FloatArray) -> None:
        names = ("position", "velocity", "load", "gains.k_q_p", "gains.k_qd_p")
        broken = np.argwhere(~(np.abs(rows) <= LARGEST))
        if len(broken):
            row, joint = broken[0]
            text = f"{names[row]}[{joint}]: {rows[row, joint]:g}, expected a finite number"
            raise UpdateError(Status.INVALID_REQUEST, text, ends_stream=False)
        negative = np.argwhere(rows[3:] < 0.0)
        if len(negative):
            row, joint = negative[0]
            found = rows[3 + row, joint]
            raise _invalid(f"{names[3 + row]}[{joint}]: {found:g}, expected 0 or more")

    def _check_time(self, end: int, received: int) -> None:
        ahead = end - received
        if ahead <= 0:
            text = (
                f"end_time: {-ahead * 1e-6:.1f} ms before the receipt: the update was too long "
                "under way, or the client's clock is not synchronized"
            )
            raise UpdateError(Status.EXPIRED, text)
        if ahead > self._facts.max_horizon:
            most = self._facts.max_horizon * 1e-6
            text = f"end_time: {ahead * 1e-6:.0f} ms ahead, expected at most {most:.0f} ms"
            raise UpdateError(Status.TOO_DISTANT, text)

    def _check_capabilities(self, rows: FloatArray) -> None:
        if self._facts.ignore_unsupported:
            return
        loads = np.flatnonzero(self._never_load & (rows[2] != 0.0))
        if len(loads):
            joint = loads[0]
            name = self._facts.joints[joint]
            text = f"load[{joint}]: {rows[2, joint]:g} Nm, expected 0: {name} takes no load"
            raise UpdateError(Status.UNSUPPORTED, text)
        other = np.abs(rows[3:] - self._mode_gains) > SAME * np.maximum(self._mode_gains, SAME)
        wrong = np.argwhere(self._fixed_gains & other)
        if len(wrong):
            row, joint = wrong[0]
            field, mode = ("k_q_p", "k_qd_p")[row], float(self._mode_gains[row, 0])
            name = self._facts.joints[joint]
            text = (
                f"gains.{field}[{joint}]: {rows[3 + row, joint]:g}, expected {mode:g}: {name} has "
                "the gains of the mode"
            )
            raise UpdateError(Status.UNSUPPORTED, text)


def _invalid(text: str) -> UpdateError:
    return UpdateError(Status.INVALID_REQUEST, text)
