"""Frames of Sito motors: golden ones from the documents' layout, and what must be refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_sito.codec import (
    RESET_PAYLOAD,
    Command,
    ControlMode,
    Feedback1,
    Feedback2,
    Gains,
    MessageType,
    ProtocolError,
    SelectMode,
    identifier,
    parse_identifier,
)

I16 = st.integers(-(1 << 15), (1 << 15) - 1)
I32 = st.integers(-(1 << 31), (1 << 31) - 1)


@pytest.mark.parametrize(
    ("device", "type_", "found"),
    [
        (0x16, MessageType.RESET, 0x05061600),
        (0x17, MessageType.SELECT_MODE, 0x05061701),
        (0x26, MessageType.COMMAND, 0x05062609),
        (0x27, MessageType.GAINS, 0x05062745),
        (0x16, MessageType.FEEDBACK_0, 0x050616B0),
        (0x16, MessageType.FEEDBACK_1, 0x050616B1),
        (0x16, MessageType.FEEDBACK_2, 0x050616B2),
        (0x16, MessageType.FEEDBACK_3, 0x050616B3),
    ],
)
def test_identifier_holds_device_and_type(device, type_, found) -> None:
    assert identifier(device, type_) == found
    assert parse_identifier(found) == (device, type_)


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        (SelectMode(ControlMode.MIT, 20, 10, 0), "09 14 0a 00 00 00 00 00"),
        (SelectMode(ControlMode.POSITION, 0, 0, 255), "08 00 00 ff 00 00 00 00"),
        (Command(1000, -2, 65536), "03 e8 ff fe 00 01 00 00"),
        (Command(-32768, 32767, -1), "80 00 7f ff ff ff ff ff"),
        (Gains(1.0, -0.5), "3f 80 00 00 bf 00 00 00"),
        (Feedback1(-2, 0x1234), "00 00 ff fe 00 00 12 34"),
        (Feedback2(-65536), "00 00 00 00 ff ff 00 00"),
    ],
    ids=str,
)
def test_golden_payload(message, payload) -> None:
    assert message.encode().hex(" ") == payload
    assert type(message).decode(bytes.fromhex(payload)) == message


def test_reset_payload_is_eight_times_0x55() -> None:
    assert bytes.fromhex("55" * 8) == RESET_PAYLOAD


@given(
    st.builds(Command, I16, I16, I32) | st.builds(Feedback1, I16, I16) | st.builds(Feedback2, I32)
)
def test_encoded_message_is_decoded_to_the_same_message(message) -> None:
    assert type(message).decode(message.encode()) == message


@given(st.floats(width=32, allow_nan=False), st.floats(width=32, allow_nan=False))
def test_encoded_gains_are_decoded_to_the_same_gains(stiffness, damping) -> None:
    gains = Gains(stiffness, damping)
    assert Gains.decode(gains.encode()) == gains


@pytest.mark.parametrize(
    "message",
    [
        Command(32768, 0, 0),
        Command(0, -32769, 0),
        Command(0, 0, 1 << 31),
        SelectMode(9, 256, 0, 0),
        Feedback2(-(1 << 31) - 1),
        Gains(1e300, 0.0),
    ],
    ids=str,
)
def test_field_that_does_not_fit_is_refused(message) -> None:
    with pytest.raises(ProtocolError):
        message.encode()


@pytest.mark.parametrize("kind", [Command, Feedback1, Feedback2, Gains, SelectMode])
@pytest.mark.parametrize("length", [0, 7, 9])
def test_payload_of_another_length_is_refused(kind, length) -> None:
    with pytest.raises(ProtocolError, match=f"8 bytes, not {length}"):
        kind.decode(bytes(length))


@pytest.mark.parametrize("found", [0x02800516, 0x05071609, 0x15061609, 0x609, -1])
def test_identifier_of_another_family_is_refused(found) -> None:
    with pytest.raises(ProtocolError, match="not of a Sito motor"):
        parse_identifier(found)


def test_identifier_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(ProtocolError, match="no message type 0x02"):
        parse_identifier(0x05061602)


@pytest.mark.parametrize("device", [-1, 256])
def test_device_must_fit_a_byte(device) -> None:
    with pytest.raises(ProtocolError, match="0 to 255"):
        identifier(device, MessageType.RESET)


@given(st.integers(0, (1 << 29) - 1), st.binary(max_size=8))
def test_any_frame_is_decoded_or_refused(found, payload) -> None:
    for decode in (Command.decode, Feedback1.decode, Feedback2.decode, Gains.decode):
        if len(payload) != 8:
            with pytest.raises(ProtocolError):
                decode(payload)
    try:
        device, kind = parse_identifier(found)
    except ProtocolError:
        return
    assert identifier(device, kind) == found
