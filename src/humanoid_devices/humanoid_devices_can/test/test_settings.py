"""The block is checked before anything is changed, and errors name the remedy."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.motor_protocol import FamilyKind, MotorFamily
from humanoid_devices_can.settings import CanSettings, parse_settings
from src.humanoid_devices.test.can_bench import system_of

LIMIT = {"torque_limit": ""}
HOST = {"host_id": "0xFD"}


def parsed(info):
    return parse_settings(info, HOST, LIMIT)


def test_complete_block_is_parsed(can_info) -> None:
    options = {"can_option.sleep_after_open": "0.5", "can_option.rtscts": "true"}
    info = can_info([22, 38], "m", interface="slcan", channel="/dev/ttyACM0", block=options)
    settings = parsed(info)
    assert str(settings.bus) == "slcan /dev/ttyACM0"
    assert settings.bus.bitrate == 1_000_000
    assert settings.bus.options == {"sleep_after_open": 0.5, "rtscts": True}
    assert settings.parameters == {"host_id": "0xFD"}
    assert [str(motor) for motor in settings.motors] == ["j0 (id 22)", "j1 (id 38)"]
    assert settings.motor_at() == {22: 0, 38: 1}
    assert settings.motors[0].parameters == {"torque_limit": ""}
    assert settings.guard_timeout == 0.2


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("colour", "2", r"slcan has no can_option.colour; it has can_option.sleep_after_open, "),
        ("rtscts", "no", r"can_option.rtscts is 'no', expected True or False"),
        ("rtscts", "1", r"can_option.rtscts is 1, expected True or False"),
        ("sleep_after_open", "inf", r"is 'inf', expected a time in s, 0 to 60"),
        ("sleep_after_open", "60.1", r"is 60.1, expected a time in s, 0 to 60"),
        ("sleep_after_open", "-1", r"is -1, expected a time in s, 0 to 60"),
        ("sleep_after_open", "true", r"is True, expected a time in s, 0 to 60"),
        ("tty_baudrate", "0", r"is 0, expected a rate in bit/s"),
        ("tty_baudrate", "1e6", r"is '1e6', expected a rate in bit/s"),
    ],
)
def test_wrong_option_of_a_serial_adapter_is_refused(can_info, option, value, message) -> None:
    block = {f"can_option.{option}": value}
    with pytest.raises(ConfigError, match=rf"Wrists.*{message}"):
        parsed(can_info([22], "m", interface="slcan", block=block))


def test_options_of_other_interfaces_are_those_of_python_can(can_info) -> None:
    settings = parsed(can_info([22], "m", interface="pcan", block={"can_option.colour": "2"}))
    assert settings.bus.options == {"colour": 2}


@pytest.mark.parametrize(
    ("given", "rate", "timeout"), [("0", 50.0, 0.0), ("0.05", 50.0, 0.05), (None, 10.0, 0.25)]
)
def test_guard_waits_as_long_as_it_is_reported_or_the_loop_needs(
    can_info, given, rate, timeout
) -> None:
    block = {} if given is None else {"guard_timeout": given}
    settings = parsed(can_info([22], "m", block=block, update_rate=rate))
    assert settings.guard_timeout == timeout


@pytest.mark.parametrize("name", ["interface", "channel", "calibration_file"])
def test_missing_block_parameter_is_named(can_info, name) -> None:
    block = can_info([22], "m")
    del block.parameters[name]
    with pytest.raises(ConfigError, match=rf"Wrists.*name='{name}'> is missing"):
        parsed(block)


@pytest.mark.parametrize("name", ["can_id", "model"])
def test_missing_joint_parameter_is_named_with_its_joint(can_info, name) -> None:
    with pytest.raises(ConfigError, match=rf"Wrists.*joint 'j0'.*name='{name}'> is missing"):
        parsed(can_info([22], "m", joint={name: None}))


@pytest.mark.parametrize(
    ("block", "joint", "message"),
    [
        ({"speed": "1"}, {}, "unknown parameter speed; known: interface, channel"),
        ({"bitrate": "0"}, {}, "bitrate is 0, expected the motors' rate"),
        ({"guard_timeout": "0.04"}, {}, "guard_timeout is 0.04 s, expected 0.05 s (2.5 periods"),
        ({"guard_timeout": "1.1"}, {}, "guard_timeout is 1.1 s, expected 0.05 s"),
        ({"guard_timeout": "-1"}, {}, "guard_timeout is -1, expected 0 or more"),
        ({"bitrate": "2000000"}, {}, "bitrate is '2000000', expected a whole number from 0"),
        ({}, {"can_id": "256"}, "joint 'j0': can_id is '256', expected a whole number from 0"),
        ({}, {"can_id": "left"}, "joint 'j0': can_id is 'left'"),
        ({}, {"gear": "51"}, "joint 'j0': unknown parameter gear; known: can_id, model"),
    ],
)
def test_wrong_value_is_named(can_info, block, joint, message) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        parsed(can_info([22], "m", block=block, joint=joint))


def test_two_joints_with_one_id_are_named(can_info) -> None:
    with pytest.raises(ConfigError, match="joints 'j0' and 'j2' have the same can_id 22"):
        parsed(can_info([22, 23, 22], "m"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("j0: {id: 22, direction: 1, homing_offset: 0.0}\n", "no calibration for j1"),
        ("j0: {id: 22, direction: 2, homing_offset: 0.0}\n", "expected 1 or -1"),
        ("j0: {id: 22, direction: 1, homing_offset: .nan}\n", "finite"),
        ("j0: {id: 22, direction: 1}\n", "'j0.homing_offset' is missing"),
        ("- j0\n", "expected a mapping"),
    ],
)
def test_wrong_calibration_is_named(can_info, tmp_path, text, message) -> None:
    info = can_info([22, 23], "m")
    (tmp_path / "prime_calibration.yaml").write_text(text)
    with pytest.raises(ConfigError, match=f"Wrists.*calibration_file.*{message}"):
        parsed(info)


def test_absent_calibration_file_is_named(can_info) -> None:
    info = can_info([22], "m", block={"calibration_file": "/nowhere.yaml"})
    with pytest.raises(ConfigError, match=r"calibration_file: /nowhere.yaml: cannot be read"):
        parsed(info)


def with_watchdog(plain: FamilyKind, watchdog: float) -> CanSystem:
    """A component of the made-up family, whose motors disable themselves after `watchdog` [s]."""

    def build(settings: CanSettings) -> MotorFamily:
        family = plain.build(settings)
        family.watchdog = np.full(len(settings.motors), watchdog)
        return family

    return system_of(replace(plain, build=build))()


@pytest.mark.parametrize(
    ("watchdog", "rate", "least"),
    [(0.099, 50.0, "0.1"), (0.249, 10.0, "0.25"), (0.0, 1000.0, "0.1"), (np.nan, 50.0, "0.1")],
)
def test_a_watchdog_that_expires_between_two_commands_is_refused(
    can_info, plain, watchdog, rate, least
) -> None:
    error = (
        rf"j0.*watchdog of model plain expires after {watchdog:g} s .*expected {least} s or more"
    )
    with pytest.raises(ConfigError, match=error):
        with_watchdog(plain, watchdog).on_configure(can_info([1, 2], "plain", update_rate=rate))


@pytest.mark.parametrize(("watchdog", "rate"), [(0.1, 50.0), (0.25, 10.0), (np.inf, 10.0)])
def test_a_watchdog_that_outlasts_a_lost_command_is_taken(can_info, plain, watchdog, rate) -> None:
    system = with_watchdog(plain, watchdog)
    system.on_configure(can_info([1, 2], "plain", update_rate=rate))
    assert system.watchdog_times().tolist() == [watchdog, watchdog]
