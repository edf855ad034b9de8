"""What waits to be sent is bounded: the newest of each kind, orders first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_can.outbox import Item, Kind, Outbox


def item(motor: int, text: str, kind: Kind = Kind.COMMAND, since: float = 0.0) -> Item:
    return Item(kind, motor, (motor, text.encode()), since)


def taken(outbox: Outbox) -> list[str]:
    texts = []
    while (found := outbox.take()) is not None:
        texts.append(found.frame[1].decode())
        outbox.sent()
    return texts


def test_newer_command_takes_the_place_of_the_one_that_waits() -> None:
    outbox = Outbox()
    outbox.put([item(0, "old 0"), item(1, "old 1")])
    outbox.put([item(1, "new 1"), item(0, "new 0")])
    assert taken(outbox) == ["new 0", "new 1"]


def test_gains_and_commands_of_a_motor_keep_their_order_whatever_waited() -> None:
    outbox = Outbox()
    outbox.put([item(0, "old"), item(0, "stiff", Kind.GAINS), item(1, "1")])
    outbox.put([item(0, "soft", Kind.GAINS), item(0, "new")])
    assert taken(outbox) == ["soft", "new", "1"]


def test_gains_that_were_not_sent_stay_before_the_newer_command() -> None:
    outbox = Outbox()
    outbox.put([item(0, "soft", Kind.GAINS), item(0, "old")])
    outbox.take()
    outbox.put([item(0, "new")])
    outbox.put_back()
    assert taken(outbox) == ["soft", "new"]


def test_orders_go_first_and_are_not_replaced() -> None:
    outbox = Outbox()
    outbox.put([item(0, "go")])
    outbox.order(0, [(0, b"a"), (0, b"b")], 0.0)
    outbox.order(0, [(0, b"c")], 0.0)
    assert taken(outbox) == ["a", "b", "c", "go"]


def test_frame_that_was_not_sent_goes_first_again() -> None:
    outbox = Outbox()
    outbox.put([item(0, "0"), item(1, "1")])
    outbox.take()
    outbox.put_back()
    assert taken(outbox) == ["0", "1"]
    outbox.order(0, [(0, b"a"), (0, b"b")], 0.0)
    outbox.take()
    assert outbox.orders_waiting()
    outbox.put_back()
    assert taken(outbox) == ["a", "b"]
    assert not outbox.orders_waiting()


def test_frame_that_was_not_sent_makes_way_for_a_newer_one() -> None:
    outbox = Outbox()
    outbox.put([item(0, "old", since=1.0)])
    outbox.take()
    outbox.put([item(0, "new", since=2.0)])
    outbox.put_back()
    assert outbox.waiting_since() == 1.0
    assert taken(outbox) == ["new"]
    assert outbox.waiting_since() is None


def test_waiting_is_counted_from_the_first_frame_in_a_place() -> None:
    outbox = Outbox()
    outbox.put([item(0, "old", since=1.0)])
    outbox.put([item(0, "new", since=2.0)])
    assert outbox.waiting_since() == 1.0
    outbox.take()
    assert outbox.waiting_since() == 1.0
    outbox.sent()
    assert outbox.waiting_since() is None


def test_waiting_is_that_of_the_motor_that_waits_longest() -> None:
    outbox = Outbox()
    outbox.put([item(0, "0", since=2.0)])
    outbox.put([item(1, "1", since=3.0)])
    assert outbox.waiting_since() == 2.0
    outbox.take()
    assert outbox.waiting_since() == 2.0
    outbox.sent()
    assert outbox.waiting_since() == 3.0


def test_what_waits_for_some_motors_can_be_forgotten() -> None:
    outbox = Outbox()
    outbox.put([item(0, "0"), item(1, "1")])
    outbox.order(1, [(1, b"order")], 0.0)
    outbox.clear([1])
    assert taken(outbox) == ["0"]
    outbox.put([item(0, "0")])
    outbox.order(0, [(0, b"order")], 0.0)
    outbox.clear()
    assert taken(outbox) == []


@pytest.mark.parametrize("motors", [None, [0]], ids=["all", "one"])
def test_what_was_forgotten_does_not_come_back_when_it_can_not_be_sent(motors) -> None:
    outbox = Outbox()
    outbox.put([item(0, "stale"), item(0, "stale gains", Kind.GAINS)])
    outbox.take()
    outbox.clear(motors)
    outbox.order(0, [(0, b"enable")], 1.0)
    outbox.put_back()
    assert outbox.waiting_since() is None
    assert taken(outbox) == ["enable"]


def test_forgetting_one_motor_leaves_what_is_being_sent_to_another() -> None:
    outbox = Outbox()
    outbox.put([item(0, "0"), item(1, "1")])
    outbox.take()
    outbox.clear([1])
    outbox.put_back()
    assert taken(outbox) == ["0"]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=60))
def test_no_motor_starves_and_nothing_piles_up(steps) -> None:
    outbox, newest = Outbox(), {}
    for number, (motor, send) in enumerate(steps):
        outbox.put([item(motor, str(number))])
        newest[motor] = str(number)
        if send and (found := outbox.take()) is not None:
            assert found.frame[1].decode() == newest.pop(found.motor)
            outbox.sent()
    left = taken(outbox)
    assert sorted(left) == sorted(newest.values())
    assert len(left) <= 4
