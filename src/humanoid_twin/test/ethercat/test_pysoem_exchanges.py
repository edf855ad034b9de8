"""Both ends of CoE against messages of an unmodified pysoem 1.1, with mailboxes of 32 bytes.

The requests are bytes of pysoem, so they show an error that stack and virtual robot share.
"""

import pytest

from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.mailbox import MailboxType, decode_mailbox, encode_mailbox
from humanoid_twin.ethercat.coe.coe import SdoServer
from humanoid_twin.ethercat.coe.dictionary import Access, Entry, ObjectDictionary, TypeCode

CAPACITY = 26  # [bytes] of a mailbox of 32, without its header
EXPEDITED_UP = [
    ("0a 00 00 00 00 13 00 20 40 41 60 00 00 00 00 00", coe.UploadRequest(0x6041, 0)),
    ("0a 00 00 00 00 13 00 30 4b 41 60 00 50 02 00 00", coe.ExpeditedUpload(0x6041, 0, b"P\2")),
]
EXPEDITED_DOWN = [
    (
        "0a 00 00 00 00 33 00 20 23 81 23 01 13 00 00 00",
        coe.ExpeditedDownload(0x2381, 1, b"\x13\0\0\0"),
    ),
    ("0a 00 00 00 00 33 00 30 60 81 23 01 00 00 00 00", coe.DownloadResponse(0x2381, 1)),
]
SEGMENTED_UP = [
    (
        "0a 00 00 00 00 73 00 20 50 18 10 00 00 00 00 00",
        coe.UploadRequest(0x1018, 0, complete=True),
    ),
    (
        "1a 00 00 00 00 73 00 30 51 18 10 00 12 00 00 00"
        " 04 00 6f 72 65 5a 52 92 02 00 01 00 00 00 00 00",
        coe.NormalUpload(0x1018, 0, 18, b"\4\0oreZ\x52\x92\2\0\1\0\0\0\0\0", complete=True),
    ),
    ("0a 00 00 00 00 13 00 20 60 18 10 00 00 00 00 00", coe.SegmentUploadRequest(False)),
    ("0a 00 00 00 00 13 00 30 0b 00 00 00 00 00 00 00", coe.SegmentUpload(False, True, b"\0\0")),
]
SEGMENTED_DOWN = [
    (
        "1a 00 00 00 00 43 00 20 21 81 23 01 14 00 00 00" + 16 * " 78",
        coe.NormalDownload(0x2381, 1, 20, 16 * b"x"),
    ),
    ("0a 00 00 00 00 43 00 30 60 81 23 01 00 00 00 00", coe.DownloadResponse(0x2381, 1)),
    ("0a 00 00 00 00 53 00 20 07 78 78 78 78 00 00 00", coe.SegmentDownload(False, True, b"xxxx")),
    ("0a 00 00 00 00 53 00 20 80 81 23 01 12 00 07 06", coe.Abort(0x2381, 1, 0x06070012)),
]
ABORTED = [
    ("0a 00 00 00 00 73 00 20 40 55 55 00 00 00 00 00", coe.UploadRequest(0x5555, 0)),
    ("0a 00 00 00 00 73 00 20 80 55 55 00 00 00 02 06", coe.Abort(0x5555, 0, 0x06020000)),
]
EXCHANGES = [EXPEDITED_UP, EXPEDITED_DOWN, SEGMENTED_UP, SEGMENTED_DOWN, ABORTED]
NAMES = ["expedited up", "expedited down", "segmented up", "segmented down", "aborted"]
# pysoem reported code 0x8400, error register 0.
EMERGENCY = "0a 00 00 00 00 13 00 10 00 84 00 00 00 00 00 00"
# Reserved bytes of a request: pysoem leaves the index of the object there, the stack zeros.
SPARE = {"0a 00 00 00 00 13 00 20 60 18 10 00 00 00 00 00": (9, 11)}


def mail(text: str) -> tuple[int, bytes]:
    """Counter and payload of a message."""
    header, payload = decode_mailbox(bytes.fromhex(text))
    assert header.type == MailboxType.COE
    return header.counter, payload


@pytest.mark.parametrize("exchange", EXCHANGES, ids=NAMES)
def test_a_master_reads_and_writes_what_pysoem_did(exchange) -> None:
    for place, (text, message) in enumerate(exchange):
        counter, payload = mail(text)
        if place % 2:
            assert coe.decode_response(payload) == message
            assert encode_mailbox(message.encode(), counter=counter).hex(" ") == text
            continue
        assert coe.decode_request(payload) == message
        expected = bytearray.fromhex(text)
        first, last = SPARE.get(text, (0, 0))
        expected[first:last] = bytes(last - first)
        assert encode_mailbox(message.encode(), counter=counter) == expected


@pytest.mark.parametrize("exchange", EXCHANGES, ids=NAMES)
def test_a_drive_answers_pysoem_as_it_did(exchange) -> None:
    dictionary = ObjectDictionary()
    written = []
    statusword = Entry(name="statusword", type=TypeCode.U16, get=lambda: 0x0250)
    dictionary.add_variable(0x6041, statusword)
    gain = Entry(
        name="gain", type=TypeCode.I32, access=Access.RW, get=lambda: 0, set=written.append
    )
    dictionary.add_record(0x2381, "gains", {1: gain})
    numbers = {1: 0x5A65726F, 2: 0x00029252, 3: 1, 4: 0}
    members = {
        sub: Entry(name="number", type=TypeCode.U32, get=lambda value=value: value)
        for sub, value in numbers.items()
    }
    dictionary.add_record(0x1018, "identity", members)
    server = SdoServer(dictionary, lambda accessed: None)
    for (asked, _), (answered, _) in zip(exchange[::2], exchange[1::2], strict=True):
        assert server.answer(mail(asked)[1], CAPACITY) == mail(answered)[1]
    assert written == ([19] if exchange is EXPEDITED_DOWN else [])


def test_an_emergency_is_reported_as_by_pysoem() -> None:
    emergency = coe.Emergency(0x8400, 0)
    counter, payload = mail(EMERGENCY)
    assert coe.decode_response(payload) == emergency
    assert encode_mailbox(emergency.encode(), counter=counter).hex(" ") == EMERGENCY
