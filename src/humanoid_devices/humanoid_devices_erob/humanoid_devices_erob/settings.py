"""Settings of the EtherCAT ring, parsed and checked from its <ros2_control> block."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import tau
from typing import Final

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointLimits
from humanoid_controller_manager.hardware.block_parameters import (
    calibration,
    complete,
    integer,
    number,
    positive,
)
from humanoid_controller_manager.hardware.mode_gains import EFFICIENCY, MODE_GAINS
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_erob.drive.gains import NARROWEST, damping_per_count

REQUIRED: Final = ("master_id", "interface", "vendor_id", "product_code", "calibration_file")
# Bring-up rate: the documents' 1 kHz. Fallback damping: DAMPING's 6 Nm s/rad (actuator documents).
# Watchdog: `_watchdog_time` has its default, which depends on the update rate.
OPTIONAL: Final = {
    "control_frequency": "",
    "bringup_frequency": "1000",
    "fallback_damping": "6.0",
    "watchdog_time": "",
    **dict.fromkeys(MODE_GAINS, ""),  # read by the controller manager
    "activation_timeout": "5",
}
JOINT_REQUIRED: Final = ("ring_position", "model", "kt", "gear")
# rated_torque [Nm]: unit of 0x6077. serial_number: distinguishes drives that are otherwise equal.
# torque_efficiency: the control loop's, see HardwareGroup.
JOINT_OPTIONAL: Final = {"rated_torque": "", "serial_number": "", EFFICIENCY: ""}
LONGEST_INTERFACE_NAME: Final = 15  # characters, IFNAMSIZ of Linux less its terminator
USUAL_WATCHDOG: Final = 0.1  # [s], the reset value of the EtherCAT slave controller
LONGEST_WATCHDOG: Final = 1.0  # [s] a robot may move without a control process
SHORTEST_WATCHDOG: Final = 2.5  # periods of the loop: one frame may be lost, another be late
# An eRob takes SYNC0 periods that are multiples of this [ns] only (ZeroErr's manual, 4.5.2, as a
# public host project quotes it).
SYNC0_STEP: Final = 500_000
LONGEST_ACTIVATION: Final = 120.0  # [s] for a step: the documents mention tens of seconds for all
# Of the loop [Hz]. A slower loop needs a longer watchdog: a drive would move on too long; SYNC0 is
# documented up to 1 kHz.
SLOWEST: Final = 20.0
FASTEST: Final = 1000.0
SYNC0_ROUNDING: Final = 1e-5  # relative, of a rate with six digits; the DC lock corrects it
# A wrong one scales the torque of every gain. Known eRobs have 0.132e-3 and 0.134e-3 Nm/mA and a
# gear of 50 (actuator documents); a slip of a decimal point or of a unit is a factor of 10 or more.
# The gear is a strain wave gear, which has 30 to 320.
PLAUSIBLE: Final = {"kt": (3e-5, 1e-3, " Nm/mA"), "gear": (30.0, 320.0, "")}
# Of the motor before the gear (assumed). Prime's limits ask for 1900 rpm and 4.5 A: a velocity in
# rpm, or an effort with a slip of the decimal point, is 10 times that.
FASTEST_MOTOR: Final = 10_000.0  # [rpm]
LARGEST_CURRENT: Final = 30.0  # [A]
RPM: Final = 60.0 / tau  # of 1 rad/s
LARGEST_GAIN: Final = (1 << 8 * NARROWEST - 1) - 1  # of a register, with a sign
ROUNDING: Final = 1e-9  # relative; covers the rounding of decimal numbers only


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a slave (SII and object 0x1018)."""

    vendor: int
    product: int

    def __str__(self) -> str:
        return f"vendor 0x{self.vendor:08X}, product 0x{self.product:08X}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The block's settings. Arrays and tuples have one entry per joint, in the block's order."""

    name: str  # of the block
    interface: str  # of the network
    identity: Identity  # of every drive
    control_frequency: float  # [Hz] of SYNC0, the same as the loop's update rate
    bringup_frequency: float  # [Hz] of the exchange until the loop takes over
    fallback_damping: float  # [Nm s/rad]
    activation_timeout: float  # [s] for each step of the bring-up, of all drives together
    watchdog_time: float  # [s] without process data, after which a drive ends operation
    joints: tuple[str, ...]
    ring_position: IndexArray  # a permutation of 0 .. n-1
    torque_constant: FloatArray  # [Nm/mA] at the motor
    gear: FloatArray  # motor turns per output turn
    rated_torque: FloatArray  # [Nm] at the output; 0x6077 counts thousandths of it
    lower: FloatArray  # [rad] of the joint's range
    upper: FloatArray  # [rad]
    velocity_limit: FloatArray  # [rad/s]
    effort_limit: FloatArray  # [Nm]
    serial_numbers: tuple[int | None, ...]  # None: not checked
    calibration: Calibration

    @property
    def period(self) -> float:
        """Return the period of the control loop and of SYNC0 [s]."""
        return 1.0 / self.control_frequency

    @property
    def sync0_nanoseconds(self) -> int:
        """Return the cycle time of SYNC0."""
        return SYNC0_STEP * round(1e9 / self.control_frequency / SYNC0_STEP)

    @property
    def joint_at(self) -> tuple[str, ...]:
        """Return the names of the joints in ring order."""
        return tuple(self.joints[i] for i in np.argsort(self.ring_position))

    @property
    def serial_at(self) -> tuple[int | None, ...]:
        """Return the serial numbers of the drives in ring order; None: not checked."""
        return tuple(self.serial_numbers[i] for i in np.argsort(self.ring_position))


@dataclass(frozen=True, slots=True)
class DriveFacts:
    """Place and model of each drive of a block, in the block's order."""

    ring_position: IndexArray  # a permutation of 0 .. n-1
    torque_constant: FloatArray  # [Nm/mA] at the motor
    gear: FloatArray  # motor turns per output turn


def drive_facts(info: HardwareInfo) -> DriveFacts:
    """Return the facts of the drives of block `info`.

    Raises ConfigError that names block, joint and parameter, with what was found and expected.
    """
    joints = [_joint_parameters(joint, info.place) for joint in info.joints]
    return DriveFacts(
        ring_position=_ring_positions(joints, info.place),
        torque_constant=np.array([_plausible(joint, "kt", place) for place, joint in joints]),
        gear=np.array([_plausible(joint, "gear", place) for place, joint in joints]),
    )


def _plausible(joint: Mapping[str, str], name: str, where: str) -> float:
    value, (least, most, unit) = number(joint[name], f"{where}: {name}"), PLAUSIBLE[name]
    if not least <= value <= most:
        expected = f"{least:g} to {most:g}{unit}"
        raise ConfigError(f"{where}: {name} is {value:g}{unit}, expected {expected}")
    return value


def parse_settings(info: HardwareInfo) -> Settings:
    """Return the settings of block `info`.

    Raises ConfigError that names block, joint and parameter, with what was found and expected.
    """
    where = info.place
    block = complete(info.parameters, REQUIRED, OPTIONAL, where)
    _refuse_other_master(block, where)
    joints = [_joint_parameters(joint, where) for joint in info.joints]
    names = info.joint_set.names
    limits = info.limits
    _check_ranges(names, limits, info.block)
    facts = drive_facts(info)
    _check_motors(names, limits, facts, info.block)
    positions = facts.ring_position.tolist()
    rated = np.array(
        [
            positive(joint, "rated_torque", place)
            if joint["rated_torque"]
            else own.rated_effort or effort
            for own, (place, joint), effort in zip(info.joints, joints, limits.effort, strict=True)
        ]
    )
    per_count = damping_per_count(facts.torque_constant, facts.gear)
    return Settings(
        name=info.name,
        interface=_interface(block["interface"], where),
        identity=Identity(_word(block, "vendor_id", where), _word(block, "product_code", where)),
        control_frequency=_control_frequency(block["control_frequency"], info.update_rate, where),
        bringup_frequency=_bringup_frequency(block, info.update_rate, where),
        fallback_damping=_fallback_damping(block, per_count, where),
        activation_timeout=_activation_timeout(block, where),
        watchdog_time=_watchdog_time(block, info.update_rate, where),
        joints=names,
        ring_position=facts.ring_position,
        torque_constant=facts.torque_constant,
        gear=facts.gear,
        rated_torque=rated,
        lower=limits.lower,
        upper=limits.upper,
        velocity_limit=limits.velocity,
        effort_limit=limits.effort,
        serial_numbers=_serial_numbers(joints, where),
        calibration=calibration(block["calibration_file"], names, positions, info.block),
    )


def _joint_parameters(joint: JointInfo, where: str) -> tuple[str, dict[str, str]]:
    place = f"{where}: joint '{joint.name}'"
    return place, complete(joint.parameters, JOINT_REQUIRED, JOINT_OPTIONAL, place)


def _refuse_other_master(block: Mapping[str, str], where: str) -> None:
    """Raise ConfigError for a number that would have no effect: there are no numbered masters."""
    if integer(block, "master_id", where, 0xFFFF) != 0:
        raise ConfigError(
            f"{where}: master_id is {block['master_id']}, expected 0: this process is the ring's "
            f"only master. The interface selects the ring (it is {block['interface']})"
        )


def _interface(name: str, where: str) -> str:
    if len(name.encode()) > LONGEST_INTERFACE_NAME or "/" in name:
        raise ConfigError(
            f"{where}: interface is '{name}', expected a network interface's name of at most "
            f"{LONGEST_INTERFACE_NAME} characters"
        )
    return name


def _check_ranges(names: Iterable[str], limits: JointLimits, where: str) -> None:
    """Raise ConfigError for a range of a turn or more: a drive's turns would never be clear."""
    for name, lower, upper in zip(names, limits.lower.tolist(), limits.upper.tolist(), strict=True):
        if upper - lower >= tau:
            raise ConfigError(
                f"{where}: joint '{name}': limits are {lower:g} to {upper:g} rad, expected less "
                f"than a turn ({tau:.2f} rad): are they in degrees?"
            )


def _check_motors(names: Sequence[str], limits: JointLimits, facts: DriveFacts, where: str) -> None:
    """Raise ConfigError for limits of a joint that its motor can't reach, by gear and constant.

    The checks that are shares of these limits would never act.
    """
    speed = limits.velocity * facts.gear * RPM
    current = limits.effort / (facts.torque_constant * facts.gear) * 1e-3  # [A]
    for limit, name, unit, found, largest, motor in (
        (limits.velocity, "velocity", "rad/s", speed, FASTEST_MOTOR, "rpm"),
        (limits.effort, "effort", "Nm", current, LARGEST_CURRENT, "A"),
    ):
        for i in np.flatnonzero(found > largest).tolist():
            raise ConfigError(
                f"{where}: joint '{names[i]}': its {name} limit in the description, {limit[i]:g} "
                f"{unit}, is {found[i]:.0f} {motor} of its motor by kt and gear, expected at most "
                f"{largest:g} {motor}: is it in {unit}?"
            )


def _word(parameters: Mapping[str, str], name: str, where: str) -> int:
    return integer(parameters, name, where, 0xFFFFFFFF)


def _serial_numbers(
    joints: Iterable[tuple[str, Mapping[str, str]]], where: str
) -> tuple[int | None, ...]:
    found = [
        _word(joint, "serial_number", place) if joint["serial_number"] else None
        for place, joint in joints
    ]
    known = sorted(serial for serial in found if serial is not None)
    if len(set(known)) < len(known):
        raise ConfigError(f"{where}: two joints have the same serial_number: {known}")
    return tuple(found)


def _control_frequency(text: str, update_rate: float, where: str) -> float:
    if not SLOWEST <= update_rate <= FASTEST:
        raise ConfigError(
            f"{where}: update_rate is {update_rate:g} Hz, expected {SLOWEST:g} to {FASTEST:g}: the "
            "drives' watchdog must soon end operation without frames, and their SYNC0 is "
            "documented up to 1 kHz"
        )
    steps = 1e9 / update_rate / SYNC0_STEP
    if abs(steps - round(steps)) > SYNC0_ROUNDING * steps:
        whole = [it for it in range(int(SLOWEST), int(FASTEST) + 1) if 1e9 / SYNC0_STEP % it == 0]
        below = max(it for it in whole if it < update_rate)
        above = min(it for it in whole if it > update_rate)
        raise ConfigError(
            f"{where}: update_rate is {update_rate:g} Hz, a SYNC0 period of "
            f"{1e3 / update_rate:.6g} ms, but eRob drives take multiples of 0.5 ms only: choose "
            f"{below} or {above} Hz"
        )
    found = number(text, f"{where}: control_frequency") if text else update_rate
    if abs(found - update_rate) > ROUNDING * update_rate:
        raise ConfigError(
            f"{where}: control_frequency is {found:g} Hz, expected the loop's update_rate "
            f"{update_rate:g} Hz: a SYNC0 without a new frame faults the drives (0xA000). "
            "Leave control_frequency out"
        )
    return update_rate


def _bringup_frequency(block: Mapping[str, str], update_rate: float, where: str) -> float:
    """Return at least the update rate: otherwise SYNC0 would fire without a frame."""
    found = positive(block, "bringup_frequency", where)
    if found > FASTEST:
        raise ConfigError(f"{where}: bringup_frequency is {found:g}, expected at most {FASTEST:g}")
    return max(found, update_rate)


def _fallback_damping(block: Mapping[str, str], per_count: FloatArray, where: str) -> float:
    """Return a damping that every drive has: more than half a step, and no more than 2 bytes hold.

    The loop can't handle a refusal.
    """
    found = positive(block, "fallback_damping", where)
    least, largest = 0.5 * float(per_count.max()), float(per_count.min() * LARGEST_GAIN)
    if not least < found <= largest:
        raise ConfigError(
            f"{where}: fallback_damping is {found:g} Nm s/rad, expected more than {least:.4g}, "
            f"else a drive would be limp, and at most {largest:.4g}: registers of {NARROWEST} "
            "bytes hold no more"
        )
    return found


def _activation_timeout(block: Mapping[str, str], where: str) -> float:
    found = positive(block, "activation_timeout", where)
    if not 1.0 <= found <= LONGEST_ACTIVATION:
        raise ConfigError(
            f"{where}: activation_timeout is {found:g} s, expected 1 to {LONGEST_ACTIVATION:g} s"
        )
    return found


def _watchdog_time(block: Mapping[str, str], update_rate: float, where: str) -> float:
    shortest = SHORTEST_WATCHDOG / update_rate
    if not block["watchdog_time"]:
        return max(USUAL_WATCHDOG, shortest)
    found = positive(block, "watchdog_time", where)
    if not shortest * (1.0 - ROUNDING) <= found <= LONGEST_WATCHDOG:
        raise ConfigError(
            f"{where}: watchdog_time is {found:g} s, expected {shortest:g} s "
            f"({SHORTEST_WATCHDOG:g} periods at {update_rate:g} Hz) to {LONGEST_WATCHDOG:g} s: "
            "with less, a late frame ends operation; with more, a drive continues for long "
            "without a master"
        )
    return found


def _ring_positions(joints: Iterable[tuple[str, Mapping[str, str]]], where: str) -> IndexArray:
    positions = [integer(joint, "ring_position", place, 0xFFFF) for place, joint in joints]
    if sorted(positions) != list(range(len(positions))):
        raise ConfigError(
            f"{where}: ring_position of the joints is {positions}, expected each of 0 to "
            f"{len(positions) - 1} once: every slave of the ring is a joint of this block"
        )
    return np.array(positions, dtype=np.intp)
