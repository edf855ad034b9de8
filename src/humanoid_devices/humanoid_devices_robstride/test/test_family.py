"""Conversions of Robstride motors, against the table of the documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.reasons import Reason
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.settings import parse_settings
from humanoid_devices_robstride.codec import (
    CommunicationType,
    FaultReport,
    Mode,
    OperationControl,
    ParameterId,
    ReadParameter,
    Status,
    StatusFault,
    WriteParameter,
    identifier,
    pack_value,
)
from humanoid_devices_robstride.robstride_family import ROBSTRIDE, RobstrideFamily
from humanoid_devices_robstride.robstride_system import RobstrideSystem
from src.humanoid_devices.test.can_bench import MakeInfo

PI4 = 4 * math.pi
TABLE = {  # position, velocity, torque, kp, kd (actuator documents)
    "rs-00": (PI4, 33, 14, 500, 5),
    "rs-01": (PI4, 44, 17, 500, 5),
    "rs-02": (PI4, 44, 17, 500, 5),
    "rs-03": (PI4, 20, 60, 5000, 100),
    "rs-04": (PI4, 15, 120, 5000, 100),
    "rs-05": (PI4, 50, 5.5, 500, 5),
    "rs-06": (PI4, 50, 36, 5000, 100),
}


@pytest.fixture
def make_family(can_info: MakeInfo) -> Callable[..., RobstrideFamily]:
    def make(model: str = "rs-02", ids: Sequence[int] = (5,), **info: Any) -> RobstrideFamily:
        block = can_info(list(ids), model, **info)
        parsed = parse_settings(block, ROBSTRIDE.block_parameters, ROBSTRIDE.joint_parameters)
        return RobstrideFamily(parsed)

    return make


def encoded(family: RobstrideFamily, values: tuple[float, ...]) -> OperationControl:
    command = JointCommand(1)
    command.array[:, 0] = values  # position, velocity, effort, stiffness, damping
    (frame,) = family.commands(command)
    return OperationControl.decode(*frame)


@pytest.mark.parametrize("model", TABLE)
def test_ends_of_every_range_of_every_model(make_family, model) -> None:
    family, (p, v, t, kp, kd) = make_family(model), TABLE[model]
    assert encoded(family, (0, 0, 0, 0, 0)) == OperationControl(32767, 32767, 32767, 0, 0)
    full = OperationControl(65534, 65534, 65534, 65535, 65535)
    assert encoded(family, (p, v, t, kp, kd)) == full
    assert encoded(family, (-p, -v, -t, 0, 0)) == OperationControl(0, 0, 0, 0, 0)
    assert not family.saturated().any()
    np.testing.assert_array_equal(family.effort_limit, t)


@pytest.mark.parametrize("row", range(5))
def test_value_out_of_range_is_saturated_and_counted(make_family, row) -> None:
    family = make_family()
    values = [0.0] * 5
    values[row] = 1e6
    encoded(family, tuple(values))
    assert family.saturated().all()


@pytest.mark.parametrize(("wanted", "found"), [(0.5, 0), (1.5, 2), (2.5, 2), (3.5, 4)])
def test_fields_are_rounded_half_to_even(make_family, wanted, found) -> None:
    stiffness = wanted / 65535 * 5000
    assert stiffness / 5000 * 65535 == wanted  # a half, not almost one
    assert encoded(make_family("rs-04"), (0, 0, 0, stiffness, 0)).stiffness == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_status_reads_back_a_command_within_one_step(
    make_family, position, velocity, torque
) -> None:
    p, v, t, *_ = TABLE["rs-03"]
    family = make_family("rs-03")
    raw = encoded(family, (position * p, velocity * v, torque * t, 0, 0))
    status = Status(5, 0xFD, StatusFault(0), 2, raw.position, raw.velocity, raw.torque, 250)
    feedback = family.decode(*status.encode())
    assert feedback.position == pytest.approx(position * p, abs=p / 32767)
    assert feedback.velocity == pytest.approx(velocity * v, abs=v / 32767)
    assert feedback.effort == pytest.approx(torque * t, abs=t / 32767)
    assert feedback.enabled
    assert feedback.temperature_celsius == pytest.approx(25.0)


def test_faults_of_the_status_are_reported_in_words(make_family) -> None:
    faults = StatusFault.UNDERVOLTAGE | StatusFault.OVER_TEMPERATURE
    feedback = make_family().decode(*Status(5, 0xFD, faults, Mode.RESET, 0, 0, 0, 900).encode())
    assert feedback.fault == Reason(
        "undervoltage, over temperature", ("UNDERVOLTAGE", "TEMPERATURE_LIMIT")
    )
    assert feedback.hot
    assert not feedback.enabled


@pytest.mark.parametrize(
    ("bits", "message"),
    [(0, ""), (1, "over temperature"), (8, "overvoltage"), (1 << 14, "stall"),
     (128, "uncalibrated"), (1 << 5, "fault 0x20")],
)  # fmt: skip
def test_fault_report_is_reported_in_words(make_family, bits, message) -> None:
    feedback = make_family().decode(*FaultReport(5, 0xFD, bits, 0).encode())
    assert feedback.report.text == message
    assert not feedback.warned


def test_warning_of_the_fault_report_is_reported(make_family) -> None:
    assert make_family().decode(*FaultReport(5, 0xFD, 0, 1).encode()).warned


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Status(6, 0xFD, StatusFault(0), 0, 0, 0, 0, 0).encode(), "id 6 is no motor"),
        ((identifier(CommunicationType.ENABLE, 0xFE, 5), bytes(8)), "another sender of ENABLE"),
        ((0x05061609, bytes(8)), "no communication type 5"),
        ((0x020005FD, bytes(7)), "STATUS has 8 bytes, not 7"),
    ],
)
def test_frame_that_no_motor_of_the_block_sends_is_refused(make_family, frame, message) -> None:
    with pytest.raises(ProtocolError, match=message):
        make_family().decode(*frame)


def test_firmware_limits_are_written_and_read_back_one_after_another(make_family) -> None:
    joint = {"torque_limit": "2.5", "current_limit": "3", "can_timeout": "0.2"}
    family = make_family(joint=joint)
    exchanges = family.preparing(0)
    wanted = {
        ParameterId.RUN_MODE: 0,
        ParameterId.TORQUE_LIMIT: 2.5,
        ParameterId.CURRENT_LIMIT: 3.0,
        ParameterId.CAN_TIMEOUT: 4000,  # of 50 µs
    }
    for exchange, (parameter, value) in zip(exchanges, wanted.items(), strict=True):
        *_, write, read = exchange.request
        packed = pack_value(parameter, value)
        assert WriteParameter.decode(*write) == WriteParameter(0xFD, 5, parameter, packed)
        assert ReadParameter.decode(*read) == ReadParameter(0xFD, 5, parameter)
        assert exchange.judge(*ReadParameter(5, 0xFD, parameter, packed).encode()) == ""
        other = ReadParameter(5, 0xFD, parameter, b"\1\2\3\4").encode()
        assert "reads back 01 02 03 04" in (exchange.judge(*other) or "")
        refused = ReadParameter(0x105, 0xFD, parameter).encode()
        assert "be read" in (exchange.judge(*refused) or "")
        assert exchange.judge(*ReadParameter(6, 0xFD, parameter, packed).encode()) is None
    np.testing.assert_array_equal(family.effort_limit, 2.5)


@pytest.mark.parametrize(
    ("given", "rate", "ticks", "watchdog"),
    [
        ("", 50.0, 4000, 0.2),  # of 50 µs
        ("", 10.0, 5000, 0.25),  # 2.5 periods of a slow loop
        ("0.05", 50.0, 1000, 0.05),
        ("0", 50.0, 0, math.inf),
    ],
)
def test_can_timeout_is_always_set(make_family, given, rate, ticks, watchdog) -> None:
    """A motor may still have the value of another program."""
    family = make_family(joint={"can_timeout": given}, update_rate=rate)
    mode, timeout = family.preparing(0)
    assert WriteParameter.decode(*mode.request[-2]).parameter == ParameterId.RUN_MODE
    value = pack_value(ParameterId.CAN_TIMEOUT, ticks)
    wanted = WriteParameter(0xFD, 5, ParameterId.CAN_TIMEOUT, value)
    assert WriteParameter.decode(*timeout.request[-2]) == wanted
    np.testing.assert_array_equal(family.watchdog, watchdog)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"torque_limit": "18"}, "torque_limit is 18 Nm, rs-02 has 17"),
        ({"torque_limit": "-1"}, "torque_limit is -1, expected more than 0"),
        ({"can_timeout": "1e9"}, "can_timeout is 1e+09 s, expected 0.05 s .* to 1 s, or 0"),
        ({"can_timeout": "0.04"}, "can_timeout is 0.04 s, expected 0.05 s"),
        ({"can_timeout": "-1"}, "can_timeout is -1, expected 0 or more"),
        ({"current_limit": "much"}, "current_limit: expected a finite number"),
    ],
)
def test_limit_that_can_not_be_is_refused(make_family, joint, message) -> None:
    message = message.replace("+", r"\+")
    with pytest.raises(ConfigError, match=f"joint 'j0': .*{message}|j0': {message}"):
        make_family(joint=joint)


def test_unknown_model_is_refused_with_the_known_ones(make_family) -> None:
    with pytest.raises(ConfigError, match=r"'rs-07', expected one of rs-00, .*rs-06"):
        make_family("rs-07")


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("sign", [1, -1])
def test_calibration_that_the_wire_can_not_carry_is_refused(can_info, direction, sign) -> None:
    """Measured and commanded angles would stay at the end of their range while the joint moves."""
    system, room = RobstrideSystem(), PI4 - 2.0  # the joint has 2 rad in both directions
    system.on_configure(can_info([5], "rs-02", calibration=[(direction, sign * (room - 0.01))]))
    block = can_info([5], "rs-02", calibration=[(direction, sign * (room + 0.01))])
    with pytest.raises(ConfigError, match=r"joint 'j0': homing_offset is .* ±12.57 rad"):
        system.on_configure(block)


def test_a_motor_with_the_hosts_id_is_refused(make_family) -> None:
    with pytest.raises(ConfigError, match="joint 'j0': can_id 253 is the host_id of the block"):
        make_family(ids=(253,))
    make_family(ids=(253,), block={"host_id": "0xFE"})


def test_host_id_is_used(make_family) -> None:
    family = make_family(block={"host_id": "0x10"})
    assert family.disabling(0, clear_faults=True).request == ((0x04001005, bytes([1, *bytes(7)])),)


def test_motor_with_a_fault_can_not_be_enabled(make_family) -> None:
    judge = make_family().enabling(0).judge
    fault = Status(5, 0xFD, StatusFault.STALL_OVERLOAD, Mode.RESET, 0, 0, 0, 0)
    assert judge(*fault.encode()) == "can't be enabled: stall overload"
    assert judge(*Status(5, 0xFD, StatusFault(0), Mode.RESET, 0, 0, 0, 0).encode()) is None
    assert judge(*Status(6, 0xFD, StatusFault(0), Mode.RUN, 0, 0, 0, 0).encode()) is None
    assert judge(*Status(5, 0xFD, StatusFault(0), Mode.RUN, 0, 0, 0, 0).encode()) == ""
