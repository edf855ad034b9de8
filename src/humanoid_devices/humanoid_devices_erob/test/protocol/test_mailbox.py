"""The mailbox header against bytes written by hand from ETG.1000.4."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.mailbox import (
    MailboxErrorCode,
    MailboxHeader,
    MailboxType,
    decode_mailbox,
    decode_mailbox_error,
    encode_mailbox,
    encode_mailbox_error,
)

# Length u16, station address u16, channel (6 bits) and priority (2), type (4 bits) and counter (3).
GOLDEN = {
    "0a 00 00 00 00 03": MailboxHeader(10),
    "0a 00 00 00 00 53": MailboxHeader(10, counter=5),
    "7a 00 03 10 c5 73": MailboxHeader(122, 0x1003, priority=3, channel=5, counter=7),
    "04 00 00 00 40 10": MailboxHeader(4, priority=1, type=MailboxType.ERROR, counter=1),
}


@pytest.mark.parametrize("text", GOLDEN)
def test_a_header_is_the_bytes_of_the_specification(text: str) -> None:
    assert GOLDEN[text].encode().hex(" ") == text
    assert MailboxHeader.decode(bytes.fromhex(text)) == GOLDEN[text]


def test_a_message_is_header_and_payload_and_the_rest_of_the_mailbox_is_padding() -> None:
    message = encode_mailbox(b"\x00\x20\x40", counter=2)
    assert message.hex(" ") == "03 00 00 00 00 23 00 20 40"
    assert decode_mailbox(message.ljust(128, b"\0"))[1] == b"\x00\x20\x40"


@pytest.mark.parametrize("text", ["", "0a 00 00 00 00", "0a 00 00 00 00 03 01"])
def test_a_message_that_is_cut_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        decode_mailbox(bytes.fromhex(text))


@pytest.mark.parametrize(
    "header",
    [
        MailboxHeader(0x10000),
        MailboxHeader(-1),
        MailboxHeader(0, 0x10000),
        MailboxHeader(0, priority=4),
        MailboxHeader(0, channel=64),
        MailboxHeader(0, type=16),
        MailboxHeader(0, counter=8),
    ],
    ids=str,
)
def test_a_field_that_does_not_fit_is_refused(header: MailboxHeader) -> None:
    with pytest.raises(ProtocolError):
        header.encode()


def test_a_mailbox_error_has_its_code() -> None:
    payload = encode_mailbox_error(MailboxErrorCode.INVALID_SIZE)
    assert payload.hex(" ") == "01 00 08 00"
    assert decode_mailbox_error(payload) == MailboxErrorCode.INVALID_SIZE
    with pytest.raises(ProtocolError):
        decode_mailbox_error(b"\x02\x00\x08\x00")


headers = st.builds(
    MailboxHeader,
    st.integers(0, 0xFFFF),
    st.integers(0, 0xFFFF),
    st.integers(0, 3),
    st.integers(0, 63),
    st.integers(0, 15),
    st.integers(0, 7),
)


@given(headers)
def test_every_header_survives_the_wire(header: MailboxHeader) -> None:
    assert MailboxHeader.decode(header.encode()) == header


@given(st.binary(max_size=200), st.integers(0, 7), st.binary(max_size=20))
def test_every_message_survives_the_wire(payload: bytes, counter: int, padding: bytes) -> None:
    header, found = decode_mailbox(encode_mailbox(payload, counter=counter) + padding)
    assert (header.counter, found) == (counter, payload)
