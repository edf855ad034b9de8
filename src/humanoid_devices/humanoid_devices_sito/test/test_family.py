"""Conversions of Sito motors, against the numbers of the documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.settings import parse_settings
from humanoid_devices_sito.codec import (
    Command,
    Feedback1,
    Feedback2,
    Gains,
    MessageType,
    SelectMode,
    identifier,
)
from humanoid_devices_sito.sito_family import SITO, SitoFamily
from humanoid_devices_sito.units import MODELS
from src.humanoid_devices.test.can_bench import MakeInfo


@pytest.fixture
def make_family(can_info: MakeInfo) -> Callable[..., SitoFamily]:
    def make(ids: Sequence[int] = (22,), model: str = "TA40-50", **info: Any) -> SitoFamily:
        block = can_info(list(ids), model, **info)
        return SitoFamily(parse_settings(block, SITO.block_parameters, SITO.joint_parameters))

    return make


def encoded(family: SitoFamily, **values: float) -> Command:
    command = JointCommand(1)
    for name, value in values.items():
        getattr(command, name)[0] = value
    ((_, payload),) = family.commands(command)
    return Command.decode(payload)


def test_counts_are_65536_per_turn_of_the_output(make_family) -> None:
    family = make_family()
    assert encoded(family, position=2 * math.pi).position == 65536
    assert encoded(family, position=-1.0).position == -10430  # 10430.378
    assert encoded(family, velocity=1.0).velocity == 10430


@pytest.mark.parametrize(("model", "gear"), [("TA40-50", 51), ("TA40-100", 101)])
def test_current_is_torque_by_constant_and_gear(make_family, model, gear) -> None:
    divisors = {"stiffness_divisor": "1000", "damping_divisor": "2"}
    family = make_family(model=model, joint=divisors)
    assert encoded(family, effort=3.0).current == round(3.0 / (9e-5 * gear))


@pytest.mark.parametrize(
    ("stiffness", "damping", "sent"),
    [
        (0.0, 0.0, (0.0, 0.0)),
        (0.0, 6.0, (0.0, 6.0 / 1.125)),
        (20.0, 2.0, (20.0 / 688.58, 2.0 / 1.125)),
    ],
)
def test_gains_of_the_modes_are_divided_by_the_measured_units(
    make_family, stiffness, damping, sent
) -> None:
    command = JointCommand(1)
    command.stiffness[:], command.damping[:] = stiffness, damping
    ((found, payload),) = make_family().gains(command)
    assert found == identifier(22, MessageType.GAINS)
    gains = Gains.decode(payload)
    assert (gains.stiffness, gains.damping) == pytest.approx(sent, rel=1e-7)


def test_history_of_the_divisors_is_the_documented_ratio() -> None:
    measured = MODELS["TA40-50"]
    assert measured.stiffness_divisor == 688.58
    assert measured.damping_divisor == 1.125
    assert measured.stiffness_divisor / 500 == pytest.approx(1.38, abs=0.005)
    assert measured.damping_divisor / 0.5 == pytest.approx(2.25)


def test_velocity_rail_is_3_14_rad_per_second_at_the_joint(make_family) -> None:
    family = make_family()
    assert encoded(family, velocity=3.1414).velocity == 32766
    assert not family.saturated().any()
    assert encoded(family, velocity=3.2).velocity == 32767
    assert family.saturated().all()
    assert encoded(family, velocity=-100.0).velocity == -32767
    encoded(family, velocity=0.0)
    assert not family.saturated().any()


def test_current_and_position_saturate_too(make_family) -> None:
    family = make_family()
    assert encoded(family, effort=1e6).current == 32767
    assert encoded(family, position=-1e9).position == -(1 << 31)
    assert family.saturated().all()


def test_model_without_measured_divisors_is_refused_until_they_are_given(make_family) -> None:
    with pytest.raises(ConfigError, match=r"j0.*no stiffness_divisor of model TA40-100"):
        make_family(model="TA40-100")
    with pytest.raises(ConfigError, match="no damping_divisor of model TA40-100"):
        make_family(model="TA40-100", joint={"stiffness_divisor": "1300"})
    make_family(model="TA40-100", joint={"stiffness_divisor": "1300", "damping_divisor": "2.2"})


@pytest.mark.parametrize(
    ("name", "slip"),
    [
        ("stiffness_divisor", "68.858"),
        ("stiffness_divisor", "6885.8"),
        ("stiffness_divisor", "1.125"),
        ("damping_divisor", "0.1125"),
        ("damping_divisor", "11.25"),
        ("damping_divisor", "688.58"),
    ],
)
def test_divisor_with_a_slip_of_the_decimal_point_or_exchanged_is_refused(
    make_family, name, slip
) -> None:
    with pytest.raises(ConfigError, match=rf"j0': {name} is {slip}, expected"):
        make_family(joint={name: slip})


def test_unknown_model_is_refused_with_the_known_ones(make_family) -> None:
    with pytest.raises(ConfigError, match="'TA40-51', expected one of TA40-50, TA40-100"):
        make_family(model="TA40-51")


def test_feedback_is_converted_to_si(make_family) -> None:
    family = make_family()
    found = identifier(22, MessageType.FEEDBACK_1)
    feedback = family.decode(found, Feedback1(-1000, 10430).encode())
    assert feedback.effort == pytest.approx(-1000 * 9e-5 * 51)
    assert feedback.velocity == pytest.approx(1.0, abs=1e-4)
    assert feedback.position is None
    assert not feedback.at_rail
    feedback = family.decode(identifier(22, MessageType.FEEDBACK_2), Feedback2(-65536 * 2).encode())
    assert feedback.position == pytest.approx(-4 * math.pi)
    assert feedback.velocity is None


@pytest.mark.parametrize("velocity", [32767, -32768, 32000])
def test_velocity_near_the_rail_is_reported(make_family, velocity) -> None:
    payload = Feedback1(0, velocity).encode()
    assert make_family().decode(identifier(22, MessageType.FEEDBACK_1), payload).at_rail


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (identifier(24, MessageType.FEEDBACK_1), "id 24 is no motor"),
        (identifier(22, MessageType.COMMAND), "another sender of COMMAND to id 22"),
        (0x02801605, "not of a Sito motor"),
    ],
)
def test_frame_that_no_motor_of_the_block_sends_is_refused(make_family, found, message) -> None:
    with pytest.raises(ProtocolError, match=message):
        make_family().decode(found, bytes(8))


@pytest.mark.parametrize(
    ("rate", "motors", "interval"),
    [(50.0, 4, 10), (200.0, 4, 5), (500.0, 4, 4), (1000.0, 1, 1), (1000.0, 4, 4), (20.0, 1, 10)],
)
def test_feedback_interval_follows_the_loop_and_spares_the_bus(
    make_family, rate, motors, interval
) -> None:
    family = make_family(ids=range(1, motors + 1), update_rate=rate)
    (payload,) = (
        payload
        for found, payload in family.enabling(0).request
        if found == identifier(1, MessageType.SELECT_MODE)
    )
    assert SelectMode.decode(payload) == SelectMode(9, interval, interval, 0)
    assert family.feedback_rate == 2000.0 / interval


def test_motor_counts_as_enabled_once_both_feedback_frames_arrive(make_family) -> None:
    judge = make_family().enabling(0).judge
    first, second = (
        identifier(22, kind) for kind in (MessageType.FEEDBACK_1, MessageType.FEEDBACK_2)
    )
    assert judge(second, bytes(8)) is None
    assert judge(second, bytes(8)) is None
    assert judge(first, bytes(8)) == ""


def test_sito_has_no_watchdog(make_family) -> None:
    np.testing.assert_array_equal(make_family(ids=[1, 2]).watchdog, np.inf)


def test_effort_limit_is_what_the_wire_carries(make_family) -> None:
    np.testing.assert_allclose(make_family().effort_limit, 32767 * 9e-5 * 51)
