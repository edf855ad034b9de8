"""Lease, activation, streams and faults, on the clock of the test."""

from __future__ import annotations

import re

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.command_stream import CommandStream
from humanoid_joint_stream.server.lease import TIMEOUT
from humanoid_joint_stream.server.session import ACTIVATION_GRACE, STATEMENT, Situation
from src.humanoid_joint_stream.test.joint_bench import COUNT, KP, MS, PERIOD, Bench, later, update


def test_update_before_the_activation_is_not_applied() -> None:
    """Case 2."""
    bench = Bench()
    bench.open()
    bench.send(update(bench.now))
    for _ in range(50):
        bench.send(later(bench.now, position=[0.5] * COUNT))
        bench.tick()
        assert bench.execution is Execution.HOLDING
    assert bench.stream is not None
    assert (bench.stream.counters.accepted, bench.report.applied_count) == (51, 0)
    bench.session.begin_activation(bench.now)
    bench.tick()
    assert bench.execution is Execution.HOLDING, "the commands of before are of the past"
    bench.send(later(bench.now, position=[0.5] * COUNT))
    assert bench.tick().position.tolist() == [0.5] * COUNT
    assert bench.tick().stiffness.tolist() == [KP] * COUNT
    bench.session.close_stream(bench.stream, Status.OK, "")
    assert bench.end.status is Status.OK


def test_a_stream_that_is_never_activated_ends() -> None:
    """Case 3."""
    bench = Bench()
    bench.open()
    bench.ticks(ACTIVATION_GRACE)
    assert bench.stream is not None
    assert bench.stream.end is None
    bench.tick()
    bench.ends_with(Status.INACTIVE, "not activated")


def test_the_robot_stops_as_soon_as_its_stream_is_closed_or_lost() -> None:
    """Case 27, the part of the server: it does not wait for the end time."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + SECOND))
    bench.tick()
    assert bench.stream is not None
    bench.session.close_stream(bench.stream, Status.INACTIVE, "the connection was lost")
    bench.tick()
    assert bench.is_damped()


def test_the_robot_stops_with_the_last_update_and_the_reason_may_follow() -> None:
    """Case 27: the updates of a killed client end before the server detects the lost connection."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + SECOND))
    bench.tick()
    assert bench.stream is not None
    bench.session.halt(bench.stream)
    bench.tick()
    assert bench.is_damped()
    assert bench.stream.end is None
    bench.session.close_stream(bench.stream, Status.INACTIVE, "the connection was lost")
    bench.ends_with(Status.INACTIVE, "the connection was lost")
    assert bench.session.last_error == "INACTIVE: the connection was lost"


def test_an_activation_after_the_last_update_of_a_stream_outlives_it() -> None:
    """A client that closes its stream, and activates again before the server has ended that."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    former = bench.stream
    assert former is not None
    bench.session.halt(former)
    bench.following()
    bench.session.close_stream(former, Status.OK, "")
    assert former.end is not None
    assert former.end.status is Status.OK
    bench.send(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.FOLLOWING


def test_second_stream_is_refused_and_the_first_one_goes_on() -> None:
    """Case 29."""
    bench = Bench().following()
    for lease, status in (("", Status.NO_LEASE), (bench.lease, Status.ALREADY_STREAMING)):
        second = CommandStream(bench.file.facts, bench.now)
        bench.session.open_stream(second, lease, bench.now)
        bench.session.receive(second, update(bench.now), bench.now)
        assert second.end is not None
        assert (second.end.status, second.counters.received) == (status, 0)
        bench.session.close_stream(second, Status.INACTIVE, "the connection was lost")
    bench.send(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.FOLLOWING


def test_a_second_client_gets_no_lease_until_the_first_is_silent() -> None:
    """Case 29."""
    bench = Bench()
    lease = bench.session.lease
    token = lease.acquire("first", bench.now)
    assert token
    assert lease.acquire("second", bench.now) == ""
    assert not lease.keep("wrong", bench.now)
    assert not lease.keep("", bench.now)
    assert lease.keep(token, bench.now + TIMEOUT)
    assert lease.acquire("second", bench.now + 2 * TIMEOUT) == ""
    assert lease.acquire("second", bench.now + 2 * TIMEOUT + 1)
    assert not lease.keep(token, bench.now + 2 * TIMEOUT + 1)


def test_a_lease_that_is_not_kept_stops_the_robot() -> None:
    """A frozen client: its updates end without a signal of that."""
    bench = Bench(resume_after_expiry=True).following()
    bench.send(update(bench.now))
    bench.lease = ""
    bench.ticks(TIMEOUT)
    assert bench.stream is not None
    assert bench.stream.end is None
    bench.tick()
    bench.ends_with(Status.NO_LEASE, "the lease of bench was not kept")
    assert bench.session.activation == 0


def test_updates_alone_do_not_keep_a_lease() -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.lease = ""
    for _ in range(TIMEOUT // PERIOD):
        bench.tick()
        bench.send(later(bench.now))
    assert bench.execution is Execution.FOLLOWING
    bench.tick()
    bench.ends_with(Status.NO_LEASE, "the lease of bench was not kept")


def test_a_lease_that_ran_out_in_a_hold_up_of_the_server_is_not_the_reason() -> None:
    bench = Bench().following()
    bench.server_lives = False
    for _ in range(30):
        bench.tick()
        bench.overtake(update(bench.now))
    bench.now += TIMEOUT
    bench.tick()
    bench.poll()
    bench.ends_with(Status.INACTIVE, "the server stood still for too long")


def test_a_new_lease_ends_the_stream_of_one_that_ran_out() -> None:
    """This precedes the server's step: else the old stream would command in the new activation."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.now += TIMEOUT + 1
    assert bench.session.acquire_lease("second", bench.now)
    bench.ends_with(Status.NO_LEASE, "the lease of bench was not kept")
    assert bench.session.activation == 0
    bench.session.begin_activation(bench.now)
    bench.send(later(bench.now, position=[0.5] * COUNT))
    bench.tick()
    assert bench.execution is Execution.FALLBACK


def test_an_empty_lease_belongs_to_no_client() -> None:
    bench = Bench()
    assert not bench.session.has_lease("", bench.now)


def test_a_mode_that_the_operator_requests_ends_the_stream() -> None:
    """Case 34."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.leave(Situation(Mode.DAMPING))
    bench.poll()
    bench.ends_with(Status.INACTIVE, "the robot is in DAMPING")


def test_a_fall_ends_the_stream_and_is_a_fault() -> None:
    """Case 35, the part of the server."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    fallen = Situation(Mode.DAMPING, "motor: too hot", (FELL_TO_SAFETY.name,), 7)
    bench.leave(fallen)
    bench.poll()
    bench.ends_with(Status.INACTIVE, "motor: too hot")
    (fault,) = bench.session.standing_faults()
    assert (fault.cause, fault.time) == ("motor: too hot", bench.now)
    bench.situation = Situation(Mode.DAMPING)
    bench.poll()
    assert bench.session.standing_faults() == []


@pytest.mark.parametrize("held_up", [0, 2 * STATEMENT])
def test_the_end_has_the_reason_of_the_switch_also_if_its_statement_comes_later(
    held_up: int,
) -> None:
    """The same if the loop was held up before the switch."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.now += held_up
    bench.leave(Situation(Mode.REMOTE))
    bench.poll()
    bench.now += STATEMENT - 1
    bench.poll()
    assert bench.stream is not None
    assert bench.stream.end is None
    bench.situation = Situation(Mode.DAMPING, "motor: too hot", (FELL_TO_SAFETY.name,), 7)
    bench.poll()
    bench.ends_with(Status.INACTIVE, "the robot is in DAMPING: motor: too hot")


def test_a_cleared_fault_does_not_end_the_activation_that_follows_at_once() -> None:
    bench = Bench().following()
    bench.send(update(bench.now, velocity_safety_limit=0.5))
    bench.state.velocity[0] = 1.0
    bench.tick()
    bench.poll()
    bench.state.velocity[0] = 0.0
    (fault,) = bench.session.standing_faults()
    bench.session.clear_own_fault(fault)
    bench.following()
    bench.poll()
    bench.send(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.FOLLOWING


def test_an_ended_stream_is_detected_with_the_next_update() -> None:
    """The same if no other call reads the robot."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.server_lives = False
    bench.ticks(150 * MS)
    bench.send(later(bench.now))
    bench.ends_with(Status.EXPIRED, "over before another one came")
    assert re.findall(r"[\d.]+(?= s)", bench.end.message) == ["0.050", "0.150"]  # horizon, gap
    assert bench.stream is not None
    assert bench.stream.counters.received == 1


def test_a_switch_without_a_statement_ends_the_stream_soon() -> None:
    """This holds in each activation."""
    bench = Bench()
    for _ in range(2):
        bench.enter()
        bench.following()
        bench.send(update(bench.now))
        bench.tick()
        bench.leave(Situation(Mode.REMOTE))
        bench.poll()
        assert bench.stream is not None
        assert bench.stream.end is None
        bench.now += STATEMENT
        bench.poll()
        bench.ends_with(Status.INACTIVE, "the robot is in REMOTE")


def test_a_loop_that_stands_still_ends_the_stream() -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.now += SECOND
    bench.poll()
    bench.ends_with(Status.INACTIVE, "the control loop has not ticked for 1.00 s")


def test_the_reason_is_of_one_report_also_if_the_robot_leaves_meanwhile() -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    before, read = bench.report, iter([True])
    newest = bench.file.report
    bench.file.report = lambda: before if next(read, False) else newest()  # type: ignore[method-assign]
    bench.leave(Situation(Mode.DAMPING, "stopped"))
    bench.poll()
    bench.poll()
    bench.ends_with(Status.INACTIVE, "the robot is in DAMPING: stopped")


def test_an_activation_needs_the_lease_a_controller_no_fault_and_remote_in_this_order() -> None:
    bench = Bench().following()
    session = bench.session
    assert session.readiness("", bench.now)[0] is Status.NO_LEASE
    assert session.readiness(bench.lease, bench.now) == (Status.OK, "")
    bench.leave(Situation(Mode.DAMPING, "stopped"))
    assert session.readiness(bench.lease, bench.now)[0] is Status.NOT_READY
    fallen = Situation(Mode.DAMPING, "stopped", (FELL_TO_SAFETY.name,))
    session.poll(fallen, bench.now)
    assert session.readiness(bench.lease, bench.now) == (Status.FAULT, "stopped")
    bench.controller.on_cleanup()
    assert session.readiness(bench.lease, bench.now)[0] is Status.UNAVAILABLE


def test_the_cause_of_a_fall_outlasts_the_reason_of_a_refused_request() -> None:
    session = Bench().session
    code = FELL_TO_SAFETY.name
    session.poll(Situation(Mode.DAMPING, "Fell: a hot motor", (code,), 4), 1)
    refused = "Rejected LOAD: fell: a hot motor"
    session.poll(Situation(Mode.DAMPING, refused, ("LOAD_REFUSED", code), 4), 2)
    (fault,) = session.standing_faults()
    assert (fault.cause, fault.time) == ("Fell: a hot motor", 1)
    session.poll(Situation(Mode.DAMPING, "Fell: a silent bus", (code,), 5), 3)
    (fault,) = session.standing_faults()
    assert (fault.cause, fault.time) == ("Fell: a silent bus", 3)


def test_activations_have_rising_numbers_also_of_a_later_server() -> None:
    bench = Bench()
    first = bench.session.begin_activation(bench.now)
    assert bench.session.begin_activation(bench.now) == first + 1
    assert bench.session.begin_activation(bench.now + 5) > first


def test_messages_of_an_ended_stream_are_not_counted() -> None:
    bench = Bench().following()
    bench.send(update(bench.now, end_time=None))
    bench.send(update(bench.now))
    assert bench.stream is not None
    assert bench.stream.counters.received == 1


def test_every_status_of_a_message_comes_back_with_its_key() -> None:
    """Cases 25 and 26, the part of the server."""
    bench = Bench().following()
    bench.send(update(bench.now, user_command_key=5))
    assert bench.session.last_update[:3] == (5, bench.now, Status.OK)
    bench.tick()
    assert bench.report.applied_key == 5
    bench.send(later(bench.now, user_command_key=0))
    assert bench.session.last_update.key == 0
    bench.tick()
    assert bench.report.applied_key == 0
    bench.send(later(bench.now, user_command_key=3, load=[float("nan")] * COUNT))
    assert bench.session.last_update[:3] == (3, bench.now, Status.INVALID_REQUEST)
    bench.send(later(bench.now, user_command_key=4, end_time=bench.now + 5 * MS))
    assert bench.session.last_update.short_horizon
