"""The protocol of a motor family: everything that differs between families on the bus.

Values are those of the motor's output in its own frame (rad, rad/s, Nm). The caller applies the
calibration, the family converts to raw fields.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_devices_can.bus.bus import CanFrame
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.settings import CanSettings, Motor


@dataclass(slots=True, kw_only=True)  # not frozen: one is made for each frame
class Feedback:
    """The content of one frame from one motor; None: not in this frame."""

    motor: int  # index in the block
    position: float | None = None  # [rad]
    velocity: float | None = None  # [rad/s]
    effort: float | None = None  # [Nm]
    enabled: bool | None = None
    fault: Reason | None = None  # present faults
    report: Reason | None = None  # latest unsolicited fault report
    hot: bool | None = None  # over its temperature limit
    warned: bool | None = None  # an unsolicited report warns of the temperature
    temperature_celsius: float | None = None
    at_rail: bool | None = None  # the velocity is near or beyond the largest the wire carries

    def check(self, motors: Sequence[Motor]) -> None:
        """Raise ProtocolError for a measurement that is no finite number."""
        # The sum, and not each value: this runs for every frame.
        total = (self.position or 0.0) + (self.velocity or 0.0) + (self.effort or 0.0)
        if not math.isfinite(total):
            raise ProtocolError(
                f"{motors[self.motor]} measures {self.position} rad, {self.velocity} rad/s, "
                f"{self.effort} Nm: expected finite numbers"
            )


@dataclass(slots=True)  # not frozen: one is made for each frame
class MotorState:
    """The latest feedback values, merged, in the motor frame. Unmeasured values are NaN."""

    stamp: float = -math.inf  # [s] of the latest frame
    position: float = math.nan  # [rad]
    velocity: float = math.nan  # [rad/s]
    effort: float = math.nan  # [Nm]
    enabled: bool | None = None  # None: the family does not report it
    fault: Reason = NO_REASON
    report: Reason = NO_REASON
    hot: bool = False
    warned: bool = False
    temperature_celsius: float | None = None
    at_rail: bool = False
    position_stamp: float = -math.inf  # [s] of the latest position
    rate_stamp: float = -math.inf  # [s] of the latest velocity and effort

    @property
    def measured(self) -> bool:
        """Return whether position, velocity and effort have been measured."""
        return math.isfinite(self.position + self.velocity + self.effort)

    @property
    def measured_at(self) -> float:
        """Return when [s] the older of position and velocity was measured."""
        return min(self.position_stamp, self.rate_stamp)

    def updated(self, feedback: Feedback, now: float) -> MotorState:
        """Return this state with the values of one more frame, received at `now` [s]."""
        # Written out, not a loop over the fields: this runs for every frame.
        new = feedback
        return MotorState(
            now,
            self.position if new.position is None else new.position,
            self.velocity if new.velocity is None else new.velocity,
            self.effort if new.effort is None else new.effort,
            self.enabled if new.enabled is None else new.enabled,
            self.fault if new.fault is None else new.fault,
            self.report if new.report is None else new.report,
            self.hot if new.hot is None else new.hot,
            self.warned if new.warned is None else new.warned,
            self.temperature_celsius
            if new.temperature_celsius is None
            else new.temperature_celsius,
            self.at_rail if new.at_rail is None else new.at_rail,
            self.position_stamp if new.position is None else now,
            self.rate_stamp if new.velocity is None else now,
        )


# Judges a frame: None if it is not the answer, "" if the motor obeyed, else the failure.
Judge = Callable[[int, bytes], str | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to one motor, and the rule of its acknowledgement.

    With `quiet` [s] there is no answer: the motor obeys by sending nothing for that long after the
    first request. That is repeated in the silence, too, since a frame may be lost on its way to a
    motor that is not heard. With `again` [s] the motor obeys by
    sending: another answer must follow so much later, since an adapter that was held up may deliver
    frames from before the request.
    """

    motor: int  # index in the block
    request: tuple[CanFrame, ...]
    judge: Judge = lambda identifier, payload: None
    quiet: float = 0.0
    again: float = 0.0


class MotorFamily(ABC):
    """Codec of one family for the motors of one block. Arrays have one entry per motor."""

    feedback_rate: float  # [1/s] measurements that a motor sends unasked; 0: one per request
    position_limit: FloatArray  # [rad], the largest the wire carries, both ways
    effort_limit: FloatArray  # [Nm], of model and firmware
    stiffness_limit: FloatArray  # [Nm/rad], the largest the wire carries
    damping_limit: FloatArray  # [Nm s/rad]
    watchdog: FloatArray  # [s] without a command until a motor disables itself; infinite: never

    @abstractmethod
    def commands(self, command: JointCommand) -> Sequence[CanFrame]:
        """Return the frames that carry `command`, one per motor; values that don't fit saturate."""

    @abstractmethod
    def gains(self, command: JointCommand) -> Sequence[CanFrame]:
        """Return the frames that carry the gains, one per motor; none if commands carry them."""

    @abstractmethod
    def saturated(self) -> NDArray[np.bool_]:
        """Return for which motors the latest call of `commands` saturated a value."""

    @abstractmethod
    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        """Return the exchange that disables a motor."""

    @abstractmethod
    def disabled_proof(self, motor: int) -> DisabledProof:
        """Return the frames by which a guard detects whether a motor is enabled."""

    @abstractmethod
    def preparing(self, motor: int) -> Sequence[Exchange]:
        """Return the exchanges that a disabled motor needs before it is enabled."""

    @abstractmethod
    def enabling(self, motor: int) -> Exchange:
        """Return the exchange that enables a motor; zero gains are sent before and after it."""

    @abstractmethod
    def decode(self, identifier: int, payload: bytes) -> Feedback:
        """Return a frame's content. Raises ProtocolError unless a motor of this block sent it."""


@dataclass(frozen=True, slots=True)
class FamilyKind:
    """A motor family, and how to build its codec for the motors of a block."""

    name: str
    block_parameters: Mapping[str, str]  # optional ones of the block, with their defaults
    joint_parameters: Mapping[str, str]  # of each joint
    build: Callable[[CanSettings], MotorFamily]  # raises ConfigError
    extended: bool = True  # 29-bit identifiers, else 11-bit ones, of all frames of the family
