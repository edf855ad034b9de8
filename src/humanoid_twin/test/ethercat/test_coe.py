"""The SDO server: values of any size arrive complete, and it survives any bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_twin.ethercat.coe.coe import SdoServer
from humanoid_twin.ethercat.coe.dictionary import Access, Entry, ObjectDictionary, TypeCode

TEXT, NUMBER, RECORD, SECRET = 0x2000, 0x2001, 0x2002, 0x2003
CAPACITY = 122  # [bytes] of a mailbox of 128


class Store:
    """A dictionary with one object of each kind, and a master."""

    def __init__(self, text: bytes = b"") -> None:
        self.values = {"text": text, "number": 0, "first": 1, "second": 2}
        self.accesses = []
        self.dictionary = ObjectDictionary()
        add = self.dictionary.add_variable
        add(TEXT, self._entry("text", TypeCode.VISIBLE_STRING, longest=3000))
        add(NUMBER, self._entry("number", TypeCode.I16))
        add(SECRET, self._entry("number", TypeCode.I16, access=Access.WO))
        members = {1: self._entry("first", TypeCode.U8), 2: self._entry("second", TypeCode.I32)}
        self.dictionary.add_record(RECORD, "record", members)
        self.server = SdoServer(self.dictionary, self.accesses.append)

    def _entry(self, name, kind, access=Access.RW, longest=0):
        return Entry(
            name=name, type=kind, access=access, longest=longest,
            get=lambda: self.values[name], set=lambda value: self.values.update({name: value}),
        )  # fmt: skip

    def ask(self, request, capacity=CAPACITY):
        answer = self.server.answer(request.encode(), capacity)
        assert answer is None or len(answer) <= capacity
        return None if answer is None else coe.decode_response(answer)

    def upload(self, index, capacity=CAPACITY, complete=False):
        answer = self.ask(coe.UploadRequest(index, 0, complete), capacity)
        if isinstance(answer, coe.ExpeditedUpload):
            return answer.data
        data, toggle = answer.data, False
        while len(data) < answer.size:
            segment = self.ask(coe.SegmentUploadRequest(toggle), capacity)
            assert segment.toggle == toggle
            data += segment.data
            toggle = not toggle
            assert segment.last == (len(data) == answer.size)
        return data

    def download(self, index, data, piece, subindex=0):
        first = coe.NormalDownload(index, subindex, len(data), data[:piece])
        answers, rest, toggle = [self.ask(first)], data[piece:], False
        while rest:
            segment = coe.SegmentDownload(toggle, len(rest) <= piece, rest[:piece])
            answers.append(self.ask(segment))
            rest, toggle = rest[piece:], not toggle
        return answers


def code_of(answer) -> int:
    assert isinstance(answer, coe.Abort), answer
    return answer.code


@given(st.binary(min_size=1, max_size=2000), st.integers(26, 1500))
def test_a_value_of_any_size_is_read_whole(text, capacity):
    assert Store(text).upload(TEXT, capacity) == text


@given(st.binary(min_size=1, max_size=2000), st.integers(8, 600))
def test_a_value_of_any_size_is_written_whole(text, piece):
    store = Store()
    assert not any(isinstance(answer, coe.Abort) for answer in store.download(TEXT, text, piece))
    assert store.values["text"] == text


@given(st.integers(-32768, 32767))
def test_a_number_is_written_and_read_expedited(number):
    store = Store()
    data = number.to_bytes(2, "little", signed=True)
    answer = store.ask(coe.ExpeditedDownload(NUMBER, 0, data))
    assert answer == coe.DownloadResponse(NUMBER, 0)
    assert store.values["number"] == number
    assert store.ask(coe.UploadRequest(NUMBER, 0)) == coe.ExpeditedUpload(NUMBER, 0, data)


def test_an_empty_value_is_read_as_nothing():
    assert Store(b"").ask(coe.UploadRequest(TEXT, 0)) == coe.NormalUpload(TEXT, 0, 0, b"")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (coe.UploadRequest(0x5555, 0), AbortCode.NO_OBJECT),
        (coe.UploadRequest(RECORD, 3), AbortCode.NO_SUBINDEX),
        (coe.UploadRequest(SECRET, 0), AbortCode.WRITE_ONLY),
        (coe.UploadRequest(NUMBER, 0, complete=True), AbortCode.NO_COMPLETE_ACCESS),
        (coe.ExpeditedDownload(RECORD, 0, b"\2"), AbortCode.READ_ONLY),
        (coe.ExpeditedDownload(NUMBER, 0, b"\2"), AbortCode.TOO_SHORT),
        (coe.ExpeditedDownload(NUMBER, 0, b"\2\0\0"), AbortCode.TOO_LONG),
        (coe.NormalDownload(TEXT, 0, 10**6, b"abc"), AbortCode.OUT_OF_MEMORY),
        (coe.SegmentUploadRequest(False), AbortCode.COMMAND),
        (coe.SegmentDownload(False, True, b"abc"), AbortCode.COMMAND),
    ],
    ids=str,
)
def test_invalid_sdo_request_is_aborted_with_its_code(request_, code):
    assert code_of(Store().ask(request_)) == code


def test_a_refused_value_changes_nothing():
    store = Store()
    store.values["number"] = 7
    store.ask(coe.ExpeditedDownload(NUMBER, 0, b"\2"))
    assert store.values["number"] == 7


def test_an_abort_travels_as_a_request():
    answer = Store().server.answer(coe.UploadRequest(0x5555, 3).encode(), CAPACITY)
    assert answer == bytes.fromhex("00 20 80 55 55 03 00 00 02 06")


@pytest.mark.parametrize("upload", [True, False])
def test_a_wrong_toggle_bit_ends_the_transfer(upload):
    store = Store(bytes(500))
    if upload:
        store.ask(coe.UploadRequest(TEXT, 0))
        first, second = coe.SegmentUploadRequest(True), coe.SegmentUploadRequest(False)
    else:
        store.ask(coe.NormalDownload(TEXT, 0, 500, bytes(100)))
        first, second = (coe.SegmentDownload(toggle, False, bytes(100)) for toggle in (True, False))
    assert code_of(store.ask(first)) == AbortCode.TOGGLE
    assert code_of(store.ask(second)) == AbortCode.COMMAND
    assert store.values["text"] == bytes(500)


@pytest.mark.parametrize(("sent", "code"), [(5, AbortCode.TOO_SHORT), (25, AbortCode.TOO_LONG)])
def test_segments_must_make_up_the_announced_size(sent, code):
    store = Store(b"old")
    store.ask(coe.NormalDownload(TEXT, 0, 20, b"0123456789"))
    assert code_of(store.ask(coe.SegmentDownload(False, True, bytes(sent)))) == code
    assert store.values["text"] == b"old"


def test_the_masters_abort_ends_a_transfer_without_an_answer():
    store = Store(bytes(500))
    store.ask(coe.UploadRequest(TEXT, 0))
    assert store.ask(coe.Abort(TEXT, 0, AbortCode.GENERAL)) is None
    assert code_of(store.ask(coe.SegmentUploadRequest(False))) == AbortCode.COMMAND


def test_a_record_is_read_as_a_whole_with_its_count_in_two_bytes():
    assert Store().upload(RECORD, complete=True) == bytes.fromhex("02 00 01 02 00 00 00")


def test_a_record_is_written_from_subindex_1_on():
    store = Store()
    store.ask(coe.NormalDownload(RECORD, 1, 5, b"\x09\xff\xff\xff\xff", complete=True))
    assert (store.values["first"], store.values["second"]) == (9, -1)
    answer = store.ask(coe.NormalDownload(RECORD, 1, 6, bytes(6), complete=True))
    assert code_of(answer) == AbortCode.TOO_LONG


def test_each_access_is_reported_once_with_its_end():
    store = Store()
    store.download(TEXT, b"x" * 50, 20)
    store.upload(TEXT)
    store.ask(coe.ExpeditedDownload(NUMBER, 0, b"\2"))
    found = [(access.write, access.index, access.abort) for access in store.accesses]
    assert found == [(True, TEXT, 0), (False, TEXT, 0), (True, NUMBER, AbortCode.TOO_SHORT)]


@given(st.lists(st.binary(max_size=130), max_size=20))
def test_any_bytes_are_answered_or_called_no_request(messages):
    store = Store(bytes(300))
    for message in messages:
        try:
            answer = store.server.answer(message, CAPACITY)
        except ProtocolError:
            continue
        assert answer is None or len(answer) <= CAPACITY
    assert store.upload(NUMBER) == b"\0\0" or store.values["number"] != 0


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=120)), max_size=20))
def test_any_sdo_command_is_answered_with_an_sdo_message(commands):
    store = Store(bytes(300))
    for command, rest in commands:
        answer = store.server.answer(bytes([0, 0x20, command]) + rest, CAPACITY)
        if answer is None:
            assert command >> 5 == 4  # an abort, the only message with no answer
        else:
            coe.decode_response(answer)
