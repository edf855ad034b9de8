"""Rate, jitter, loss and latency of a stream, from known arrivals."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from humanoid_controllers.stream_statistics import MOST, StreamStatistics

BEGIN = 1.79e9  # [s] since 1970: differences must not suffer


def test_an_even_stream_has_its_rate_and_no_jitter() -> None:
    stream = StreamStatistics()
    for i in range(51):
        stream.arrived(BEGIN + 0.02 * i)
    found = stream.take_figures()
    assert found == {"rate [Hz]": "50.0", "interval max [ms]": "20.00", "jitter [ms]": "0.00"}


def test_jitter_is_the_deviation_of_the_intervals() -> None:
    stream = StreamStatistics()
    for i in range(100):
        stream.arrived(BEGIN + 0.02 * i + (0.004 if i % 2 else 0.0))
    found = stream.take_figures()  # 24 and 16 ms in turns
    assert float(found["jitter [ms]"]) == pytest.approx(4.0, abs=0.05)
    assert found["interval max [ms]"] == "24.00"


def test_a_single_message_or_none_has_no_interval() -> None:
    stream = StreamStatistics()
    assert stream.take_figures() == {}
    stream.arrived(BEGIN)
    assert stream.take_figures() == {}
    stream.arrived(BEGIN)
    stream.arrived(BEGIN)
    assert stream.take_figures() == {}  # at the same time


def test_gaps_of_the_numbers_are_lost_messages() -> None:
    stream, dice = StreamStatistics(), random.Random(1)
    sent = [number for number in range(1, 1001) if dice.random() > 0.3]
    for number in sent:
        stream.arrived(BEGIN + 0.02 * number, number)
    lost = sum(after - before - 1 for before, after in pairwise(sent))
    assert 200 < lost < 400
    assert stream.take_figures()["lost"] == str(lost)
    assert stream.take_figures()["lost"] == str(lost)  # since the start


def test_a_message_that_comes_late_is_out_of_order_and_not_lost() -> None:
    stream = StreamStatistics()
    for number in (1, 2, 4, 3, 5):
        stream.arrived(BEGIN, number)
    found = stream.take_figures()
    assert (found["lost"], found["out of order"]) == ("0", "1")


def test_numbers_of_two_senders_alternate() -> None:
    stream = StreamStatistics()
    for number in range(1, 5):
        stream.arrived(BEGIN, number)
        stream.arrived(BEGIN, 500 + number)
    stream.take_figures()
    assert stream.alternates
    for number in range(5, 50):  # the other one has ended
        stream.arrived(BEGIN, number)
    stream.take_figures()
    assert not stream.alternates


def test_a_new_sender_is_no_disorder() -> None:
    stream = StreamStatistics()
    for number in (7, 8, 1, 2):
        stream.arrived(BEGIN, number)
    found = stream.take_figures()
    assert (found["lost"], found["out of order"]) == ("0", "0")


def test_latency_counts_from_the_stamp_of_those_that_have_one() -> None:
    stream = StreamStatistics()
    for i, late in enumerate((0.001, None, 0.003, 0.010)):
        at = BEGIN + 0.02 * i
        stream.arrived(at, sent=None if late is None else at - late)
    found = stream.take_figures()
    assert float(found["latency median [ms]"]) == pytest.approx(3.0, abs=0.01)
    assert float(found["latency max [ms]"]) == pytest.approx(10.0, abs=0.01)
    stream.arrived(BEGIN)
    assert "latency max [ms]" not in stream.take_figures()


def test_a_flood_takes_no_memory_without_bound() -> None:
    stream = StreamStatistics()
    for i in range(MOST + 100):
        stream.arrived(BEGIN + 1e-5 * i)
    assert len(stream._window.arrivals) == MOST
