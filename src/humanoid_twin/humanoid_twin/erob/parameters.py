"""Facts about an eRob drive: the twin's own literals, not shared with the stack.

An error in a shared constant would cancel out between stack and twin.
"""

import math
from dataclasses import dataclass, field
from enum import Enum

from humanoid_control_common.errors import ConfigError

TICK = 0.001  # [s] the drive closes both loops at 1 kHz
COUNTS_PER_RADIAN = 524288 / math.tau  # 19 bit at the output (actuator documents)
VELOCITY_GAIN_UNIT = 19.3e-5  # [mA per count/s] of one LSB of 0x2381:01 (ZeroErr gain derivation)
POSITION_GAIN_UNIT = 37.5e-4 / 1000  # [mA per count], with one LSB of 0x2381:01 (same source)


@dataclass(frozen=True, slots=True)
class LoopGains:
    """Registers of the two loops, in LSB."""

    position: int  # 0x2382:01
    velocity: int  # 0x2381:01
    integral: int  # 0x2381:02
    feed_forward: int = 0x4000  # 0x2382:03, of the target's velocity; 0x4000 is 1.0 (public table)


class ObjectAccess(Enum):
    """Access of the bus to an object that the documents don't name."""

    WRITABLE = "writable"
    READ_ONLY = "read-only"  # writing it is aborted, the factory value acts
    KEPT = "kept"  # writing it succeeds, the factory value stays and acts
    ABSENT = "absent"  # no such object, and no such function


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveParameters:
    """One drive. Facts that no document states are marked: assumed, confirm on hardware.

    Raises:
        ConfigError: a value out of range.
    """

    torque_constant: float = 0.132e-3  # [Nm/mA] at the motor: eRob70 V4_MC2 (eRob80: 0.134e-3)
    gear: float = 50.0  # motor turns per output turn
    efficiency: float = 0.7  # realized / nominal torque of the transmission (load tests on Prime)
    current_limit: float = 7000.0  # [mA], 32 Nm at 0.7; assumed, confirm on hardware
    factory: LoopGains = field(default_factory=lambda: LoopGains(1000, 270, 20))
    # ^ 390 Nm/rad, 20 Nm s/rad realized: stiff; values assumed, confirm on hardware
    integral_unit: float = 0.1  # [1/s] of one LSB of 0x2381:02; assumed, confirm on hardware
    # 0x2382:03, which acts at 0x2383 = 1 only, like the gains; assumed, confirm on hardware
    feed_forward: ObjectAccess = ObjectAccess.WRITABLE
    # 0x60C2, factory value 1 ms: a target is reached after that time. Without it, after the time
    # between the last two targets. Assumed, confirm on hardware.
    interpolation: ObjectAccess = ObjectAccess.ABSENT
    first_mode: int = 8  # 0x6061 until 0x6060 has come with process data; assumed, confirm
    gain_bytes: int = 4  # of the gains, their gate and 0x2382:03; 4 or 2, assumed, confirm
    stores_gains_behind_closed_gate: bool = True  # at 0x2383 = 0; assumed, confirm on hardware
    position_error_limit: float = 2.5  # [rad] above it 0x8500; assumed, confirm on hardware
    velocity_error_limit: float = 40.0  # [rad/s] of the velocity loop's input; assumed, confirm
    faults_when_leaving_op_enabled: bool = True  # with 0xA000, latched; assumed, confirm
    keeps_turns: bool = True  # over a power cycle; no: the battery is weak, 0x6064 is within a turn
    reset_clears_battery_error: bool = False  # 0x730F; assumed, confirm on hardware
    rated_torque: float = 30.0  # [Nm]; unit of 0x6077 is 0.1 % of it; assumed, confirm on hardware
    brake: bool = False  # True: holds while operation isn't enabled; assumed, confirm on hardware
    brake_release: float = 0.0  # [s] from operation enabled to its release; assumed, confirm
    quick_stop_time: float = 0.2  # [s] braking before power is cut; assumed, confirm on hardware
    longest_interpolation: float = 0.1  # [s] of a SYNC0 period; assumed, confirm on hardware
    history_length: int = 8  # entries of 0x1003; assumed, confirm on hardware

    def __post_init__(self) -> None:
        for name in ("torque_constant", "gear", "current_limit", "rated_torque", "integral_unit",
                     "position_error_limit", "velocity_error_limit"):  # fmt: skip
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ConfigError(f"drive parameters: {name} is {value}, expected a number > 0")
        if not 0 < self.efficiency <= 1:
            raise ConfigError(f"drive parameters: efficiency is {self.efficiency}, not in (0, 1]")
        if self.gain_bytes not in (2, 4):
            raise ConfigError(f"drive parameters: gain_bytes is {self.gain_bytes}, not 2 or 4")
        if not self.brake_release >= 0:
            raise ConfigError(f"drive parameters: brake_release is {self.brake_release}, not >= 0")
        if not 1 <= self.history_length <= 254:
            raise ConfigError(f"drive parameters: history_length {self.history_length}, not 1-254")

    @property
    def torque_per_current(self) -> float:
        """Torque at the output for one mA of motor current [Nm/mA], losses included."""
        return self.torque_constant * self.gear * self.efficiency
