import pytest

from humanoid_control_cli.robot.message_rate import Stream


def test_rate_ignores_messages_that_were_queued_at_the_start() -> None:
    stream = Stream()
    for _ in range(10):
        stream.arrive(5.0)
    for i in range(1, 51):
        stream.arrive(5.0 + 0.02 * i)
    assert stream.rate == pytest.approx(50.0)
    assert stream.count == 60
    assert stream.last == pytest.approx(6.0)


def test_a_slow_stream_has_a_rate_too() -> None:
    stream = Stream()
    for i in range(3):
        stream.arrive(2.0 * i)
    assert stream.rate == pytest.approx(0.5)


def test_stream_has_no_rate_before_its_second_message() -> None:
    stream = Stream()
    assert stream.rate == stream.span == 0.0
    stream.arrive(1.0)
    assert stream.rate == stream.span == 0.0
