"""The impedance manager on an injected clock: its batches and its state."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup_prime.impedance.register_record import DriveRecord
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.drive.gains import JointRegisters
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply

POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
FEED_FORWARD = (0x2382, 3)
STIFF = Mode.STANDBY
PAIRS = list(itertools.permutations(Mode, 2))


def rows(bench: Any) -> set[tuple[int, ...]]:
    return {drive.row for drive in bench.drives}


# The gate.


def test_manager_sends_no_batch_before_joint_states_arrive(bench: Any) -> None:
    bench.flowing = False
    bench.state(Mode.DAMPING).run(2.0)
    assert bench.sent == []
    assert bench.summary.message == "waiting for /prime/joint_states"
    bench.flowing = True
    bench.run(0.1)
    assert bench.sent != []
    assert bench.confirmed


def test_manager_sends_no_batch_before_the_first_statement(bench: Any) -> None:
    bench.run(2.0)
    assert bench.sent == []
    assert bench.summary.message == "waiting for a statement on /control_mode"


@pytest.mark.parametrize("silence", [0.15, 5.0])
def test_pending_gains_are_kept_while_the_joint_states_are_interrupted(
    bench: Any, registers: Any, silence: float
) -> None:
    bench.enter(Mode.DAMPING)
    bench.flowing = False
    bench.run(0.11)
    bench.state(STIFF).run(silence)
    bench.state(Mode.REMOTE).run(silence)
    assert bench.began == []
    assert not bench.summary.gate_open
    assert not bench.confirmed
    bench.flowing = True
    bench.run(0.1)
    assert bench.confirmed
    assert rows(bench) == {(*registers[Mode.REMOTE], 1)}
    assert {batch.in_force.mode for batch in bench.sent} == {Mode.REMOTE}


def test_a_batch_under_way_ends_with_the_permission_it_was_sent_with(bench: Any) -> None:
    """A batch sent at the end of an open gate must end with it."""
    bench.enter(Mode.DAMPING)
    bench.flowing = False
    closes = bench.gate.closes
    bench.run(closes - bench.time - 0.0015)
    bench.state(STIFF).run(1.0)
    assert len(bench.writes_begun) == 10  # the first of two a drive
    assert all(time <= closes for time in bench.writes_begun)
    assert not bench.confirmed


# Arming.


@pytest.mark.parametrize("stores", [True, False])
def test_arming_writes_what_differs_opens_the_drives_gate_and_writes_all_gains_again(
    bench: Any, registers: Any, stores: bool
) -> None:
    for drive in bench.drives:
        drive.stores_behind_its_gate = stores
    bench.state(Mode.DAMPING).run(0.1)
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}
    assert [batch.write for batch in bench.sent] == [False, True]
    written = [(key, value) for slave, key, value in bench.writes() if slave == 4]
    assert written[:2] == [(VELOCITY, 56), (GATE, 1)]
    assert set(written[2:-1]) == {(POSITION, 0), (VELOCITY, 56), (INTEGRAL, 0)}
    assert written[-1] == (FEED_FORWARD, 0)


def test_arming_from_factory_gains_writes_all_of_them_on_both_sides_of_the_gate(
    bench: Any, registers: Any
) -> None:
    for drive in bench.drives:
        drive.values = {POSITION: 1000, VELOCITY: 270, INTEGRAL: 20, GATE: 0}
    bench.state(Mode.DAMPING).run(0.1)
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}
    written = [(key, value) for slave, key, value in bench.writes() if slave == 4]
    gains = [(POSITION, 0), (INTEGRAL, 0), (VELOCITY, 56)]  # the softest first
    assert written == [*gains, (GATE, 1), *gains, (FEED_FORWARD, 0)]


def test_arming_is_announced_before_it_is_done(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bench.flowing = False
    bench.state(Mode.DAMPING).run(0.1)
    bench.flowing = True
    with caplog.at_level(logging.INFO):
        while not caplog.messages:
            assert {drive.values[GATE] for drive in bench.drives} == {0}
            bench.run(0.001)
        assert bench.summary.message == "arming with the gains of DAMPING"
        assert not bench.summary.armed
        assert caplog.messages == [
            "arming: factory (stiff) gains are replaced by those of DAMPING (switch 1)"
        ]
        bench.run(0.1)
    assert bench.summary.armed
    assert len(caplog.messages) == 2
    assert caplog.messages[1].startswith("gains of DAMPING (switch 1) confirmed on 10 drives")


def test_drives_left_armed_and_stiff_are_softened_without_becoming_stiffer(
    bench: Any, registers: Any
) -> None:
    """The manager was killed in a stiff mode: the new one reads all registers."""
    for drive in bench.drives:
        drive.values = {POSITION: 600, VELOCITY: 30, INTEGRAL: 7, GATE: 1}
    bench.state(Mode.DAMPING).run(0.1)
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}
    assert all(max(drive.stiffness) <= 600 * 30 for drive in bench.drives)


def test_a_restarted_manager_that_finds_all_well_writes_nothing(bench: Any) -> None:
    for drive in bench.drives:
        drive.values = {POSITION: 515, VELOCITY: 19, INTEGRAL: 0, GATE: 1}
    bench.state(STIFF, number=7).run(0.1)
    assert bench.confirmed
    assert bench.writes() == []


def test_stiffness_that_does_not_fit_the_drives_registers_is_named_and_never_written(
    make_bench: Any,
) -> None:
    """A drive with 16-bit registers: at most 32767, signed or unsigned."""
    bench = make_bench(1, mode_kp=[0.0, 0.0, 2000.0, 20.0, 20.0])
    bench.drives[0].length = 2
    bench.enter(Mode.DAMPING).state(Mode.STANDBY).run(0.5)
    assert not bench.confirmed
    assert "joint0: register value 51467 does not fit the drive's 2 bytes" in bench.summary.message
    assert bench.writes() == []
    bench.state(Mode.LOCOMOTION).run(0.1)
    assert bench.confirmed


# Changes of mode.


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=lambda m: m.name)
def test_a_change_ends_in_the_registers_of_the_mode_and_is_never_stiffer_than_both(
    bench: Any, registers: Any, before: Mode, after: Mode
) -> None:
    bench.enter(before)
    for drive in bench.drives:
        drive.stiffness.clear()
    bench.state(after).run(0.1)
    assert bench.confirmed
    assert bench.summary.in_force == (after, 2)
    assert set(bench.summary.registers) == {registers[after]}
    assert rows(bench) == {(*registers[after], 1)}
    limit = max(registers[mode][0] * registers[mode][1] for mode in (before, after))
    assert all(value <= limit for drive in bench.drives for value in drive.stiffness)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Mode.DAMPING, STIFF, [(VELOCITY, 19), (POSITION, 515)]),
        (STIFF, Mode.DAMPING, [(POSITION, 0), (VELOCITY, 56)]),
        (Mode.ZERO_TORQUE, STIFF, [(VELOCITY, 19), (POSITION, 515)]),
        (Mode.ZERO_TORQUE, Mode.DAMPING, [(VELOCITY, 56)]),
        (STIFF, Mode.REMOTE, []),
    ],
)
def test_manager_writes_only_changed_gains_lower_position_gain_first_higher_last(
    bench: Any, before: Mode, after: Mode, expected: list[Any]
) -> None:
    bench.enter(before)
    bench.state(after).run(0.05)
    assert bench.confirmed
    written = bench.writes()
    for slave in range(10):
        assert [(key, value) for s, key, value in written if s == slave] == expected


def test_equal_gains_are_confirmed_under_the_new_number_without_a_single_object(
    bench: Any,
) -> None:
    bench.enter(STIFF)
    bench.state(Mode.REMOTE)
    assert bench.summary.confirmed
    assert bench.summary.in_force == (Mode.REMOTE, 2)


def test_confirmation_waits_for_the_read_back(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.state(STIFF).run(0.003)
    assert rows(bench) == {(515, 19, 0, 1)}  # written
    assert not bench.confirmed
    assert bench.summary.message == "writing the gains of STANDBY"
    bench.run(0.003)
    assert bench.confirmed
    assert bench.summary.message == ""


def test_a_mode_that_is_written_is_not_confirmed_when_it_is_taken_back_at_once(
    bench: Any, registers: Any
) -> None:
    """Between two modes a drive may have the gains of either: earlier readings do not count."""
    bench.enter(STIFF)
    bench.state(Mode.DAMPING).run(0.002)
    assert {drive.row[:3] for drive in bench.drives} == {(0, 56, 0)}
    bench.state(STIFF)
    assert not bench.confirmed
    bench.run(0.1)
    assert bench.confirmed
    assert rows(bench) == {(*registers[STIFF], 1)}


def test_all_drives_are_served_in_one_batch(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.state(STIFF).run(0.05)
    assert [sorted(batch.slaves) for batch in bench.sent] == [list(range(10))]


def test_manager_without_parallel_sdo_writes_the_drives_one_after_another(make_bench: Any) -> None:
    bench = make_bench(parallel_sdo=False)
    bench.state(Mode.DAMPING).run(0.4)
    assert bench.confirmed
    bench.sent.clear()
    bench.began.clear()
    bench.state(STIFF).run(0.1)
    assert bench.confirmed
    assert [list(batch.slaves) for batch in bench.sent if batch.write] == [[i] for i in range(10)]
    assert [slave for slave, _, _ in bench.writes()] == sorted([*range(10)] * 2)


def test_drives_one_after_another_are_written_in_the_order_of_their_joints(make_bench: Any) -> None:
    bench = make_bench(4, ring_positions=[2, 0, 3, 1], parallel_sdo=False)
    bench.state(Mode.DAMPING).run(0.4)
    bench.sent.clear()
    bench.state(STIFF).run(0.1)
    assert [list(batch.slaves) for batch in bench.sent if batch.write] == [[2], [0], [3], [1]]


@pytest.mark.parametrize("gap", [0.001, 0.002, 0.003, 0.004, 0.005])
def test_a_newer_mode_overtakes_the_one_being_written_which_is_no_failure(
    bench: Any, registers: Any, gap: float, caplog: pytest.LogCaptureFixture
) -> None:
    bench.enter(Mode.DAMPING)
    for drive in bench.drives:
        drive.stiffness.clear()
    caplog.clear()
    bench.state(STIFF).run(gap)
    bench.state(Mode.DAMPING).run(0.02)
    assert bench.confirmed
    assert caplog.messages == []
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}
    assert all(value <= 515 * 19 for drive in bench.drives for value in drive.stiffness)


# Errors.


def test_only_the_drive_that_failed_is_tried_again_a_bounded_number_of_times(
    bench: Any, registers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bench.enter(Mode.DAMPING)
    caplog.clear()
    bench.drives[3].aborts = {VELOCITY}
    bench.state(STIFF).run(0.9)
    assert not bench.confirmed
    assert bench.summary.message == "joint3: slave 3 0x2381:01: the drive aborted"
    assert rows(bench) == {(*registers[STIFF], 1), (*registers[Mode.DAMPING], 1)}
    assert [list(batch.slaves) for batch in bench.sent[1:] if batch.write] == [[3]] * 5
    bench.sent.clear()
    bench.run(10.0)
    tries = [batch for batch in bench.sent if batch.write]
    assert 9 <= len(tries) <= 11  # once a second
    text = "joint3: slave 3 0x2381:01: the drive aborted"
    lasting = f"6 tries, from now on one a second: {text}"
    assert caplog.messages == [text, lasting]
    bench.drives[3].aborts.clear()
    bench.run(1.1)
    assert bench.confirmed
    assert bench.summary.message == ""


def test_a_drive_that_fails_for_hours_is_tried_again_once_a_second() -> None:
    """A factor that is doubled a thousand times is beyond the floats."""
    record = DriveRecord("joint3", 3)
    for second in range(2_000):
        record.fail("no answer", float(second))
    assert record.failures == 2_000
    assert not record.due(JointRegisters(0, 1, 0), 1_999.9)[0]
    assert record.due(JointRegisters(0, 1, 0), 2_000.0)[0]


def test_every_joint_has_the_registers_of_its_own_drive_in_any_order_of_the_ring(
    make_bench: Any, registers: Any
) -> None:
    """Joint 1 is the drive at position 0, with twice the torque constant."""
    kt = [0.132e-3, 0.264e-3, 0.132e-3, 0.132e-3]
    bench = make_bench(4, ring_positions=[2, 0, 3, 1], kt=kt)
    bench.enter(STIFF)
    assert [drive.values[VELOCITY] for drive in bench.drives] == [9, 19, 19, 19]
    assert bench.summary.registers[1] == (515, 9, 0)
    bench.drives[3].aborts = {VELOCITY}
    bench.state(Mode.DAMPING).run(0.9)
    assert bench.summary.message == "joint2: slave 3 0x2381:01: the drive aborted"
    assert bench.summary.registers[0] == registers[Mode.DAMPING]
    assert bench.summary.registers[2] != registers[Mode.DAMPING]


def test_many_failures_are_reported_in_brief(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    bench.enter(Mode.DAMPING)
    caplog.clear()
    for drive in bench.drives:
        drive.aborts = {VELOCITY}
    bench.state(STIFF).run(0.01)
    text = (
        "joint0: slave 0 0x2381:01: the drive aborted; "
        "joint1: slave 1 0x2381:01: the drive aborted; and 8 more"
    )
    assert caplog.messages == [text]
    assert bench.summary.message == text


def test_a_drive_that_keeps_its_value_is_never_confirmed(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.drives[9].ignores = {POSITION}
    bench.state(STIFF).run(5.0)
    assert not bench.confirmed
    assert bench.summary.registers[9] == (0, 19, 0)
    assert bench.summary.message.startswith("joint9: slave 9 0x2382:01")


def test_nine_drives_are_softened_while_the_tenth_is_dead(bench: Any, registers: Any) -> None:
    bench.enter(STIFF)
    bench.drives[9].dead = True
    bench.state(Mode.DAMPING).run(0.02)
    assert rows(bench) == {(*registers[Mode.DAMPING], 1), (*registers[STIFF], 1)}
    # The same while the batch that waits for the dead drive is active.
    bench.state(STIFF).run(0.05)
    bench.state(Mode.DAMPING).run(0.05)
    assert [d.row for d in bench.drives[:9]] == [(*registers[Mode.DAMPING], 1)] * 9
    assert not bench.confirmed
    bench.drives[9].dead = False
    bench.run(2.5)
    assert bench.confirmed
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}


def run_to_the_next_audit(bench: Any) -> None:
    while not any(not it.batch.write for it in bench.running):
        bench.run(0.001)


def test_nine_drives_are_softened_though_the_tenth_hangs_while_all_are_read_again(
    bench: Any, registers: Any
) -> None:
    bench.enter(STIFF)
    bench.drives[9].dead = True
    run_to_the_next_audit(bench)
    bench.state(Mode.DAMPING).run(0.06)
    assert [d.row for d in bench.drives[:9]] == [(*registers[Mode.DAMPING], 1)] * 9


def test_readings_without_an_answer_leave_the_gains_confirmed(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A reading changes nothing on the drive."""
    bench.enter(STIFF)
    run_to_the_next_audit(bench)
    caplog.clear()
    bench.drives[9].dead = True
    for _ in range(250):  # two readings are given up
        bench.run(0.001)
        assert bench.confirmed
    bench.drives[9].dead = False
    bench.began.clear()
    bench.run(0.2)
    assert len(caplog.messages) == 1
    assert "joint9: slave 9" in caplog.messages[0]
    assert "no answer" in caplog.messages[0]
    assert {(it.index, it.subindex) for _, it, _ in bench.began} >= {
        GATE,
        POSITION,
        VELOCITY,
        INTEGRAL,
    }
    bench.began.clear()
    bench.run(0.5)
    assert bench.confirmed
    assert bench.began == []


def test_drive_that_answers_no_reading_does_not_stay_confirmed(bench: Any) -> None:
    bench.enter(STIFF)
    run_to_the_next_audit(bench)
    bench.drives[9].dead = True
    confirmed = []
    for _ in range(300):
        bench.run(0.01)
        confirmed.append(bench.confirmed)
    assert confirmed[0]
    assert not confirmed[-1]
    # It was read a second before; the next reading may be a second later, and takes 0.1 s.
    assert 0.9 < confirmed.count(True) * 0.01 < 2.7
    assert confirmed == sorted(confirmed, reverse=True)
    assert "joint9" in bench.summary.message
    bench.drives[9].dead = False
    bench.run(1.1)
    assert bench.confirmed


def test_audit_without_an_answer_leaves_the_gains_confirmed(bench: Any) -> None:
    """The whole batch gets no reply, as from a service that loses it."""
    bench.enter(STIFF)
    run_to_the_next_audit(bench)
    bench.answering = False
    bench.run(0.1)
    bench.answering = True
    given_up: list[str] = []
    for _ in range(1500):
        bench.run(0.001)
        assert bench.confirmed
        given_up += [it.failure for it in bench.manager._records if it.failure]
    assert "joint0: no answer within 1 s" in given_up


def test_a_reading_that_a_newer_mode_supersedes_is_not_made_again_before_the_gains_are_written(
    bench: Any,
) -> None:
    bench.enter(STIFF)
    run_to_the_next_audit(bench)
    bench.answering = False
    bench.run(0.01)
    bench.answering = True
    bench.sent.clear()
    bench.state(Mode.DAMPING).run(0.06)
    assert bench.sent[0].write
    assert bench.confirmed


def test_a_drive_that_restarted_unread_is_armed_again_as_soon_as_it_answers(
    bench: Any, registers: Any
) -> None:
    bench.enter(STIFF)
    run_to_the_next_audit(bench)
    bench.drives[9].dead = True
    bench.run(0.15)
    bench.drives[9].restart()
    bench.drives[9].dead = False
    bench.run(0.3)
    assert bench.confirmed
    assert bench.drives[9].row == (*registers[STIFF], 1)


def test_a_drive_that_restarted_is_armed_again_though_no_mode_changes(
    bench: Any, registers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bench.enter(Mode.DAMPING)
    bench.drives[5].restart()
    bench.run(1.5)
    assert bench.confirmed
    assert bench.drives[5].row == (*registers[Mode.DAMPING], 1)
    assert any("joint5: 0x2383:00 was 1 and is 0 now" in text for text in caplog.messages)
    assert {slave for slave, _, _ in bench.writes()} == {5}


def test_our_own_writes_are_no_surprise(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    bench.enter(Mode.DAMPING)
    caplog.clear()
    bench.flowing = False
    bench.run(0.3)
    bench.state(STIFF)
    bench.flowing = True
    bench.run(3.0)
    assert bench.confirmed
    assert caplog.messages == []


def test_an_answer_that_never_comes_is_given_up_and_requested_again(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.answering = False
    bench.state(STIFF).run(0.5)
    assert not bench.confirmed
    bench.answering = True
    bench.run(0.7)
    assert bench.confirmed


@pytest.mark.parametrize("reply", [Reply(), Reply(failure="no ring")], ids=["empty", "failure"])
def test_a_reply_without_results_is_a_failure(bench: Any, reply: Reply) -> None:
    bench.enter(Mode.DAMPING)
    bench.state(STIFF)
    (batch,) = bench.manager.next_batches(bench.time)
    bench.manager.finished(batch, reply, bench.time)
    assert (reply.failure or "0 results for 20 objects") in bench.summary.message
    bench.run(0.1)
    assert bench.confirmed


def test_a_late_answer_of_a_batch_given_up_changes_nothing(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.answering = False
    bench.state(STIFF).run(0.01)
    late: Batch = bench.sent[-1]
    bench.answering = True
    bench.state(Mode.DAMPING).run(0.1)
    assert bench.confirmed
    before = bench.summary
    bench.manager.finished(late, Reply(failure="late"), bench.time)
    assert bench.summary == before


def test_manager_reads_all_drives_again_after_services_were_absent(
    bench: Any, registers: Any
) -> None:
    bench.enter(STIFF)
    bench.obstacle = "waiting for the service /erob/write_sdo_batch"
    bench.run(0.05)
    assert not bench.confirmed
    assert bench.summary.message == bench.obstacle
    for drive in bench.drives:
        drive.restart()
    bench.obstacle = ""
    bench.run(0.1)
    assert bench.confirmed
    assert rows(bench) == {(*registers[STIFF], 1)}


def test_a_restarted_control_process_is_followed_though_its_numbers_start_again(
    bench: Any, registers: Any
) -> None:
    bench.enter(Mode.DAMPING).enter(STIFF)
    bench.flowing = False
    bench.run(3.0)
    for drive in bench.drives:
        drive.restart()
    bench.state(Mode.ZERO_TORQUE, number=1).run(0.5)
    assert bench.began == []
    bench.flowing = True
    bench.run(0.1)
    assert bench.confirmed
    assert bench.summary.in_force == (Mode.ZERO_TORQUE, 1)
    assert rows(bench) == {(*registers[Mode.ZERO_TORQUE], 1)}


def test_gains_are_unconfirmed_after_a_long_interruption_until_read_again(
    bench: Any,
) -> None:
    """The control process may have been restarted, with the same mode and number."""
    bench.enter(Mode.DAMPING)
    bench.flowing = False
    bench.run(2.0)
    for drive in bench.drives:
        drive.restart()
    bench.manager.joints_seen(bench.names, [0.0] * 10, bench.time)
    assert not bench.confirmed
    bench.flowing = True
    bench.run(0.1)
    assert bench.confirmed
    assert {drive.values[GATE] for drive in bench.drives} == {1}


@pytest.mark.parametrize("mode", [Mode.DAMPING, STIFF])
def test_manager_reads_all_drives_again_after_a_short_interruption(
    bench: Any, registers: Any, mode: Mode
) -> None:
    """The same if a change of mode is written first."""
    bench.enter(Mode.DAMPING)
    bench.flowing = False
    bench.run(0.3)
    bench.drives[2].restart()
    if mode is not Mode.DAMPING:
        bench.state(mode)
    bench.flowing = True
    bench.run(0.1)
    assert bench.confirmed
    assert rows(bench) == {(*registers[mode], 1)}


def test_manager_reads_all_drives_again_when_switch_numbers_start_again(
    bench: Any, registers: Any
) -> None:
    bench.enter(Mode.ZERO_TORQUE).enter(Mode.DAMPING)
    for drive in bench.drives:
        drive.restart()
    bench.state(Mode.ZERO_TORQUE, number=1).run(0.1)
    assert rows(bench) == {(*registers[Mode.ZERO_TORQUE], 1)}


def test_a_statement_that_is_not_in_force_moves_no_gain(bench: Any, registers: Any) -> None:
    """A second stack, or a recording with valid stamps: the component refuses."""
    bench.enter(Mode.DAMPING)
    bench.manager.stated(ModeInForce(STIFF, 9), bench.time)
    bench.run(0.5)
    assert not bench.confirmed
    assert rows(bench) == {(*registers[Mode.DAMPING], 1)}
    assert "not in force" in bench.summary.message
    bench.manager.stated(bench.in_force, bench.time)
    bench.run(0.1)
    assert bench.confirmed


# Any sequence of events.

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["mode", "interrupt", "kill", "restart", "mute"]),
        st.integers(0, 4),
        st.sampled_from([0.001, 0.004, 0.03, 0.2, 1.3]),
    ),
    max_size=8,
)


@given(events=EVENTS)
def test_manager_writes_only_with_an_open_gate_and_confirms_after_any_events(
    make_bench: Any, registers: Any, events: list[tuple[str, int, float]]
) -> None:
    bench = make_bench(count=3)
    open_until = []
    seen = bench.gate.seen

    def watch(names: Any, positions: Any, now: float) -> float:
        open_until.append(now + bench.gate.limit)
        return float(seen(names, positions, now))

    bench.gate.seen = watch
    bench.state(Mode.DAMPING).run(0.1)
    for kind, value, wait in events:
        bench.flowing = kind != "interrupt"
        bench.answering = kind != "mute"
        bench.drives[value % 3].dead = kind == "kill"
        if kind == "mode":
            bench.state(Mode(value))
        if kind == "restart":
            bench.drives[value % 3].restart()
        bench.run(wait)
    bench.flowing = bench.answering = True
    for drive in bench.drives:
        drive.dead = False
    in_force = bench.in_force
    bench.run(3.5)
    assert bench.confirmed, bench.summary.message
    assert rows(bench) == {(*registers[in_force.mode], 1)}
    for time, item, write in bench.began:
        assert not write or any(until - 0.1 <= time <= until for until in open_until), item
    assert all(value <= 515 * 19 for drive in bench.drives for value in drive.stiffness)
