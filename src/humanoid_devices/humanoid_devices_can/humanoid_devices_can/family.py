"""What a family of motors says and understands: all that differs between families on the bus.

Values are those of the motor's output in its own frame (rad, rad/s, Nm): calibration is done by
the caller, conversion to raw fields by the family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray
from humanoid_control_common.surface import JointCommand
from humanoid_devices_can.bus import CanFrame
from humanoid_devices_can.settings import CanSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What one frame says of one motor. None: nothing."""

    motor: int  # index in the block
    position: float | None = None  # [rad]
    velocity: float | None = None  # [rad/s]
    effort: float | None = None  # [Nm]
    enabled: bool | None = None
    fault: str | None = None  # present faults in words, empty: none
    report: str | None = None  # what it reported unasked, until it reports otherwise
    hot: bool | None = None  # over its temperature limit
    warned: bool | None = None  # it reported unasked that it is getting hot
    temperature_celsius: float | None = None
    at_rail: bool | None = None  # the velocity is about the largest the wire carries, or beyond


# Whether a frame is the answer: None if it isn't, "" if all is well, else what is wrong.
Judge = Callable[[int, bytes], str | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to one motor, and how to tell that it was obeyed.

    Where `quiet` [s] is given there is no answer: the motor obeys by falling silent that long.
    """

    motor: int  # index in the block
    request: tuple[CanFrame, ...]
    judge: Judge = lambda identifier, payload: None
    quiet: float = 0.0


class Family(Protocol):
    """The codec of one family for the motors of one block. Arrays have one entry per motor."""

    feedback_rate: float  # frames per second a motor sends by itself; 0: one per order
    effort_limit: FloatArray  # [Nm], of model and firmware
    stiffness_limit: FloatArray  # [Nm/rad], the largest the wire carries
    damping_limit: FloatArray  # [Nm s/rad]
    watchdog: FloatArray  # [s] without a command, after which a motor lets go; infinite: never

    def commands(self, command: JointCommand) -> Sequence[CanFrame]:
        """The frames that carry `command`, one per motor. What doesn't fit is saturated."""

    def gains(self, command: JointCommand) -> Sequence[CanFrame]:
        """The frames that carry the gains, one per motor; none if the commands carry them."""

    def saturated(self) -> NDArray[np.bool_]:
        """Of which motors `commands` saturated a value at the latest call."""

    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        """How to take the torque from a motor."""

    def preparing(self, motor: int) -> Sequence[Exchange]:
        """What a disabled motor must be told before it is enabled."""

    def enabling(self, motor: int) -> Exchange:
        """How to enable a motor; it gets torque."""

    def decode(self, identifier: int, payload: bytes) -> Feedback:
        """What a frame says. Raises WireError unless it comes from a motor of this block."""


@dataclass(frozen=True, slots=True)
class FamilyKind:
    """A family of motors, to be built for the motors of a block."""

    name: str
    block_parameters: Mapping[str, str]  # optional ones of the block, with their defaults
    joint_parameters: Mapping[str, str]  # of each joint
    build: Callable[[CanSettings], Family]  # raises ConfigError
