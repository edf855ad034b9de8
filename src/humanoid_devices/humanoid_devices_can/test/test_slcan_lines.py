"""The lines of slcan: a frame comes back as it was sent, and a damaged line is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_can.bus.bus import BusSettings, CanFrame, DataFrame, InvalidFrame
from humanoid_devices_can.bus.slcan_lines import flags_of, frame_lines, frame_of, opening_commands

LONG = BusSettings("slcan", "x", 1_000_000)
SHORT = BusSettings("slcan", "x", 1_000_000, extended=False)
DIGITS = b"0123456789ABCDEFabcdef"
STAMP_DIGITS = 4
PAYLOADS = st.binary(max_size=8)
SENT = st.one_of(
    st.tuples(st.just(LONG), st.tuples(st.integers(0, 2**29 - 1), PAYLOADS)),
    st.tuples(st.just(SHORT), st.tuples(st.integers(0, 2**11 - 1), PAYLOADS)),
)
Sent = tuple[BusSettings, CanFrame]


def line_of(sent: Sent) -> bytes:
    """Return the line of a frame without its end."""
    settings, frame = sent
    return frame_lines([frame], extended=settings.extended).removesuffix(b"\r")


def is_refused(line: bytes, settings: BusSettings) -> bool:
    return isinstance(frame_of(line, settings), InvalidFrame)


@given(SENT)
def test_frame_comes_back_as_it_was_sent(sent: Sent) -> None:
    settings, frame = sent
    assert frame_of(line_of(sent), settings) == DataFrame(*frame)


@given(SENT)
def test_digits_may_be_small(sent: Sent) -> None:
    settings, frame = sent
    line = line_of(sent)
    assert frame_of(line[:1] + line[1:].lower(), settings) == DataFrame(*frame)


@given(st.lists(st.tuples(st.integers(0, 2**11 - 1), PAYLOADS)))
def test_each_frame_has_a_line_of_its_own(frames: list[CanFrame]) -> None:
    *lines, rest = frame_lines(frames, extended=False).split(b"\r")
    assert rest == b""
    assert [frame_of(line, SHORT) for line in lines] == [DataFrame(*frame) for frame in frames]


def test_line_of_an_extended_frame_is_that_of_the_manual() -> None:
    assert frame_lines([(0x100, b"\xaa\x55")], extended=True) == b"T000001002AA55\r"


def test_line_of_a_standard_frame_is_that_of_the_manual() -> None:
    assert frame_lines([(0x100, b"\x11\x22\x33")], extended=False) == b"t1003112233\r"


@given(SENT, st.binary(min_size=2, max_size=2))
def test_time_stamp_behind_a_frame_is_no_data(sent: Sent, stamp: bytes) -> None:
    settings, frame = sent
    assert frame_of(line_of(sent) + stamp.hex().encode(), settings) == DataFrame(*frame)


@given(SENT, st.data())
def test_line_of_another_length_is_refused(sent: Sent, data: st.DataObject) -> None:
    settings, _ = sent
    line = line_of(sent)
    lengths = st.integers(1, len(line) + 9).filter(
        lambda it: it not in (len(line), len(line) + STAMP_DIGITS)
    )
    length = data.draw(lengths)
    assert is_refused(line.ljust(length, b"0")[:length], settings)


@given(SENT, st.data())
def test_character_that_is_no_digit_is_refused(sent: Sent, data: st.DataObject) -> None:
    settings, _ = sent
    line = line_of(sent) + data.draw(st.sampled_from([b"", b"12AB"]), "stamp")
    at = data.draw(st.integers(1, len(line) - 1), "place")
    character = data.draw(st.integers(0, 255).filter(lambda it: it not in DIGITS), "character")
    assert is_refused(line[:at] + bytes([character]) + line[at + 1 :], settings)


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        (b"T0x0616B10", LONG),  # a prefix, a sign, a blank and an underscore, as int() takes them
        (b"T+50616B10", LONG),
        (b"T 50616B10", LONG),
        (b"T05_616B10", LONG),
        (b"t+010", SHORT),
        (b"T050616B12AA55    ", LONG),  # instead of a time stamp
        (b"T050616B12AA55_1AB", LONG),
    ],
)
def test_character_that_python_would_skip_is_no_digit(line: bytes, settings: BusSettings) -> None:
    assert is_refused(line, settings)


@given(SENT, st.integers(9, 15))
def test_more_than_eight_bytes_are_refused(sent: Sent, size: int) -> None:
    settings, (identifier, _) = sent
    head = line_of((settings, (identifier, b"")))[:-1]
    assert is_refused(head + b"%X" % size + bytes(size).hex().encode(), settings)


@given(st.integers(2**29, 2**32 - 1))
def test_identifier_of_more_than_29_bits_is_refused(identifier: int) -> None:
    assert is_refused(b"T%08X0" % identifier, LONG)


@given(st.integers(2**11, 2**12 - 1))
def test_identifier_of_more_than_11_bits_is_refused(identifier: int) -> None:
    assert is_refused(b"t%03X0" % identifier, SHORT)


@given(SENT)
def test_identifier_of_the_other_length_is_refused_with_its_length(sent: Sent) -> None:
    settings, _ = sent
    other, bits = (SHORT, 29) if settings.extended else (LONG, 11)
    received = frame_of(line_of(sent), other)
    assert isinstance(received, InvalidFrame)
    assert f"has {bits} bits; motors send" in received.reason


@pytest.mark.parametrize("letter", [b"r", b"d", b"b"])
@given(SENT)
def test_remote_and_fd_frames_are_refused(letter: bytes, sent: Sent) -> None:
    settings, _ = sent
    line = line_of(sent)
    changed = letter.upper() if settings.extended else letter
    received = frame_of(changed + line[1:], settings)
    assert isinstance(received, InvalidFrame)
    assert "remote or FD frame" in received.reason


@given(SENT)
def test_x_of_a_candapter_is_an_extended_frame(sent: Sent) -> None:
    settings, frame = sent
    line = b"x" + line_of(sent)[1:]
    if settings.extended:
        assert frame_of(line, settings) == DataFrame(*frame)
        assert is_refused(line + b"0", settings)
    else:
        assert is_refused(line, settings)


def test_an_answer_without_text_is_no_frame() -> None:
    assert frame_of(b"", LONG) is None


@given(SENT)
def test_a_frame_without_its_first_character_is_refused(sent: Sent) -> None:
    settings, _ = sent
    assert is_refused(line_of(sent)[1:], settings)


@pytest.mark.parametrize("line", [b"N1234", b"hello", b"\nT050616B10", b"\xff\xfe"])
def test_text_that_no_request_asks_for_is_refused(line: bytes) -> None:
    assert is_refused(line, LONG)


@given(st.integers(0, 255))
def test_flags_are_two_digits(flags: int) -> None:
    assert flags_of(b"F%02X" % flags) == flags


@pytest.mark.parametrize("line", [b"F", b"F0", b"F0A0", b"F0A0A", b"FZZ", b"F+1", b"F 1"])
def test_damaged_flags_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=""):
        flags_of(line)


def test_an_unknown_bitrate_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="250000, 500000"):
        opening_commands(300_000)
