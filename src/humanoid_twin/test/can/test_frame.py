import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can import bits
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.errors import CanError


@st.composite
def frames(draw) -> CanFrame:
    extended = draw(st.booleans())
    identifier = draw(st.integers(0, (1 << (29 if extended else 11)) - 1))
    if draw(st.booleans()):
        # Stuffing depends on runs of equal bits.
        byte = st.sampled_from([0x00, 0xFF, 0x1F, 0xF8, 0x83]) | st.integers(0, 255)
        return CanFrame(identifier, bytes(draw(st.lists(byte, max_size=8))), extended)
    return CanFrame(identifier, extended=extended, requested=draw(st.integers(0, 8)))


def sent_bits(frame: CanFrame) -> list[int]:
    """Return the bits of ISO 11898-1 from the start of frame to the end of the data."""

    def field(value: int, count: int) -> list[int]:
        return [value >> place & 1 for place in reversed(range(count))]

    remote = [int(frame.requested is not None)]
    if frame.extended:
        head = [0, *field(frame.identifier >> 18, 11), 1, 1]
        head += [*field(frame.identifier & 0x3FFFF, 18), *remote, 0, 0]
    else:
        head = [0, *field(frame.identifier, 11), *remote, 0, 0]
    return head + field(frame.length, 4) + [bit for byte in frame.data for bit in field(byte, 8)]


def checksum(sent: list[int]) -> list[int]:
    """The shift register of the standard."""
    crc = 0
    for bit in sent:
        following = bit ^ (crc >> 14 & 1)
        crc = crc << 1 & 0x7FFF
        if following:
            crc ^= 0x4599
    return [crc >> place & 1 for place in reversed(range(15))]


def stuffed(sent: list[int]) -> list[int]:
    out: list[int] = []
    for bit in sent:
        out.append(bit)
        if len(out) >= 5 and len(set(out[-5:])) == 1:
            out.append(1 - bit)
    return out


@given(frames())
def test_bits_on_the_wire_are_those_of_the_standard_counted_one_by_one(frame):
    sent = sent_bits(frame)
    assert bits.frame_bits(frame) == len(stuffed(sent + checksum(sent)))


def test_extended_frame_of_eight_bytes_has_131_bits_with_its_intermission_and_up_to_29_stuffed():
    unstuffed = len(sent_bits(CanFrame(0x05061609, bytes(range(8))))) + 15
    assert unstuffed + bits.TAIL + bits.INTERMISSION == 131
    worst = max(
        bits.frame_bits(CanFrame(identifier, data)) - 118
        for identifier in (0, 0x1FFFFFFF, 0x07C1F07C)
        for data in (bytes(8), b"\xff" * 8, b"\x0f\x83\xe0\xf8\x3e\x0f\x83\xe0", b"\x78" * 8)
    )
    assert 15 < worst <= 29


@given(frames(), frames())
def test_arbitration_is_won_by_the_first_dominant_bit(a, b):
    width = {True: 32, False: 14}  # up to RTR, r1 in between does not matter

    def arbitration(frame: CanFrame) -> list[int]:
        return sent_bits(frame)[: 1 + width[frame.extended]]

    first, second = arbitration(a), arbitration(b)
    differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    if differing:
        assert (a.priority < b.priority) == (differing[0] == (0, 1))
    else:
        assert a.priority == b.priority


@pytest.mark.parametrize(
    "arguments",
    [
        {"identifier": 1 << 29},
        {"identifier": -1},
        {"identifier": 0x800, "extended": False},
        {"identifier": 1, "data": bytes(9)},
        {"identifier": 1, "data": b"1", "requested": 1},
        {"identifier": 1, "requested": 9},
    ],
    ids=str,
)
def test_frame_that_can_not_be_is_refused(arguments):
    with pytest.raises(CanError):
        CanFrame(**arguments)
