"""Frames of Robstride motors: golden ones from the documents' layout, and what must be refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_robstride.codec import (
    CommunicationType,
    FaultReport,
    Mode,
    OperationControl,
    ParameterId,
    ProtocolError,
    ReadParameter,
    Status,
    StatusFault,
    WriteParameter,
    disable,
    enable,
    identifier,
    pack_value,
    parse_identifier,
)

U8, U16, U32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))


def test_operation_control_carries_the_torque_in_the_identifier() -> None:
    frame = OperationControl(0x1234, 0x5678, 0x7FFF, 0x9ABC, 0xDEF0).encode(0x05)
    assert frame == (0x017FFF05, bytes.fromhex("123456789abcdef0"))


def test_status_carries_motor_faults_and_mode_in_the_identifier() -> None:
    status = Status(5, 0xFD, StatusFault.OVER_TEMPERATURE, Mode.RUN, 1, 2, 3, 250)
    frame = 0x028405FD, bytes.fromhex("00010002000300fa")
    assert status.encode() == frame
    assert Status.decode(*frame) == status


@pytest.mark.parametrize(
    ("fault", "bit"),
    [
        (StatusFault.UNDERVOLTAGE, 16),
        (StatusFault.GATE_DRIVER, 17),
        (StatusFault.OVER_TEMPERATURE, 18),
        (StatusFault.MAGNETIC_ENCODER, 19),
        (StatusFault.STALL_OVERLOAD, 20),
        (StatusFault.UNCALIBRATED, 21),
    ],
)
def test_fault_bits_of_the_status_are_8_to_13_of_extra(fault, bit) -> None:
    assert Status.decode(0x02000000 | 1 << bit, bytes(8)).faults is fault


def test_enable_disable_and_parameters() -> None:
    assert enable(0xFD, 5) == (0x0300FD05, bytes(8))
    assert disable(0xFD, 5) == (0x0400FD05, bytes(8))
    assert disable(0xFD, 5, clear_faults=True) == (0x0400FD05, bytes([1, *bytes(7)]))
    value = pack_value(ParameterId.TORQUE_LIMIT, 1.5)
    frame = WriteParameter(0xFD, 5, ParameterId.TORQUE_LIMIT, value).encode()
    assert frame == (0x1200FD05, bytes.fromhex("0b7000000000c03f"))
    assert ReadParameter(0xFD, 5, ParameterId.CAN_TIMEOUT).encode() == (
        0x1100FD05,
        bytes.fromhex("2870000000000000"),
    )


@pytest.mark.parametrize(
    ("parameter", "bytes_"),
    [
        (ParameterId.RUN_MODE, "0570"),
        (ParameterId.TORQUE_LIMIT, "0b70"),
        (ParameterId.CURRENT_LIMIT, "1870"),
        (ParameterId.CAN_TIMEOUT, "2870"),
    ],
)
def test_parameters_have_the_numbers_of_the_documents(parameter, bytes_) -> None:
    _, payload = WriteParameter(0xFD, 5, parameter, bytes(4)).encode()
    assert payload[:2] == bytes.fromhex(bytes_)


def test_answer_to_a_parameter_that_is_not_known_is_a_refusal() -> None:
    answer = ReadParameter.decode(0x110105FD, bytes.fromhex("3412000000000000"))
    assert answer.refused
    assert answer.sender & 0xFF == 5
    assert not ReadParameter.decode(0x110005FD, bytes(8)).refused


def test_fault_report_is_little_endian() -> None:
    report = FaultReport.decode(0x150005FD, bytes.fromhex("0140000001000000"))
    assert report == FaultReport(5, 0xFD, 0x4001, 1)
    assert report.encode() == (0x150005FD, bytes.fromhex("0140000001000000"))


@pytest.mark.parametrize(
    ("parameter", "value", "packed"),
    [
        (ParameterId.RUN_MODE, 0, "00000000"),
        (ParameterId.CURRENT_LIMIT, -2.0, "000000c0"),
        (ParameterId.CAN_TIMEOUT, 20000, "204e0000"),
    ],
)
def test_value_of_a_parameter_has_the_parameters_type(parameter, value, packed) -> None:
    assert pack_value(parameter, value) == bytes.fromhex(packed)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (ParameterId.RUN_MODE, 0.5),
        (ParameterId.RUN_MODE, 256),
        (ParameterId.CAN_TIMEOUT, -1),
        (ParameterId.TORQUE_LIMIT, 1e300),
    ],
)
def test_value_that_does_not_fit_is_refused(parameter, value) -> None:
    with pytest.raises(ProtocolError):
        pack_value(parameter, value)


@given(st.builds(OperationControl, U16, U16, U16, U16, U16), U8)
def test_set_point_comes_back(order, device) -> None:
    assert OperationControl.decode(*order.encode(device)) == order


@given(
    st.builds(
        Status, U8, U8, st.integers(0, 63).map(StatusFault), st.integers(0, 3), U16, U16, U16, U16
    )
)
def test_status_comes_back(status) -> None:
    assert Status.decode(*status.encode()) == status


@given(
    st.builds(WriteParameter, U16, U8, U16, st.binary(min_size=4, max_size=4))
    | st.builds(ReadParameter, U16, U8, U16, st.binary(min_size=4, max_size=4))
    | st.builds(FaultReport, U8, U8, U32, U32)
)
def test_encoded_message_is_decoded_to_the_same_message(message) -> None:
    assert type(message).decode(*message.encode()) == message


@pytest.mark.parametrize(
    "encode",
    [
        lambda: OperationControl(65536, 0, 0, 0, 0).encode(1),
        lambda: OperationControl(0, 0, -1, 0, 0).encode(1),
        lambda: OperationControl(0, 0, 0, 0, 0).encode(256),
        lambda: Status(1, 1, StatusFault(0), 4, 0, 0, 0, 0).encode(),
        lambda: WriteParameter(1, 1, 0x7005, b"123").encode(),
    ],
)
def test_field_that_does_not_fit_is_refused(encode) -> None:
    with pytest.raises(ProtocolError):
        encode()


@pytest.mark.parametrize("kind", [OperationControl, Status, FaultReport, ReadParameter])
def test_frame_of_another_type_is_refused(kind) -> None:
    with pytest.raises(ProtocolError, match="found SAVE"):
        kind.decode(identifier(CommunicationType.SAVE, 0, 0), bytes(8))


@pytest.mark.parametrize("found", [0x05061609, 0x1F000000, 1 << 29, -1])
def test_identifier_of_another_family_is_refused(found) -> None:
    with pytest.raises(ProtocolError):
        parse_identifier(found)


@given(st.integers(0, (1 << 29) - 1), st.binary(max_size=8))
def test_any_frame_is_decoded_or_refused(found, payload) -> None:
    for kind in (OperationControl, Status, FaultReport, ReadParameter, WriteParameter):
        try:
            message = kind.decode(found, payload)
        except ProtocolError:
            continue
        if kind is Status:
            assert message.encode() == (found, payload)
