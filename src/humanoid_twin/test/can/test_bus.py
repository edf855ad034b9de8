import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can import bits
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.disturbance import NEVER
from humanoid_twin.can.frame import CanFrame

MICROSECOND = 1_000  # [ns], one bit at 1 Mbit/s


def wire_time(frame: CanFrame) -> int:
    """Return the duration until the end of frame [ns] at 1 Mbit/s."""
    return (bits.frame_bits(frame) + bits.TAIL) * MICROSECOND


def test_idle_bus_has_no_events(bench):
    bench.node()
    assert bench.bus.next_event == NEVER
    bench.run(5)
    assert bench.bus.now == 5_000_000


def test_frame_arrives_at_all_others_after_its_bits_and_not_at_its_sender(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    frame = CanFrame(0x05061601, b"\x09\x05\x05\0\0\0\0\0")
    bench.bus.run(1000)
    assert a.controller.send(frame, 1000)
    bench.bus.run(1000 + wire_time(frame) - 1)
    assert not b.got
    bench.bus.run(1000 + wire_time(frame))
    assert b.got == c.got == [(1000 + wire_time(frame), frame)]
    assert not a.got


@given(st.lists(st.integers(0, (1 << 29) - 1), min_size=2, max_size=12, unique=True))
def test_waiting_frames_go_out_lowest_identifier_first_back_to_back(identifiers):
    bus = VirtualCanBus()
    got = []
    bus.attach(lambda frame, now: got.append((now, frame)))
    for identifier in identifiers:
        bus.attach(lambda *_: None).send(CanFrame(identifier), 0)
    bus.run(100_000_000)
    assert [frame.identifier for _, frame in got] == sorted(identifiers)
    end = -3 * MICROSECOND
    for now, frame in got:
        end += 3 * MICROSECOND + wire_time(frame)
        assert now == end


def test_frame_on_the_wire_is_not_interrupted_by_a_more_urgent_one(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    bench.send(a, 0x700)
    bench.run(0.05)
    bench.send(b, 0x100)
    bench.run(1)
    assert [frame.identifier for frame in c.frames] == [0x700, 0x100]


def test_standard_frame_wins_against_an_extended_one_with_the_same_first_bits(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    extended, standard = CanFrame(0x123 << 18), CanFrame(0x123, extended=False)
    a.controller.send(extended, 0)
    b.controller.send(standard, 0)
    bench.run(1)
    assert c.frames == [standard, extended]


def test_frames_of_one_node_keep_their_order_for_any_identifiers(bench):
    a, b = bench.node(), bench.node()
    for identifier in (5, 3, 9, 1):
        bench.send(a, identifier)
    bench.run(1)
    assert [frame.identifier for frame in b.frames] == [5, 3, 9, 1]


def test_bus_load_is_what_the_frames_take(bench):
    a, _ = bench.node(), bench.node()
    frame = CanFrame(0x05061609, bytes(range(8)))
    for _ in range(4):
        a.controller.send(frame, bench.bus.now)
        bench.run(1)
    assert bench.bus.counters.frames == 4
    assert bench.bus.counters.busy == 4 * (wire_time(frame) + 3 * MICROSECOND)


def test_lower_bit_rate_takes_longer(bench):
    a, b = bench.node(), bench.node()
    for node in (a, b):
        node.controller.set(bitrate=500_000)
    frame = CanFrame(1)
    a.controller.send(frame, 0)
    bench.run(1)
    assert b.got == [(2 * wire_time(frame), frame)]


def test_queue_holds_ten_frames_and_refuses_the_next(bench):
    a, _ = bench.node(), bench.node()
    assert [bench.send(a, number) for number in range(11)] == [True] * 10 + [False]
    assert a.causes == ["OVERRUN"]
    bench.run(0.2)  # one got through
    assert bench.send(a, 11)


@pytest.mark.parametrize("count", [1, 3])
def test_frame_destroyed_on_the_wire_is_repeated_until_it_gets_through(bench, count):
    a, b = bench.node(), bench.node()
    bench.bus.disturbance.corrupt_next = count
    bench.send(a, 7)
    bench.run(2)
    assert [frame.identifier for frame in b.frames] == [7]
    assert bench.bus.counters.error_frames == count
    assert a.controller.tec == 8 * count - 1
    assert b.controller.rec == count - 1


def test_lost_frames_are_acknowledged_but_not_received(bench):
    a, b = bench.node(), bench.node()
    bench.bus.disturbance.lost_probability = 1.0
    bench.send(a, 7)
    bench.run(1)
    assert not b.got
    assert (bench.bus.counters.frames, bench.bus.counters.lost) == (1, 1)
    assert a.controller.tec == 0


def test_node_in_listen_only_mode_gets_frames_and_sends_none(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    c.controller.set(listens_only=True)
    assert not bench.send(c, 1)
    bench.send(a, 2)
    bench.run(1)
    assert [frame.identifier for frame in c.frames] == [2]
    assert b.got
