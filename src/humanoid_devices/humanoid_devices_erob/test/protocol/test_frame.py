"""Frames to bytes and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.frame import (
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)

datagrams = st.lists(
    st.builds(
        Datagram,
        command=st.integers(0, 255),
        address=st.integers(0, 0xFFFFFFFF),
        data=st.binary(max_size=100),
        index=st.integers(0, 255),
        event=st.integers(0, 0xFFFF),
        counter=st.integers(0, 0xFFFF),
    ),
    min_size=1,
    max_size=10,
)


def test_a_broadcast_read_has_the_bytes_of_the_specification() -> None:
    frame = encode_frame([Datagram(Command.BRD, physical(0, 0x0130), bytes(2), index=5)])
    expected = (
        "ff" * 6 + "01" * 6 + "88a4" + "0e10" + "0705" + "00003001" + "0200" + "0000" + "0000" * 2
    )
    assert frame.hex() == expected


def test_of_two_datagrams_the_first_has_the_flag_that_more_follow() -> None:
    frame = encode_frame([Datagram(Command.LRW, 0x1000, b"ab"), Datagram(Command.FRMW, 1, b"c")])
    assert frame[14:16].hex() == "1b10"
    assert frame[22:24].hex() == "0280"
    assert frame[36:38].hex() == "0100"


@given(datagrams)
def test_an_encoded_frame_is_decoded(several: list[Datagram]) -> None:
    assert decode_frame(encode_frame(several)) == several


@given(datagrams, st.data())
def test_a_cut_frame_is_refused(several: list[Datagram], data: st.DataObject) -> None:
    frame = encode_frame(several)
    with pytest.raises(ProtocolError):
        decode_frame(frame[: data.draw(st.integers(0, len(frame) - 1))])


def test_a_datagram_longer_than_its_frame_is_refused() -> None:
    frame = bytearray(encode_frame([Datagram(Command.LRW, 0, b"abcd")]) + bytes(20))  # padded
    frame[22] = 6
    with pytest.raises(ProtocolError, match="datagram at byte 16 ends at 34, the frame at 32"):
        decode_frame(bytes(frame))


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(noise: bytes) -> None:
    frame = encode_frame([Datagram(Command.NOP, 0, b"")])[:14] + noise
    try:
        found = decode_frame(frame)
    except ProtocolError:
        return
    assert decode_frame(encode_frame(found)) == found


def test_a_frame_longer_than_ethernet_allows_is_refused() -> None:
    with pytest.raises(ProtocolError, match="1514"):
        encode_frame([Datagram(Command.LRW, 0, bytes(1487))])
    assert len(encode_frame([Datagram(Command.LRW, 0, bytes(1486))])) == 1514


def test_a_frame_without_datagrams_is_refused() -> None:
    with pytest.raises(ProtocolError, match="one datagram or more"):
        encode_frame([])
