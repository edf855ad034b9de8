"""The block is checked before anything is changed, and errors name the remedy."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoOutcome, SdoStatus
from humanoid_devices_erob.settings import Identity, parse_settings


def test_complete_block_is_parsed(make_info) -> None:
    settings = parse_settings(make_info(3, positions=[2, 0, 1], update_rate=200.0))
    assert settings.identity == Identity(0x5A65726F, 0x00029252)
    assert settings.joint_at == ("j1", "j2", "j0")
    assert settings.control_frequency == 200.0
    assert settings.bringup_frequency == 1000.0
    assert settings.fallback_damping == 6.0
    np.testing.assert_allclose(settings.torque_constant, 0.132e-3)
    np.testing.assert_allclose(settings.rated_torque, 30.0)  # the joint's effort limit


def test_a_narrower_effort_limit_of_the_block_does_not_change_the_measured_torque(
    make_info,
) -> None:
    info = make_info(2)
    joints = tuple(replace(joint, rated_effort=60.0) for joint in info.joints)
    settings = parse_settings(replace(info, joints=joints))
    assert settings.rated_torque.tolist() == [60.0, 60.0]
    assert settings.effort_limit.tolist() == [30.0, 30.0]


@pytest.mark.parametrize("rate", [50.0, 100.0, 200.0, 500.0, 1000.0])
def test_sync0_has_the_period_of_the_loop(make_info, rate: float) -> None:
    settings = parse_settings(make_info(1, update_rate=rate))
    assert settings.sync0_nanoseconds == 1e9 / rate
    assert settings.period == 1.0 / rate


def test_control_frequency_other_than_the_update_rate_is_refused(make_info) -> None:
    info = make_info(1, update_rate=50.0, block={"control_frequency": "100"})
    with pytest.raises(ConfigError, match=r"Side.*control_frequency is 100 Hz.*update_rate 50 Hz"):
        parse_settings(info)


def test_control_frequency_equal_to_the_update_rate_is_accepted(make_info) -> None:
    info = make_info(1, update_rate=50.0, block={"control_frequency": "50.0"})
    assert parse_settings(info).control_frequency == 50.0


def test_bring_up_is_never_slower_than_sync0(make_info) -> None:
    info = make_info(1, update_rate=1000.0, block={"bringup_frequency": "50"})
    assert parse_settings(info).bringup_frequency == 1000.0


@pytest.mark.parametrize("rate", [7.0, 10.0, 19.9, 1000.5, 3000.0])
def test_rate_that_drives_cannot_follow_is_refused_with_the_range(make_info, rate: float) -> None:
    with pytest.raises(ConfigError, match=r"update_rate is .* Hz, expected 20 to 1000: .*watchdog"):
        parse_settings(make_info(1, update_rate=rate))


@pytest.mark.parametrize(
    ("rate", "choice"),
    [(60.0, "50 or 80"), (150.0, "125 or 200"), (300.0, "250 or 400"), (999.0, "500 or 1000")],
)
def test_rate_whose_sync0_an_erob_refuses_is_refused_with_its_neighbours(
    make_info, rate: float, choice: str
) -> None:
    """The neighbours are whole numbers, as `update_rate` must be."""
    with pytest.raises(ConfigError, match=rf"multiples of 0.5 ms only: choose {choice} Hz"):
        parse_settings(make_info(1, update_rate=rate))


@pytest.mark.parametrize(
    ("rate", "period"),
    [(50.0, 20_000_000), (60.6061, 16_500_000), (333.333, 3_000_000), (666.667, 1_500_000)],
)
def test_sync0_fires_in_whole_steps_of_half_a_millisecond(make_info, rate, period) -> None:
    assert parse_settings(make_info(1, update_rate=rate)).sync0_nanoseconds == period


@pytest.mark.parametrize("rate", [20.0, 1000.0])
def test_slowest_and_fastest_rate_are_accepted(make_info, rate: float) -> None:
    assert parse_settings(make_info(1, update_rate=rate)).control_frequency == rate


def test_serial_number_of_two_joints_is_refused(make_info) -> None:
    with pytest.raises(ConfigError, match=r"two joints have the same serial_number: \[7, 7\]"):
        parse_settings(make_info(3, serials=["7", None, "0x7"]))


@pytest.mark.parametrize("name", ["interface", "vendor_id", "product_code", "calibration_file"])
def test_missing_block_parameter_is_named(make_info, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"Side.*name='{name}'> is missing"):
        parse_settings(make_info(1, block={name: None}))


@pytest.mark.parametrize("name", ["ring_position", "model", "kt", "gear"])
def test_missing_joint_parameter_is_named_with_its_joint(make_info, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"Side.*joint 'j0'.*name='{name}'> is missing"):
        parse_settings(make_info(2, joint={name: None}))


def test_unknown_parameters_are_refused_with_the_known_ones(make_info) -> None:
    with pytest.raises(ConfigError, match=r"unknown parameter speed; known: .*interface"):
        parse_settings(make_info(1, block={"speed": "1"}))
    with pytest.raises(ConfigError, match=r"joint 'j0': unknown parameter can_id; known: .*gear"):
        parse_settings(make_info(1, joint={"can_id": "1"}))


@pytest.mark.parametrize(
    ("positions", "message"), [([0, 0, 1], "[0, 0, 1]"), ([0, 1, 3], "[0, 1, 3]")]
)
def test_ring_positions_must_be_each_place_once(make_info, positions, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message) + ".*each of 0 to 2 once"):
        parse_settings(make_info(3, positions=positions))


@pytest.mark.parametrize(
    ("block", "joint", "message"),
    [
        ({"interface": "a_very_long_name"}, {}, "at most 15 characters"),
        ({"master_id": "3"}, {}, "master_id is 3, expected 0: this process is"),
        ({"master_id": "first"}, {}, "master_id is 'first', expected a whole number"),
        ({"vendor_id": "ZeroErr"}, {}, "vendor_id is 'ZeroErr', expected a whole number"),
        ({"product_code": "0x100000000"}, {}, "product_code is '0x100000000'"),
        ({"bringup_frequency": "0"}, {}, "bringup_frequency is 0, expected more than 0"),
        ({"bringup_frequency": "3000"}, {}, "bringup_frequency is 3000, expected at most 1000"),
        ({"activation_timeout": "0.5"}, {}, "activation_timeout is 0.5 s, expected 1 to 120 s"),
        ({"activation_timeout": "121"}, {}, "activation_timeout is 121 s"),
        ({"fallback_damping": "soft"}, {}, "fallback_damping: expected a finite number"),
        (
            {"fallback_damping": "3484"},
            {},
            "else a drive would be limp, and at most 348",
        ),
        ({"fallback_damping": "0.053"}, {}, "0.053 Nm s/rad, expected more than 0.05314"),
        ({}, {"kt": "-1"}, "joint 'j0': kt is -1 Nm/mA, expected 3e-05 to 0.001 Nm/mA"),
        ({}, {"kt": "0.132"}, "joint 'j0': kt is 0.132 Nm/mA, expected 3e-05 to 0.001 Nm/mA"),
        ({}, {"kt": "1.32e-5"}, "joint 'j0': kt is 1.32e-05 Nm/mA, expected 3e-05"),
        ({}, {"gear": "5"}, "joint 'j0': gear is 5, expected 30 to 320"),
        ({}, {"gear": "15"}, "joint 'j0': gear is 15, expected 30 to 320"),
        ({}, {"gear": "500"}, "joint 'j0': gear is 500, expected 30 to 320"),
        ({}, {"gear": "nan"}, "joint 'j0': gear: expected a finite number, found 'nan'"),
        ({}, {"ring_position": "first"}, "joint 'j0': ring_position is 'first'"),
        ({}, {"rated_torque": "0"}, "joint 'j0': rated_torque is 0"),
    ],
)
def test_value_out_of_range_is_named(make_info, block, joint, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        parse_settings(make_info(1, block=block, joint=joint))


def test_joint_without_calibration_is_named(make_info, tmp_path) -> None:
    info = make_info(2)
    (tmp_path / "prime_calibration.yaml").write_text(
        "j0: {id: 0, direction: 1, homing_offset: 0.0}\n"
    )
    with pytest.raises(ConfigError, match=r"Side.*calibration_file.*no calibration for j1"):
        parse_settings(info)


def test_limits_in_degrees_are_refused(make_info) -> None:
    """The turns of a drive are clear only within less than one."""
    info = make_info(2)
    limits = replace(info.limits, lower=np.array([-3.0, -132.0]), upper=np.array([3.0, 20.0]))
    with pytest.raises(ConfigError, match=r"'j1': limits are -132 to 20 rad.* in degrees\?"):
        parse_settings(replace(info, limits=limits))


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("velocity", 38.2, "velocity limit in the description, 38.2 rad/s, is 18239 rpm"),
        ("velocity", 229.2, "velocity limit in the description, 229.2 rad/s, is 109435 rpm"),
        ("effort", 300.0, "effort limit in the description, 300 Nm, is 45 A of its motor"),
    ],
)
def test_limits_in_other_units_are_refused(make_info, limit, value, message) -> None:
    """4 rad/s are 38.2 rpm and 229.2 deg/s."""
    info = make_info(2)
    limits = replace(info.limits, **{limit: np.array([4.0, value])})
    with pytest.raises(ConfigError, match=rf"joint 'j1': its {re.escape(message)}"):
        parse_settings(replace(info, limits=limits))


@pytest.mark.parametrize("damping", ["0.054", "6", "3482"])
@pytest.mark.parametrize("length", [2, 4])
def test_fallback_damping_fits_every_drive(make_info, damping: str, length: int) -> None:
    system = ErobSystem()
    system.on_configure(make_info(2, block={"fallback_damping": damping}))
    system.mode_changed(Mode.DAMPING, 1)
    impedance = system._impedance
    for slave in range(2):
        found = SdoOutcome(SdoStatus.DONE, b"\1" + bytes(length - 1))
        for key in ((0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2382, 3), (0x2383, 0)):
            impedance.transfer_ended(SdoObject(slave, *key), found)
    impedance._clock = lambda: inf
    batch = impedance.softening(lambda _slave: True)
    assert batch is not None
    assert {len(it.data) for it in batch.objects} == {length}
