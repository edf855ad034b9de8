"""Error confinement: effects of missing acknowledgements, other bit rates and duplicate ids."""

import pytest

from humanoid_twin.can.controller import Cause, ErrorState
from humanoid_twin.can.disturbance import NEVER


def states(node) -> list[str]:
    return [t.state.name for _, t in node.reports if t.cause.name == "STATE"]


def test_sender_alone_repeats_for_ever_becomes_passive_and_never_bus_off(bench):
    a = bench.node()
    bench.send(a, 1)
    bench.run(1000)
    assert a.controller.state is ErrorState.PASSIVE
    assert a.controller.tec == 128
    assert states(a) == ["WARNING", "PASSIVE"]
    assert a.causes.count("NOT_ACKNOWLEDGED") == 16
    assert a.controller.waiting == 1


def test_queue_of_a_sender_without_listeners_fills_and_stays_full(bench):
    a, b = bench.node(), bench.node()
    b.controller.set(powered=False)
    sent = 0
    for _ in range(100):
        sent += bench.send(a, 1)
        bench.run(10)
    assert sent == 10
    assert a.causes.count("OVERRUN") == 90


def test_unacknowledged_repetitions_cost_no_events_yet_keep_the_bus_busy(bench):
    a = bench.node()
    bench.send(a, 1)
    bench.run(100)
    assert bench.bus.next_event == NEVER
    bench.run(900)
    b = bench.node()  # any change updates the counters
    assert bench.bus.counters.busy == pytest.approx(1e9, rel=1e-3)
    assert 5000 < bench.bus.counters.unacknowledged < 10000
    bench.run(0.5)
    assert [frame.identifier for frame in b.frames] == [1]


def test_queue_drains_as_soon_as_a_node_acknowledges(bench):
    a, b = bench.node(), bench.node()
    b.controller.set(powered=False)
    for number in range(10):
        bench.send(a, number)
    bench.run(500)
    b.controller.set(powered=True)
    bench.run(2)
    assert [frame.identifier for frame in b.frames] == list(range(10))
    assert a.controller.tec == 118
    assert a.controller.state is ErrorState.WARNING


def test_node_in_listen_only_mode_does_not_acknowledge(bench):
    a, b = bench.node(), bench.node()
    b.controller.set(listens_only=True)
    bench.send(a, 1)
    bench.run(10)
    assert not b.got
    assert a.controller.state is ErrorState.PASSIVE


def test_power_lost_in_the_middle_of_a_frame_is_a_broken_frame(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    bench.send(a, 1)
    bench.run(0.05)
    a.controller.set(powered=False)
    bench.run(1)
    assert not b.got
    assert b.controller.rec == c.controller.rec == 1


def test_last_listener_lost_in_the_middle_of_a_frame_does_not_acknowledge_it(bench):
    a, b = bench.node(), bench.node()
    bench.send(a, 1)
    bench.run(0.05)
    b.controller.set(powered=False)
    bench.run(1)
    assert bench.bus.counters.frames == 0
    assert a.controller.waiting == 1


def test_node_with_another_bit_rate_turns_frames_into_errors(bench):
    host, motor = bench.node(), bench.node()
    host.controller.set(bitrate=500_000)
    bench.send(host, 1)
    bench.run(100)
    assert not motor.got
    assert bench.bus.counters.frames == 0
    assert (
        bench.bus.counters.error_frames == 15
    )  # then the motor is error passive and destroys no more frames
    assert motor.controller.state is ErrorState.PASSIVE
    assert host.controller.state is ErrorState.PASSIVE  # no node acknowledges
    assert "BIT" in host.causes
    assert "NOT_ACKNOWLEDGED" in host.causes


def test_listening_with_the_wrong_bit_rate_receives_errors_only(bench):
    host, a, b = bench.node(), bench.node(), bench.node()
    host.controller.set(bitrate=250_000)
    for number in range(40):
        bench.send(a, number)
        bench.run(1)
    assert not host.got
    assert host.causes.count("RECEIVED") >= 40
    assert host.controller.state is ErrorState.PASSIVE
    assert len(b.got) == 40  # once the host is error passive, the others communicate


def test_right_bit_rate_cures_it(bench):
    host, motor = bench.node(), bench.node()
    host.controller.set(bitrate=500_000)
    bench.send(host, 1)
    bench.run(100)
    host.controller.set(bitrate=1_000_000)
    bench.run(1)
    assert len(motor.got) == 1
    assert motor.controller.rec == 127
    assert motor.controller.state is ErrorState.WARNING


def test_two_nodes_with_one_identifier_and_different_data_disturb_each_other(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    bench.send(a, 5, b"\x00")
    bench.send(b, 5, b"\x01")
    bench.run(0.3)
    assert not c.got
    assert a.controller.tec == b.controller.tec >= 8
    assert "BIT" in a.causes
    assert "BIT" in b.causes


def test_of_two_passive_nodes_with_one_identifier_the_dominant_one_gets_through(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    bench.send(a, 5, b"\x01")
    bench.send(b, 5, b"\x00")
    bench.run(10)
    assert [frame.data for frame in c.frames] == [b"\x00", b"\x01"]
    assert a.controller.tec > b.controller.tec


def test_two_nodes_with_one_identifier_and_the_same_data_are_one(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    bench.send(a, 5, b"\x07")
    bench.send(b, 5, b"\x07")
    bench.run(1)
    assert [frame.data for frame in c.frames] == [b"\x07"]
    assert a.controller.waiting == b.controller.waiting == 0


def test_sender_whose_every_frame_is_destroyed_goes_bus_off_after_32(bench):
    a, _ = bench.node(restarts=False), bench.node()
    bench.bus.disturbance.corrupt_next = 1000
    bench.send(a, 1)
    bench.run(100)
    assert bench.bus.counters.error_frames == 32
    assert states(a) == ["WARNING", "PASSIVE", "BUS_OFF"]
    assert a.controller.state is ErrorState.BUS_OFF
    assert not bench.send(a, 2)


def test_bus_off_ends_after_128_times_11_recessive_bits(bench):
    a, b = bench.node(restarts=True), bench.node()
    a.controller.go_bus_off(0)
    bench.bus.run(128 * 11_000 - 1)
    assert a.controller.state is ErrorState.BUS_OFF
    bench.bus.run(128 * 11_000)
    assert a.controller.state is ErrorState.ACTIVE
    assert a.causes == ["STATE", "RESTARTED"]
    bench.send(a, 1)
    bench.run(1)
    assert b.got


def test_busy_bus_delays_the_way_out_of_bus_off(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    a.controller.go_bus_off(0)
    while bench.bus.now < 4_000_000:
        for number in range(5):
            bench.send(b, number)
        bench.run(1)
    assert len(c.got) >= 20
    assert a.controller.state is ErrorState.BUS_OFF
    bench.run(10)
    assert a.controller.state is ErrorState.ACTIVE


def test_bus_off_lasts_until_it_is_ended_on_request(bench):
    a, _ = bench.node(restarts=False), bench.node()
    a.controller.go_bus_off(0)
    bench.run(1000)
    assert a.controller.state is ErrorState.BUS_OFF
    a.controller.restart()
    assert a.controller.state is ErrorState.BUS_OFF
    bench.run(2)
    assert a.controller.state is ErrorState.ACTIVE


def test_node_in_bus_off_neither_gets_nor_acknowledges_frames(bench):
    a, b = bench.node(), bench.node(restarts=False)
    b.controller.go_bus_off(0)
    bench.send(a, 1)
    bench.run(10)
    assert not b.got
    assert a.controller.state is ErrorState.PASSIVE


def test_same_history_gives_the_same_bus(bench):
    def history():
        other = type(bench)()
        a, b, c = other.node(), other.node(), other.node()
        other.bus.disturbance.lost_probability = 0.3
        for number in range(50):
            other.send(a, number)
            other.send(b, 100 - number)
            other.run(0.7)
        return c.got, a.got

    assert history() == history()
    assert 0 < len(history()[0]) < 100


def test_passive_sender_lets_others_go_first_after_its_frame(bench):
    a, b, c = bench.node(), bench.node(), bench.node()
    a.controller.tec = 130
    a.controller.transmit_error(Cause.BIT, 0)
    for number in (1, 2):
        bench.send(a, number)
    bench.run(0.05)
    bench.send(b, 0x700)
    bench.run(1)
    assert [frame.identifier for frame in c.frames] == [1, 0x700, 2]
