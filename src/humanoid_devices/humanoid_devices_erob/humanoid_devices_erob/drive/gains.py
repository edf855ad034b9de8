"""Convert impedance [SI] to loop gain registers of an eRob drive and back (vendor's derivation).

A drive in CSP with its gate open behaves as kd = vel_reg / c and kp = kd · pos_reg / r, times the
transmission's efficiency. Only `vel_reg` depends on the motor.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_devices_erob.protocol import objects

IntArray: TypeAlias = NDArray[np.int64]

COUNTS_PER_RADIAN: Final = 524287 / (2 * pi)  # 83442.87, as in the vendor's derivation
VELOCITY_UNIT: Final = 19.3e-5  # of 0x2381:01, in the vendor's derivation
POSITION_UNIT: Final = 37.5e-4  # of 0x2382:01
RATIO_TO_POSITION_GAIN: Final = (1000 / POSITION_UNIT) / (1 / VELOCITY_UNIT)  # 51.47 s
INT32_MAX: Final = 2**31 - 1
WIDEST: Final = 4  # bytes of a register
NARROWEST: Final = 2  # some drives have no more


@dataclass(frozen=True, slots=True)
class Registers:
    """Loop gains of n drives, shape (n,), or of one, shape ()."""

    position_gain: IntArray  # 0x2382:01
    velocity_gain: IntArray  # 0x2381:01
    velocity_integral: IntArray  # 0x2381:02

    def of(self, joint: int) -> JointRegisters:
        """Return the registers of one drive."""
        return JointRegisters(
            int(self.position_gain[joint]),
            int(self.velocity_gain[joint]),
            int(self.velocity_integral[joint]),
        )


@dataclass(frozen=True, slots=True)
class JointRegisters:
    """Loop gains of one drive.

    The velocity feed-forward must be 0: with a target that follows the joint, it would drive the
    motion that the velocity gain is to damp. A drive without that register counts as 0.
    """

    position_gain: int
    velocity_gain: int
    velocity_integral: int = 0
    feed_forward: int = 0

    def as_arrays(self) -> Registers:
        """Return the same as arrays of shape ()."""
        values = self.position_gain, self.velocity_gain, self.velocity_integral
        return Registers(*(np.asarray(value, np.int64) for value in values))


@dataclass(frozen=True, slots=True)
class RegisterWrite:
    """One register to write."""

    key: tuple[int, int]  # index, subindex
    value: int


def encode_register(value: int, length: int) -> bytes:
    """Return a gain or the gate as an object of `length` bytes, signed or not.

    Raises ConfigError for a value that doesn't fit.
    """
    try:
        return value.to_bytes(length, "little", signed=True)
    except OverflowError as error:
        largest = (1 << 8 * length - 1) - 1
        raise ConfigError(
            f"register value {value} does not fit the drive's {length} bytes, expected at most "
            f"{largest}: choose a smaller ratio of stiffness to damping, or less damping"
        ) from error


def decode_register(data: bytes) -> int:
    """Return the value of a gain or the gate: INT32 (documents) or UINT16 (public table)."""
    return int.from_bytes(data, "little", signed=len(data) >= WIDEST)


def _checked(name: str, value: ArrayLike, *, positive: bool = False) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    allowed = np.isfinite(array) & ((array > 0) if positive else (array >= 0))
    if not allowed.all():
        expected = "finite and above 0" if positive else "finite and not negative"
        raise ConfigError(f"{name} must be {expected}, not {array}")
    return array


def damping_per_count(torque_constant: ArrayLike, gear: ArrayLike) -> FloatArray:
    """Return the damping [Nm s/rad] of one count of `vel_reg`: 0.1063 for 0.132e-3 Nm/mA, 50:1.

    Raises ConfigError for a torque constant [Nm/mA, at the motor] or gear that isn't above 0.
    """
    constant = _checked("torque constant [Nm/mA]", torque_constant, positive=True)
    ratio = _checked("gear", gear, positive=True)
    return np.asarray(constant * ratio * COUNTS_PER_RADIAN * VELOCITY_UNIT)


def gains_to_registers(
    stiffness: ArrayLike,
    damping: ArrayLike,
    *,
    torque_constant: ArrayLike,
    gear: ArrayLike,
    torque_efficiency: ArrayLike = 1.0,
) -> Registers:
    """Return registers for a stiffness [Nm/rad] and damping [Nm s/rad] at the joint output.

    Arguments are broadcast against each other. `torque_efficiency` raises only `vel_reg`, which
    corrects both realized gains. Without damping a drive has no stiffness either: both registers
    are 0. Raises ConfigError for values that are negative, not finite, or exceed an INT32.
    """
    kp = _checked("stiffness [Nm/rad]", stiffness)
    kd = _checked("damping [Nm s/rad]", damping)
    efficiency = _checked("torque efficiency", torque_efficiency, positive=True)
    unit = damping_per_count(torque_constant, gear)
    kp, kd, efficiency, unit = np.broadcast_arrays(kp, kd, efficiency, unit)
    ratio = np.divide(kp, kd, out=np.zeros(kd.shape), where=kd > 0)
    position_gain = np.rint(ratio * RATIO_TO_POSITION_GAIN)  # half to even
    velocity_gain = np.rint(kd / efficiency / unit)
    largest = max(position_gain.max(initial=0), velocity_gain.max(initial=0))
    if not largest <= INT32_MAX:
        raise ConfigError(f"stiffness {kp}, damping {kd}: register {largest:g} exceeds an INT32")
    return Registers(
        position_gain.astype(np.int64), velocity_gain.astype(np.int64), np.zeros(kd.shape, np.int64)
    )


def registers_to_gains(
    registers: Registers,
    *,
    torque_constant: ArrayLike,
    gear: ArrayLike,
    torque_efficiency: ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the stiffness [Nm/rad] and damping [Nm s/rad] that bus-written registers realize.

    `torque_efficiency` is the transmission's, 1 for the nominal gains. Raises ConfigError.
    """
    efficiency = _checked("torque efficiency", torque_efficiency, positive=True)
    unit = damping_per_count(torque_constant, gear)
    damping = registers.velocity_gain * unit * efficiency
    stiffness = damping * registers.position_gain / RATIO_TO_POSITION_GAIN
    return np.asarray(stiffness), np.asarray(damping)


def write_order(
    old: JointRegisters | None, new: JointRegisters, *, only_changed: bool = True
) -> tuple[RegisterWrite, ...]:
    """Return the writes from `old` to `new`, never stiffer in between than the stiffer of both.

    pos_reg · vel_reg is the stiffness: the position gain comes first if it falls, last if it rises.
    If `old` is unknown (None) or invalid, the position gain is 0 meanwhile. The integral changes
    while the drive is softest. The feed-forward comes last, so that a drive that refuses it has its
    gains. Raises ConfigError if `new` is negative.
    """
    if min(new.position_gain, new.velocity_gain, new.velocity_integral) < 0:
        raise ConfigError(f"loop gains can't be negative: {new}")
    position = RegisterWrite(objects.POSITION_GAIN, new.position_gain)
    velocity = RegisterWrite(objects.VELOCITY_GAIN, new.velocity_gain)
    integral = RegisterWrite(objects.VELOCITY_INTEGRAL, new.velocity_integral)
    feed = RegisterWrite(objects.FEED_FORWARD, new.feed_forward)
    if old is None or min(old.position_gain, old.velocity_gain) < 0:
        limp = RegisterWrite(objects.POSITION_GAIN, 0)
        return (limp, integral, velocity, *([position] if new.position_gain else []), feed)
    changed = {
        position: old.position_gain != new.position_gain,
        velocity: old.velocity_gain != new.velocity_gain,
        integral: old.velocity_integral != new.velocity_integral,
        feed: old.feed_forward != new.feed_forward,
    }
    falls = new.position_gain < old.position_gain
    ordered = (position, integral, velocity) if falls else (integral, velocity, position)
    return tuple(write for write in (*ordered, feed) if changed[write] or not only_changed)
