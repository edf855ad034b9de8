"""The frame of process data: its requests to the ring, and the accepted answers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.master.process_frame import ProcessFrame, misplaced
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.frame import Command, Datagram, decode_frame, encode_frame
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES

COUNT = 3
OUTPUTS = bytes(range(1, 1 + COUNT * RX_BYTES))
INPUTS = bytes(range(101, 101 + COUNT * TX_BYTES))
OP = 8


def answered(request: bytes, *counters: int, al: int = OP, inputs: bytes = INPUTS) -> bytes:
    """Return the frame as the ring sends it back."""
    image, clock, states = decode_frame(request)
    sent = [
        Datagram(image.command, image.address, OUTPUTS + inputs, image.index, 0, counters[0]),
        Datagram(
            clock.command, clock.address, struct.pack("<q", 123456789), clock.index, 0, counters[1]
        ),
        Datagram(
            states.command,
            states.address + counters[2],
            struct.pack("<H", al),
            states.index,
            0,
            counters[2],
        ),
    ]
    return encode_frame(sent).ljust(len(request), b"\0")


def test_one_frame_carries_outputs_clock_and_al_states() -> None:
    image, clock, states = decode_frame(ProcessFrame(COUNT).request(77, OUTPUTS))
    assert image == Datagram(Command.LRW, 0, OUTPUTS + bytes(COUNT * TX_BYTES), 77)
    assert clock == Datagram(Command.FRMW, 0x0910_1001, bytes(8), 77)
    assert states == Datagram(Command.BRD, 0x0130_0000, bytes(2), 77)


def test_the_answer_brings_inputs_time_and_states() -> None:
    frame = ProcessFrame(COUNT)
    found = frame.answer(answered(frame.request(16, OUTPUTS), 3 * COUNT, COUNT, COUNT))
    assert found is not None
    assert (found.working_counter, found.inputs) == (3 * COUNT, INPUTS)
    assert (found.dc_time, found.all_in_op) == (123456789, True)


@pytest.mark.parametrize(
    ("count", "al"),
    [(COUNT - 1, OP), (COUNT, 4), (COUNT, OP | 4), (COUNT, OP | 0x10), (0, 0)],
    ids=["one is absent", "all in SAFEOP", "one in SAFEOP", "one with an error", "none"],
)
def test_all_slaves_are_in_op_only_if_each_reports_op_and_nothing_else(count: int, al: int) -> None:
    frame = ProcessFrame(COUNT)
    found = frame.answer(answered(frame.request(16, OUTPUTS), 9, 3, count, al=al))
    assert found is not None
    assert not found.all_in_op


def test_slaves_that_take_no_part_leave_their_kept_inputs() -> None:
    frame = ProcessFrame(COUNT)
    frame.keep(INPUTS)
    image, _, _ = decode_frame(frame.request(16, OUTPUTS))
    assert image.data == OUTPUTS + INPUTS


@given(st.integers(16, 255), st.integers(16, 255))
def test_an_answer_to_another_request_is_not_accepted(index: int, other: int) -> None:
    frame = ProcessFrame(COUNT)
    late = answered(frame.request(other, OUTPUTS), 9, 3, 3)
    frame.request(index, OUTPUTS)
    assert (frame.answer(late) is None) == (index != other)


@given(st.binary(max_size=200))
def test_process_frame_accepts_no_arbitrary_bytes(junk: bytes) -> None:
    frame = ProcessFrame(COUNT)
    sent = frame.request(16, OUTPUTS)
    assert frame.answer(junk) is None
    assert frame.answer(sent[:12] + junk) is None


@given(st.integers(0, 2), st.sampled_from([0, 1, 6, 7]), st.integers(1, 255))
def test_a_datagram_of_another_kind_index_or_length_is_not_accepted(
    number: int, offset: int, change: int
) -> None:
    frame = ProcessFrame(COUNT)
    answer = bytearray(answered(frame.request(16, OUTPUTS), 9, 3, 3))
    sizes = [COUNT * (RX_BYTES + TX_BYTES), 8, 2]
    at = 16 + sum(12 + size for size in sizes[:number]) + offset
    answer[at] ^= change
    assert frame.answer(bytes(answer)) is None


def test_outputs_of_another_length_and_too_many_slaves_are_refused() -> None:
    with pytest.raises(ValueError, match="5 bytes of outputs for 3 slaves"):
        ProcessFrame(COUNT).request(16, bytes(5))
    with pytest.raises(ProtocolError, match="1514 bytes at most"):
        ProcessFrame(100)


def fmmus(place: int, count: int = COUNT) -> bytes:
    """Return two FMMUs as SOEM writes them."""
    outputs = struct.pack("<IHBBHBBB3x", place * RX_BYTES, RX_BYTES, 0, 7, 0x1100, 0, 2, 1)
    inputs = struct.pack(
        "<IHBBHBBB3x", count * RX_BYTES + place * TX_BYTES, TX_BYTES, 0, 7, 0x1400, 0, 1, 1
    )
    return outputs + inputs


def test_process_data_elsewhere_than_in_the_frame_is_found() -> None:
    right = [fmmus(place) for place in range(COUNT)]
    assert misplaced(right) is None
    assert misplaced([right[0], right[2], right[1]]) == 1
    assert misplaced([*right[:2], bytes(32)]) == 2
    assert misplaced([right[0][:16] * 2, *right[1:]]) == 0  # no inputs
