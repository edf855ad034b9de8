"""The transmit queue is limited: it keeps the newest frame of each kind, orders first."""

from __future__ import annotations

from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_can.session.transmit_queue import BURST, Item, Kind, RateLimit, TransmitQueue


def item(motor: int, text: str, kind: Kind = Kind.COMMAND, since: float = 0.0) -> Item:
    return Item(kind, motor, (motor, text.encode()), since)


def taken(transmit_queue: TransmitQueue) -> list[str]:
    texts = []
    while found := transmit_queue.take():
        texts += texts_of(found)
        transmit_queue.settle(len(found))
    return texts


def texts_of(items: list[Item]) -> list[str]:
    return [item.frame[1].decode() for item in items]


def test_newer_command_takes_the_place_of_the_one_that_waits() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "old 0"), item(1, "old 1")])
    transmit_queue.put([item(1, "new 1"), item(0, "new 0")])
    assert taken(transmit_queue) == ["new 0", "new 1"]


def test_gains_and_commands_of_a_motor_keep_their_order_whatever_waited() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "old"), item(0, "stiff", Kind.GAINS), item(1, "1")])
    transmit_queue.put([item(0, "soft", Kind.GAINS), item(0, "new")])
    assert taken(transmit_queue) == ["soft", "new", "1"]


def test_gains_that_were_not_sent_stay_before_the_newer_command() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "soft", Kind.GAINS), item(0, "old")])
    transmit_queue.take()
    transmit_queue.put([item(0, "new")])
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["soft", "new"]


def test_gains_that_were_not_sent_stay_before_their_command_although_others_follow() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "low", Kind.GAINS), item(0, "new"), item(0, "high", Kind.GAINS)])
    transmit_queue.take()
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["low", "new", "high"]


def test_gains_that_were_not_sent_make_way_for_newer_ones() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "low", Kind.GAINS), item(0, "old"), item(0, "high", Kind.GAINS)])
    transmit_queue.take()
    transmit_queue.put([item(0, "new"), item(0, "other", Kind.GAINS)])
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["new", "other"]


def test_orders_go_first_and_are_not_replaced() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "go")])
    transmit_queue.order(0, [(0, b"a"), (0, b"b")], 0.0)
    transmit_queue.order(0, [(0, b"c")], 0.0)
    assert taken(transmit_queue) == ["a", "b", "c", "go"]


def test_frame_that_was_not_sent_goes_first_again() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0"), item(1, "1")])
    transmit_queue.take()
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["0", "1"]
    transmit_queue.order(0, [(0, b"a"), (0, b"b")], 0.0)
    transmit_queue.take()
    assert transmit_queue.orders_waiting()
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["a", "b"]
    assert not transmit_queue.orders_waiting()


def test_frame_that_was_not_sent_makes_way_for_a_newer_one() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "old", since=1.0)])
    transmit_queue.take()
    transmit_queue.put([item(0, "new", since=2.0)])
    transmit_queue.settle(0)
    assert transmit_queue.waiting_since() == 1.0
    assert taken(transmit_queue) == ["new"]
    assert transmit_queue.waiting_since() is None


def test_waiting_is_counted_from_the_first_frame_in_a_place() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "old", since=1.0)])
    transmit_queue.put([item(0, "new", since=2.0)])
    assert transmit_queue.waiting_since() == 1.0
    transmit_queue.take()
    assert transmit_queue.waiting_since() == 1.0
    transmit_queue.settle(1)
    assert transmit_queue.waiting_since() is None


def test_waiting_is_that_of_the_motor_that_waits_longest() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0", since=2.0)])
    transmit_queue.put([item(1, "1", since=3.0)])
    assert transmit_queue.waiting_since() == 2.0
    transmit_queue.take()
    assert transmit_queue.waiting_since() == 2.0
    transmit_queue.settle(1)
    assert transmit_queue.waiting_since() == 3.0


def test_waiting_frames_of_some_motors_can_be_cleared() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0"), item(1, "1")])
    transmit_queue.order(1, [(1, b"order")], 0.0)
    transmit_queue.clear([1])
    assert taken(transmit_queue) == ["0"]
    transmit_queue.put([item(0, "0")])
    transmit_queue.order(0, [(0, b"order")], 0.0)
    transmit_queue.clear()
    assert taken(transmit_queue) == []


@pytest.mark.parametrize("motors", [None, [0]], ids=["all", "one"])
def test_frames_that_were_cleared_do_not_come_back_when_they_cannot_be_sent(motors) -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "stale"), item(0, "stale gains", Kind.GAINS)])
    transmit_queue.take()
    transmit_queue.clear(motors)
    transmit_queue.order(0, [(0, b"enable")], 1.0)
    transmit_queue.settle(0)
    assert transmit_queue.waiting_since() is None
    assert taken(transmit_queue) == ["enable"]


def test_clearing_one_motor_leaves_what_is_being_sent_to_another() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0"), item(1, "1")])
    transmit_queue.take()
    transmit_queue.clear([1])
    transmit_queue.settle(0)
    assert taken(transmit_queue) == ["0"]


def test_several_frames_are_taken_together_in_their_order() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0"), item(1, "low", Kind.GAINS), item(1, "1"), item(2, "2")])
    transmit_queue.order(2, [(2, b"a"), (2, b"b")], 0.0)
    assert texts_of(transmit_queue.take(1)) == ["a"]
    transmit_queue.settle(1)
    assert texts_of(transmit_queue.take(4)) == ["b", "0", "low", "1"]
    assert transmit_queue.orders_waiting()
    transmit_queue.settle(2)
    assert not transmit_queue.orders_waiting()
    assert taken(transmit_queue) == ["low", "1", "2"]


def test_of_frames_taken_together_the_first_unsent_one_stays_before_a_newer_command() -> None:
    transmit_queue = TransmitQueue(Event())
    batch = [item(0, "low", Kind.GAINS), item(0, "old"), item(0, "high", Kind.GAINS)]
    for sent, newer, expected in (
        (0, Kind.COMMAND, ["low", "newer"]),
        (0, Kind.GAINS, ["newer"]),
        (1, Kind.GAINS, ["old", "newer"]),
        (1, Kind.COMMAND, ["newer"]),
        (2, Kind.COMMAND, ["high", "newer"]),
        (3, Kind.COMMAND, ["newer"]),
    ):
        transmit_queue.put(batch)
        assert len(transmit_queue.take(5)) == 3
        transmit_queue.put([item(0, "newer", newer, since=9.0)])
        transmit_queue.settle(sent)
        assert transmit_queue.waiting_since() == (0.0 if sent < 3 else 9.0)
        assert taken(transmit_queue) == expected


def test_of_frames_taken_together_those_that_were_cleared_do_not_come_back() -> None:
    transmit_queue = TransmitQueue(Event())
    transmit_queue.put([item(0, "0"), item(1, "1"), item(2, "2")])
    transmit_queue.order(1, [(1, b"order")], 0.0)
    assert len(transmit_queue.take(4)) == 4
    transmit_queue.clear([1])
    assert not transmit_queue.orders_waiting()
    transmit_queue.settle(2)
    assert taken(transmit_queue) == ["2"]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), max_size=60),
)
def test_frames_taken_together_are_sent_once_each_newest_last(steps) -> None:
    """Any number of frames that the adapter takes, and any frames that are put meanwhile."""
    transmit_queue, newest, sent = TransmitQueue(Event()), {}, []
    for number, (motor, most, room) in enumerate(steps):
        found = texts_of(transmit_queue.take(most))
        transmit_queue.put([item(motor, str(number))])
        newest[motor] = str(number)
        transmit_queue.settle(min(room, len(found)))
        sent += found[:room]
    sent += taken(transmit_queue)
    assert len(sent) == len(set(sent))
    for motor, number in newest.items():
        of_motor = [it for it in sent if steps[int(it)][0] == motor]
        assert of_motor[-1] == number
        assert of_motor == sorted(of_motor, key=int)


def test_a_pace_has_room_for_a_burst_and_then_for_one_frame_after_another() -> None:
    limit = RateLimit(1_000_000)
    now = 10.0
    assert (limit.room(now), limit.wait(now)) == (BURST, 0.0)
    for left in reversed(range(BURST)):
        limit.sent(now)
        assert limit.room(now) == left
    now += limit.wait(now) + 1e-9
    assert (limit.room(now), limit.wait(now)) == (1, 0.0)
    limit.sent(now)
    assert limit.room(now) == 0
    assert limit.room(now + 1.0) == BURST


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_no_motor_starves_and_nothing_piles_up(steps) -> None:
    transmit_queue, newest = TransmitQueue(Event()), {}
    for number, (motor, send) in enumerate(steps):
        transmit_queue.put([item(motor, str(number))])
        newest[motor] = str(number)
        if send and (found := transmit_queue.take()):
            assert texts_of(found) == [newest.pop(found[0].motor)]
            transmit_queue.settle(1)
    left = taken(transmit_queue)
    assert sorted(left) == sorted(newest.values())
    assert len(left) <= 4
