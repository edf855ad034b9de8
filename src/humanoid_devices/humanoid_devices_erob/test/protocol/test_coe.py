"""CoE messages against bytes written by hand from ETG.1000.6, and both ways against each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.abort import AbortCode, describe_abort
from humanoid_devices_erob.protocol.errors import ProtocolError

# CoE header (service in the upper four bits of a little-endian u16), command, index, subindex, …
REQUESTS = {
    "00 20 23 81 23 01 13 00 00 00": coe.ExpeditedDownload(0x2381, 1, bytes.fromhex("13000000")),
    "00 20 27 81 23 01 13 00 01 00": coe.ExpeditedDownload(0x2381, 1, bytes.fromhex("130001")),
    "00 20 2b 40 60 00 0f 00 00 00": coe.ExpeditedDownload(0x6040, 0, bytes.fromhex("0f00")),
    "00 20 2f 83 23 00 01 00 00 00": coe.ExpeditedDownload(0x2383, 0, b"\x01"),
    "00 20 33 12 1c 00 01 00 00 16": coe.ExpeditedDownload(
        0x1C12, 0, bytes.fromhex("01000016"), complete=True
    ),
    "00 20 21 00 16 01 05 00 00 00 01 02 03 04 05": coe.NormalDownload(
        0x1600, 1, 5, bytes([1, 2, 3, 4, 5])
    ),
    "00 20 31 00 16 00 09 00 00 00 aa": coe.NormalDownload(0x1600, 0, 9, b"\xaa", complete=True),
    "00 20 00 01 02 03 04 05 06 07": coe.SegmentDownload(False, False, bytes(range(1, 8))),
    "00 20 1b 01 02 00 00 00 00 00": coe.SegmentDownload(True, True, b"\x01\x02"),
    "00 20 01 01 02 03 04 05 06 07 08": coe.SegmentDownload(False, True, bytes(range(1, 9))),
    "00 20 40 41 60 00 00 00 00 00": coe.UploadRequest(0x6041, 0),
    "00 20 50 18 10 01 00 00 00 00": coe.UploadRequest(0x1018, 1, complete=True),
    "00 20 60 00 00 00 00 00 00 00": coe.SegmentUploadRequest(False),
    "00 20 70 00 00 00 00 00 00 00": coe.SegmentUploadRequest(True),
    "00 20 80 81 23 01 00 00 04 05": coe.Abort(0x2381, 1, 0x05040000),
}
RESPONSES = {
    "00 30 60 81 23 01 00 00 00 00": coe.DownloadResponse(0x2381, 1),
    "00 30 70 12 1c 00 00 00 00 00": coe.DownloadResponse(0x1C12, 0, complete=True),
    "00 30 20 00 00 00 00 00 00 00": coe.SegmentDownloadResponse(False),
    "00 30 30 00 00 00 00 00 00 00": coe.SegmentDownloadResponse(True),
    "00 30 43 81 23 01 13 00 00 00": coe.ExpeditedUpload(0x2381, 1, bytes.fromhex("13000000")),
    "00 30 4b 3f 60 00 00 a0 00 00": coe.ExpeditedUpload(0x603F, 0, bytes.fromhex("00a0")),
    "00 30 4f 61 60 00 08 00 00 00": coe.ExpeditedUpload(0x6061, 0, b"\x08"),
    "00 30 41 08 10 00 05 00 00 00 65 52 6f 62 37": coe.NormalUpload(0x1008, 0, 5, b"eRob7"),
    "00 30 51 18 10 00 14 00 00 00 04 00": coe.NormalUpload(
        0x1018, 0, 20, b"\x04\x00", complete=True
    ),
    "00 30 00 01 02 03 04 05 06 07": coe.SegmentUpload(False, False, bytes(range(1, 8))),
    "00 30 1d 30 00 00 00 00 00 00": coe.SegmentUpload(True, True, b"0"),
    "00 20 80 81 23 05 11 00 09 06": coe.Abort(0x2381, 5, AbortCode.NO_SUBINDEX),
    "00 10 00 a0 01 01 02 03 04 05": coe.Emergency(0xA000, 1, bytes([1, 2, 3, 4, 5])),
}


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_is_the_bytes_of_the_specification(text: str) -> None:
    assert REQUESTS[text].encode().hex(" ") == text
    assert coe.decode_request(bytes.fromhex(text)) == REQUESTS[text]


@pytest.mark.parametrize("text", RESPONSES)
def test_a_response_is_the_bytes_of_the_specification(text: str) -> None:
    assert RESPONSES[text].encode().hex(" ") == text
    assert coe.decode_response(bytes.fromhex(text)) == RESPONSES[text]


def test_an_expedited_value_without_a_size_has_four_bytes() -> None:
    found = coe.decode_response(bytes.fromhex("00 30 42 81 23 01 13 00 00 00"))
    assert found == coe.ExpeditedUpload(0x2381, 1, bytes.fromhex("13000000"))


def test_an_abort_that_some_slaves_send_as_a_response_is_decoded() -> None:
    found = coe.decode_response(bytes.fromhex("00 30 80 81 23 05 11 00 09 06"))
    assert found == coe.Abort(0x2381, 5, 0x06090011)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        "00 20",
        "00 20 40 41 60 00 00 00 00",  # a byte short
        "00 20 a0 41 60 00 00 00 00 00",  # command 5
        "00 30 60 81 23 01 00 00 00 00",  # a response
        "00 80 01 00 00 00 00 00 00 00",  # SDO information
        "00 20 20 81 23 01 00 00 00 00",  # normal download that hides its size
        "00 20 21 81 23 01 01 00 00 00 aa bb",  # two bytes of an object of one
    ],
)
def test_bytes_that_are_no_request_are_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        coe.decode_request(bytes.fromhex(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00 30 60",
        "00 10 00 a0 01",  # cut emergency
        "00 20 40 41 60 00 00 00 00 00",  # a request
        "00 30 e0 81 23 01 00 00 00 00",  # command 7
        "00 40 00 00 00 00 00 00 00 00",
    ],
)
def test_bytes_that_are_no_response_are_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        coe.decode_response(bytes.fromhex(text))


@pytest.mark.parametrize("data", [b"", b"12345"])
def test_an_expedited_transfer_refuses_what_it_cannot_carry(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="0x2381:01"):
        coe.ExpeditedDownload(0x2381, 1, data).encode()
    with pytest.raises(ProtocolError, match="0x2381:01"):
        coe.ExpeditedUpload(0x2381, 1, data).encode()


def test_an_emergency_refuses_data_that_is_not_five_bytes() -> None:
    with pytest.raises(ProtocolError, match="5 bytes"):
        coe.Emergency(0xA000, 0, b"1234").encode()


def test_aborts_are_described_known_or_not() -> None:
    assert describe_abort(0x06020000) == "0x06020000 (object does not exist)"
    assert describe_abort(0x12345678) == "0x12345678 (unknown abort code)"
    assert all("unknown abort" not in describe_abort(code) for code in AbortCode)


U8, U16, U32 = (st.integers(0, 2**bits - 1) for bits in (8, 16, 32))
SHORT = st.binary(min_size=1, max_size=4)
LONG = st.binary(max_size=200)
FLAG = st.booleans()


def _sized(kind: type) -> st.SearchStrategy:
    """Normal transfers, whose size is at least the data that is there."""
    return st.tuples(U16, U8, LONG, st.integers(0, 1000), FLAG).map(
        lambda it: kind(it[0], it[1], len(it[2]) + it[3], it[2], it[4])
    )


requests = st.one_of(
    st.builds(coe.ExpeditedDownload, U16, U8, SHORT, FLAG),
    _sized(coe.NormalDownload),
    st.builds(coe.SegmentDownload, FLAG, FLAG, LONG),
    st.builds(coe.UploadRequest, U16, U8, FLAG),
    st.builds(coe.SegmentUploadRequest, FLAG),
    st.builds(coe.Abort, U16, U8, U32),
)
responses = st.one_of(
    st.builds(coe.DownloadResponse, U16, U8, FLAG),
    st.builds(coe.SegmentDownloadResponse, FLAG),
    st.builds(coe.ExpeditedUpload, U16, U8, SHORT, FLAG),
    _sized(coe.NormalUpload),
    st.builds(coe.SegmentUpload, FLAG, FLAG, LONG),
    st.builds(coe.Abort, U16, U8, U32),
    st.builds(coe.Emergency, U16, U8, st.binary(min_size=5, max_size=5)),
)


@given(requests)
def test_every_request_survives_the_wire(request: coe.Request) -> None:
    assert coe.decode_request(request.encode()) == request


@given(responses)
def test_every_response_survives_the_wire(response: coe.Response) -> None:
    assert coe.decode_response(response.encode()) == response


@given(st.binary(max_size=140))
def test_any_bytes_are_a_message_or_a_wire_error(data: bytes) -> None:
    for decode in (coe.decode_request, coe.decode_response):
        try:
            message = decode(data)
        except ProtocolError:
            continue
        assert message is not None
