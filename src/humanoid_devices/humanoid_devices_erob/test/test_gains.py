"""Impedance to registers and back, against the numbers of the actuator documents."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_devices_erob.drive.gains import (
    JointRegisters,
    Registers,
    damping_per_count,
    decode_register,
    encode_register,
    gains_to_registers,
    registers_to_gains,
    write_order,
)

EROB70 = {"torque_constant": 0.132e-3, "gear": 50.0}  # [Nm/mA], at the motor
EROB80 = {"torque_constant": 0.134e-3, "gear": 50.0}


def one(registers: Registers) -> tuple[int, int, int]:
    return (
        int(registers.position_gain),
        int(registers.velocity_gain),
        int(registers.velocity_integral),
    )


def test_damping_per_count_is_that_of_the_documents() -> None:
    assert damping_per_count(**EROB70) == pytest.approx(0.1063, abs=5e-5)
    assert 1 / damping_per_count(**EROB70) == pytest.approx(9.408, abs=5e-4)


@pytest.mark.parametrize(
    ("stiffness", "damping", "registers"),
    [
        (0.0, 0.0, (0, 0, 0)),  # ZERO_TORQUE: limp
        (0.0, 6.0, (0, 56, 0)),  # DAMPING: 9.408 · 6 = 56.4
        (20.0, 2.0, (515, 19, 0)),  # STANDBY: 51.47 · 10 = 514.7, 9.408 · 2 = 18.8
        (20.0, 0.0, (0, 0, 0)),  # no stiffness without damping
        (2.0, 2.0, (51, 19, 0)),
    ],
)
def test_the_modes_have_the_registers_of_the_documents(
    stiffness: float, damping: float, registers: tuple[int, int, int]
) -> None:
    assert one(gains_to_registers(stiffness, damping, **EROB70)) == registers


def rounded(register: float) -> float:
    """Return the largest error of a register, since the documents' formula has four digits."""
    return 0.5 + 1e-4 * register


@given(st.floats(0.01, 1000), st.floats(0.01, 1000))
def test_gain_registers_follow_the_formula_of_the_documents(kp: float, kd: float) -> None:
    position, velocity, integral = one(gains_to_registers(kp, kd, **EROB70))
    assert abs(velocity - 9.408 * kd) <= rounded(9.408 * kd)
    assert abs(position - 51.47 * kp / kd) <= rounded(51.47 * kp / kd)
    assert integral == 0


@given(st.floats(0.01, 1000), st.floats(0.01, 1000))
def test_the_motor_changes_the_velocity_gain_alone(kp: float, kd: float) -> None:
    small, large = (gains_to_registers(kp, kd, **motor) for motor in (EROB70, EROB80))
    assert large.position_gain == small.position_gain
    expected = 9.408 * kd * 132 / 134
    assert abs(large.velocity_gain - expected) <= rounded(expected)


def test_the_larger_motor_differs_before_rounding_only() -> None:
    assert one(gains_to_registers(20, 2, **EROB80)) == (515, 19, 0)
    assert one(gains_to_registers(0, 600, **EROB70))[1] == 5645  # 600 / 0.106289 = 5644.97
    assert one(gains_to_registers(0, 600, **EROB80))[1] == 5561  # · 132/134 = 5560.7


def test_efficiency_raises_the_velocity_gain_alone_before_rounding() -> None:
    # 9.408 · 2 / 0.7 = 26.88
    assert one(gains_to_registers(20, 2, torque_efficiency=0.7, **EROB70)) == (515, 27, 0)
    # 9.408 · 0.15 / 0.25 = 5.64; were 1.41 rounded before, it would be 4.
    assert one(gains_to_registers(0, 0.15, torque_efficiency=0.25, **EROB70))[1] == 6


def test_registers_are_rounded_half_to_even() -> None:
    unit = float(damping_per_count(**EROB70))
    halves = np.array([0.5, 1.5, 2.5, 3.5])
    assert list(gains_to_registers(0, halves * unit, **EROB70).velocity_gain) == [0, 2, 2, 4]


def test_the_realized_gains_are_those_of_the_rounded_registers() -> None:
    registers = gains_to_registers(20, 2, **EROB70)
    stiffness, damping = registers_to_gains(registers, **EROB70)
    assert damping == pytest.approx(19 * 0.1063, rel=1e-3)
    assert stiffness == pytest.approx(19 * 0.1063 * 515 * 0.01943, rel=1e-3)
    weak_stiffness, weak_damping = registers_to_gains(registers, torque_efficiency=0.7, **EROB70)
    assert weak_damping == pytest.approx(0.7 * damping)
    assert weak_stiffness == pytest.approx(0.7 * stiffness)


@given(st.floats(1, 1000), st.floats(1, 1000), st.floats(0.5, 1))
def test_compensated_gains_are_realized_by_a_transmission_that_loses(
    kp: float, kd: float, efficiency: float
) -> None:
    assume(kp / kd > 0.5)
    registers = gains_to_registers(kp, kd, torque_efficiency=efficiency, **EROB70)
    stiffness, damping = registers_to_gains(registers, torque_efficiency=efficiency, **EROB70)
    half_count = 0.5 / float(registers.velocity_gain)
    assert damping == pytest.approx(kd, rel=1.1 * half_count)
    half_counts = half_count + 0.5 / float(registers.position_gain)
    assert stiffness == pytest.approx(kp, rel=1.2 * half_counts)


def test_arrays_are_converted_joint_by_joint() -> None:
    registers = gains_to_registers(
        [0.0, 20.0, 20.0], [6.0, 2.0, 0.0], torque_constant=[0.132e-3] * 3, gear=50.0
    )
    assert registers.of(0) == JointRegisters(0, 56)
    assert registers.of(1) == JointRegisters(515, 19)
    assert registers.of(2) == JointRegisters(0, 0)
    stiffness, damping = registers_to_gains(registers, **EROB70)
    assert stiffness.shape == damping.shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": float("nan")}, "stiffness"),
        ({"damping": -0.1}, "damping"),
        ({"damping": float("inf")}, "damping"),
        ({"torque_constant": 0.0}, "torque constant"),
        ({"gear": float("nan")}, "gear"),
        ({"torque_efficiency": 0.0}, "torque efficiency"),
        ({"damping": 1e300}, "INT32"),
        ({"stiffness": 1e300, "damping": 1e-300}, "INT32"),
    ],
)
def test_a_value_that_is_no_gain_is_refused_by_name(arguments: dict[str, float], name: str) -> None:
    with pytest.raises(ConfigError, match=name), np.errstate(over="ignore"):
        gains_to_registers(**{"stiffness": 20.0, "damping": 2.0, **EROB70, **arguments})


# Orders of writing.

GAIN = st.integers(0, 2**31 - 1) | st.integers(0, 20)
OLD = st.builds(JointRegisters, GAIN, GAIN, st.integers(-5, 5), st.sampled_from([0, 0x4000]))
NEW = st.builds(JointRegisters, GAIN, GAIN, st.integers(0, 5))

FIELDS = {
    (0x2381, 1): "velocity_gain",
    (0x2381, 2): "velocity_integral",
    (0x2382, 1): "position_gain",
    (0x2382, 3): "feed_forward",
}


def products(old: JointRegisters, writes: tuple) -> tuple[list[int], dict[str, int]]:
    """Return pos_reg · vel_reg after each write, and the registers at the end."""
    held = {name: getattr(old, name) for name in FIELDS.values()}
    found = []
    for write in writes:
        held[FIELDS[write.key]] = write.value
        found.append(held["position_gain"] * held["velocity_gain"])
    return found, held


@given(OLD, NEW, st.booleans())
def test_a_change_is_never_stiffer_than_the_stiffer_end(
    old: JointRegisters, new: JointRegisters, only_changed: bool
) -> None:
    found, held = products(old, write_order(old, new, only_changed=only_changed))
    ends = old.position_gain * old.velocity_gain, new.position_gain * new.velocity_gain
    assert max(found, default=0) <= max(ends)
    assert held == {name: getattr(new, name) for name in FIELDS.values()}


@given(OLD, NEW)
def test_write_order_has_only_the_changed_registers(
    old: JointRegisters, new: JointRegisters
) -> None:
    names = [FIELDS[write.key] for write in write_order(old, new)]
    changed = {name for name in FIELDS.values() if getattr(old, name) != getattr(new, name)}
    assert len(names) == len(changed)
    assert set(names) == changed
    assert len(write_order(old, new, only_changed=False)) == 4


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1), NEW)
def test_unknown_or_senseless_gains_are_left_through_zero_stiffness(
    position: int, velocity: int, new: JointRegisters
) -> None:
    old = JointRegisters(position, velocity)
    for writes in (write_order(None, new), write_order(JointRegisters(-1, velocity), new)):
        found, held = products(old, writes)
        assert max(found) <= new.position_gain * new.velocity_gain
        assert held == {name: getattr(new, name) for name in FIELDS.values()}


@given(OLD, NEW, st.booleans())
def test_feed_forward_is_switched_off_last(
    old: JointRegisters, new: JointRegisters, only_changed: bool
) -> None:
    keys = [write.key for write in write_order(old, new, only_changed=only_changed)]
    assert (0x2382, 3) not in keys[:-1]
    assert ((0x2382, 3) in keys) == (not only_changed or old.feed_forward != 0)


@pytest.mark.parametrize(
    ("value", "length", "data"),
    [(515, 4, "03 02 00 00"), (515, 2, "03 02"), (32767, 2, "ff 7f"), (1, 2, "01 00")],
)
def test_register_is_as_long_as_the_drive_has_it(value: int, length: int, data: str) -> None:
    assert encode_register(value, length).hex(" ") == data
    assert decode_register(bytes.fromhex(data)) == value


@pytest.mark.parametrize(("value", "length"), [(32768, 2), (2**31, 4)])
def test_value_that_might_be_read_as_negative_is_refused(value: int, length: int) -> None:
    with pytest.raises(ConfigError, match=f"{value} does not fit the drive's {length} bytes"):
        encode_register(value, length)


def test_two_bytes_have_no_sign_and_four_have_one() -> None:
    assert decode_register(b"\xff\xff") == 65535
    assert decode_register(b"\xff\xff\xff\xff") == -1


def test_negative_gains_are_refused() -> None:
    with pytest.raises(ConfigError, match="negative"):
        write_order(JointRegisters(0, 0), JointRegisters(-1, 0))


def test_the_ratio_constant_is_exactly_that_of_the_derivation() -> None:
    exact = Fraction(1000 * 193, 375) * Fraction(1, 10)  # (1000 / 37.5e-4) · 19.3e-5
    assert gains_to_registers(1e6, 1.0, **EROB70).position_gain == round(exact * 10**6)
