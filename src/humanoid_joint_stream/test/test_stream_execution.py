"""Execution of a stream, tick by tick, on the clock of the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.robot.mit_interface import Capability, JointState, mit_torque
from humanoid_control_common.rules.modes import Mode
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.command.stream_execution import LATE, SERVER_SILENCE
from humanoid_joint_stream.controller import JointStreamController, JointStreamParameters
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.lease import TIMEOUT
from humanoid_joint_stream.server.session import Situation
from humanoid_joint_stream.shared.stream_file import StreamFile
from src.humanoid_joint_stream.test.joint_bench import (
    COUNT,
    DAMPING,
    EFFORT,
    JOINTS,
    KD,
    KP,
    MS,
    PERIOD,
    UPPER,
    Bench,
    later,
    robot_facts,
    update,
)


def test_the_stream_is_inactive_before_remote_is_entered_for_the_first_time() -> None:
    controller = JointStreamController()
    chosen = JointStreamParameters(stiffness=KP, damping=KD)
    controller.on_configure(chosen, robot_facts())
    file = StreamFile.in_memory(controller.facts)
    controller.connect(file, None)
    assert Execution(file.report().execution) is Execution.INACTIVE


def test_the_pose_of_the_entry_is_held_until_the_first_command() -> None:
    bench = Bench()
    bench.state.position[:] = 0.3
    bench.enter()
    bench.state.position[:] = 0.4
    rows = bench.tick().array
    assert rows.tolist() == [[0.3] * 3, [0.0] * 3, [0.0] * 3, [20.0] * 3, [DAMPING] * 3]
    assert bench.execution is Execution.HOLDING


def test_gains_of_the_first_message_give_the_same_torque_as_gains_in_all() -> None:
    """Case 5."""
    torques = []
    for make in (later, update):
        bench = Bench().following()
        bench.send(update(bench.now))
        found = []
        for number in range(299):
            bench.state.array[:] = 0.01 * (number % 7)
            bench.send(make(bench.now, position=[0.001 * number] * COUNT))
            found.append(mit_torque(bench.tick(), bench.state).copy())
        torques.append(np.array(found))
    assert torques[0].tolist() == torques[1].tolist()
    assert np.ptp(torques[0]) > 1.0


def test_a_partial_set_of_gains_ends_the_stream_and_the_robot_falls_back() -> None:
    """Case 6."""
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.send(update(bench.now, k_qd_p=[]))
    bench.ends_with(Status.INVALID_REQUEST, "gains.k_qd_p")
    bench.tick()
    assert bench.is_damped()


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"end_time": -10 * MS}, Status.EXPIRED),  # case 9
        ({"end_time": 10 * SECOND}, Status.TOO_DISTANT),  # case 10
        ({"position": [0.0]}, Status.INVALID_REQUEST),  # case 7
        ({"velocity_safety_limit": 0.0}, Status.INVALID_REQUEST),  # case 23
    ],
)
def test_a_refused_first_update_is_never_applied(changes: Any, status: Status) -> None:
    """Cases 7, 9, 10, 23."""
    bench = Bench().following()
    if "end_time" in changes:
        changes = {"end_time": bench.now + changes["end_time"]}
    bench.send(update(bench.now, **changes))
    assert bench.end.status is status
    bench.tick()
    assert bench.report.applied_count == 0
    assert bench.stream is not None
    assert (bench.stream.counters.received, bench.stream.counters.rejected) == (1, 1)
    assert bench.stream.counters.late == (status is Status.EXPIRED)


def test_a_command_ends_at_its_end_time_and_the_stream_with_it() -> None:
    """Case 11."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + 50 * MS))
    for rows in bench.ticks(40 * MS):  # ticks after 10 to 40 ms
        assert rows[3].tolist() == [KP] * COUNT
    bench.tick()  # after 50 ms
    assert bench.is_damped()
    assert bench.execution is Execution.FALLBACK
    bench.tick()
    bench.ends_with(Status.EXPIRED, "over before another one came")
    assert bench.session.last_error.startswith("EXPIRED")


def test_after_expiry_commands_of_the_same_activation_are_not_followed() -> None:
    """Case 11, and the default of `resume_after_expiry`."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + 20 * MS))
    bench.ticks(20 * MS)
    bench.overtake(update(bench.now))  # the server has not detected it yet
    bench.tick()
    assert bench.is_damped()


def test_commands_of_an_activation_after_the_expiry_are_followed() -> None:
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + 20 * MS))
    bench.ticks(50 * MS)
    bench.following()
    assert bench.tick().stiffness.tolist() == [20.0] * COUNT
    bench.send(update(bench.now))
    assert bench.tick().stiffness.tolist() == [KP] * COUNT


@pytest.mark.parametrize("fallback", ["damp", "hold"])
def test_a_new_activation_holds_the_pose_as_the_first_one_and_reports_no_earlier_command(
    fallback: str,
) -> None:
    bench = Bench(fallback=fallback).following()
    bench.send(update(bench.now, user_command_key=7, end_time=bench.now + 20 * MS))
    bench.ticks(50 * MS)
    assert (bench.execution, bench.report.applied_key) == (Execution.FALLBACK, 7)
    bench.state.position[:] = 0.3
    bench.session.begin_activation(bench.now)
    rows = bench.tick().array
    assert rows.tolist() == [[0.3] * 3, [0.0] * 3, [0.0] * 3, [20.0] * 3, [DAMPING] * 3]
    report = bench.report
    assert (bench.execution, report.applied_key, report.applied_time) == (Execution.HOLDING, 0, 0)
    assert not bench.controller.remark
    bench.session.stop(Status.INACTIVE, "deactivated")
    bench.tick()
    assert bench.execution is Execution.FALLBACK


def test_a_new_command_resumes_where_that_is_configured() -> None:
    """Case 12."""
    bench = Bench(resume_after_expiry=True).following()
    bench.send(update(bench.now))
    bench.ticks(200 * MS)
    assert bench.is_damped()
    bench.send(later(bench.now))
    assert bench.tick().stiffness.tolist() == [KP] * COUNT


def test_the_fallback_hold_keeps_the_measured_pose_with_the_latest_gains() -> None:
    bench = Bench(fallback="hold").following()
    bench.send(update(bench.now, load=[1.0] * 3, velocity=[1.0] * 3))
    bench.state.position[:] = 0.07
    bench.ticks(50 * MS)
    bench.state.position[:] = 0.05
    rows = bench.tick().array
    assert rows.tolist() == [[0.07] * 3, [0.0] * 3, [0.0] * 3, [KP] * 3, [KD] * 3]


def test_the_fallback_hold_keeps_the_modes_gains_of_joints_that_have_these() -> None:
    """A joint that is held without stiffness is not held."""
    per_mode = np.full((5, COUNT), Capability.PER_TICK)
    per_mode[3:, 0] = Capability.PER_MODE
    bench = Bench(per_mode, fallback="hold", ignore_unsupported=True).following()
    bench.send(update(bench.now, k_q_p=[0.0, 5.0, 5.0], k_qd_p=[0.0, 1.0, 1.0]))
    expected = [[20.0, 5.0, 5.0], [DAMPING, 1.0, 1.0]]
    found = bench.ticks(60 * MS)  # of which it is followed for 50
    assert bench.execution is Execution.FALLBACK
    assert [rows[3:].tolist() for rows in found] == [expected] * len(found)


def test_a_position_beyond_the_limit_is_clipped_and_flagged() -> None:
    """Case 18."""
    bench = Bench().following()
    bench.send(update(bench.now, position=[0.0, UPPER + 1.0, -UPPER - 1.0]))
    assert bench.tick().position.tolist() == [0.0, UPPER, -UPPER]
    assert bench.report.position_clipped
    assert not bench.report.load_clipped
    assert bench.session.last_update.status is Status.OK
    bench.tick()
    assert bench.report.clipped_count == 1, "commands, not ticks"
    bench.send(later(bench.now))
    bench.tick()
    assert not bench.report.position_clipped


def test_the_extrapolated_position_is_clipped() -> None:
    bench = Bench().following()
    message = update(
        bench.now,
        position=[UPPER - 0.005] * 3,
        velocity=[1.0] * 3,
        extrapolation_duration=SECOND,
    )
    bench.send(message)
    assert [rows[0, 0] for rows in bench.ticks(3 * PERIOD)] == [UPPER] * 3


def test_a_command_that_is_clipped_after_its_first_tick_counts_as_clipped() -> None:
    bench = Bench().following()
    fields = {"position": [UPPER - 0.03] * 3, "velocity": [1.0] * 3}
    bench.send(update(bench.now, extrapolation_duration=SECOND, **fields))
    counts = []
    for _ in range(5):
        bench.tick()
        counts.append(bench.report.clipped_count)
    assert counts == [0, 0, 0, 1, 1]


def test_a_load_beyond_the_limit_is_clipped() -> None:
    """Case 19, the part of the controller. The total is limited by the loop's limit stage."""
    bench = Bench().following()
    bench.send(update(bench.now, load=[10 * EFFORT, -10 * EFFORT, 1.0]))
    assert bench.tick().effort.tolist() == [EFFORT, -EFFORT, 1.0]
    assert bench.report.load_clipped


# A knee's ratio times 1.5 Nm of its motor, at three of its positions [rad].
KNEE = {"position": [-2.7929, -1.4436, -0.2471], "effort": [37.17, 113.24, 30.60]}


@pytest.mark.parametrize(
    ("position", "expected"),
    [(-0.2471, 30.60), (0.0, 30.60), (-1.4436, 113.24), (-0.84535, (113.24 + 30.60) / 2)],
)
def test_the_limit_of_a_load_may_depend_on_the_measured_position(
    position: float, expected: float
) -> None:
    """Case 20."""
    bench = Bench(effort_tables={"elbow": KNEE}).following()
    bench.controller._execution._efforts._constant[:] = 200.0
    bench.state.position[1] = position
    bench.send(update(bench.now, load=[0.0, 115.0, 0.0]))
    assert bench.tick().effort[1] == pytest.approx(expected)
    assert bench.report.load_clipped


def test_the_stricter_limit_of_a_load_counts() -> None:
    """Case 20, and section 5's rule of the two limits."""
    bench = Bench(effort_tables={"elbow": KNEE}).following()
    bench.state.position[1] = -1.4436
    bench.send(update(bench.now, load=[0.0, 115.0, 0.0]))
    assert bench.tick().effort[1] == EFFORT


def test_a_broken_number_leaves_the_previous_command_until_its_end() -> None:
    """Case 21."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + 50 * MS))
    bench.tick()
    bench.send(later(bench.now, velocity=[0.0, 0.0, np.nan], position=[0.5] * 3))
    assert bench.session.last_update.status is Status.INVALID_REQUEST
    for rows in bench.ticks(30 * MS):  # after 20 to 40 ms
        assert rows[0].tolist() == [0.1] * COUNT
    bench.tick()
    assert bench.is_damped()


def test_a_joint_above_the_velocity_limit_is_a_fault_in_the_same_tick() -> None:
    """Case 22."""
    bench = Bench().following()
    bench.send(update(bench.now, velocity_safety_limit=0.5))
    bench.state.velocity[1] = 0.5
    bench.tick()
    assert bench.execution is Execution.FOLLOWING, "at the limit is not above"
    bench.state.velocity[1] = -1.0
    bench.tick()
    assert bench.is_damped()
    assert bench.execution is Execution.FAULT
    bench.poll()
    bench.ends_with(Status.FAULT, "elbow moved at 1.00 rad/s, limit 0.5 rad/s")
    (fault,) = bench.session.standing_faults()
    bench.state.velocity[1] = 0.0
    bench.session.begin_activation(bench.now)  # even this causes no motion
    bench.open()
    bench.send(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.FAULT
    bench.session.clear_own_fault(fault)
    bench.tick()
    assert bench.session.standing_faults() == []
    bench.following()
    bench.send(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.FOLLOWING


def test_a_fault_that_was_cleared_clears_no_later_one() -> None:
    bench = Bench().following()
    for expected in (1, 2):
        bench.send(update(bench.now, velocity_safety_limit=0.5))
        bench.state.velocity[1] = 1.0
        bench.tick()
        bench.state.velocity[1] = 0.0
        for _ in range(3):
            bench.tick()
            assert (bench.execution, bench.report.fault) == (Execution.FAULT, expected)
        (fault,) = bench.session.standing_faults()
        bench.session.clear_own_fault(fault)
        bench.tick()
        assert bench.execution is Execution.FALLBACK
        bench.following()


def test_a_fault_that_stands_is_the_same_after_another_mode() -> None:
    bench = Bench().following()
    bench.send(update(bench.now, velocity_safety_limit=0.5))
    bench.state.velocity[1] = 1.0
    bench.tick()
    (fault,) = bench.session.standing_faults()
    bench.leave(Situation(Mode.DAMPING))
    bench.enter()
    assert bench.session.standing_faults() == [fault]


@pytest.mark.parametrize(
    ("floor", "expected"), [(0.0, Execution.FOLLOWING), (0.5, Execution.FAULT)]
)
def test_a_limit_holds_for_its_message_only_the_floor_always(
    floor: float, expected: Execution
) -> None:
    """Case 24."""
    bench = Bench(velocity_safety_floor=floor).following()
    bench.send(update(bench.now, velocity_safety_limit=0.5))
    bench.tick()
    bench.send(later(bench.now))
    bench.state.velocity[0] = 1.0
    bench.tick()
    assert bench.execution is expected


def test_the_floor_is_active_before_the_first_command() -> None:
    bench = Bench(velocity_safety_floor=0.5)
    bench.state.velocity[2] = 0.6
    bench.tick()
    assert bench.execution is Execution.FAULT


@pytest.mark.parametrize(
    ("fallback", "expected"), [("damp", Execution.FALLBACK), ("hold", Execution.FAULT)]
)
def test_the_floor_is_active_in_a_stiff_fallback(fallback: str, expected: Execution) -> None:
    """A damped robot may move."""
    bench = Bench(fallback=fallback, velocity_safety_floor=0.5).following()
    bench.send(update(bench.now))
    bench.ticks(100 * MS)
    bench.state.velocity[2] = 0.6
    bench.tick()
    assert bench.execution is expected
    assert bench.is_damped()


def test_a_joint_without_measurement_is_not_fast_and_hides_none() -> None:
    bench = Bench().following()
    bench.state.velocity[:] = np.nan, 2.0, np.nan
    bench.send(update(bench.now, velocity_safety_limit=1.0))
    bench.tick()
    assert (bench.execution, bench.report.fault_joint) == (Execution.FAULT, 1)


def test_pure_torque_is_the_load_on_every_joint() -> None:
    """Case 31."""
    bench = Bench().following()
    load = [1.5, -2.5, 39.0]
    zero = [0.0] * COUNT
    bench.state.array[:] = 0.7
    bench.send(update(bench.now, position=zero, load=load, k_q_p=zero, k_qd_p=zero))
    assert mit_torque(bench.tick(), bench.state) == pytest.approx(load, abs=1e-6)


def test_pure_pd_is_the_law() -> None:
    """Case 32."""
    bench = Bench().following()
    bench.state.array[:] = [[0.2, 0.3, -0.1], [0.5, -0.5, 0.1], [0.0] * 3]
    position, velocity = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.4, -0.2])
    bench.send(update(bench.now, position=position, velocity=velocity))
    expected = KP * (position - bench.state.position) + KD * (velocity - bench.state.velocity)
    assert mit_torque(bench.tick(), bench.state) == pytest.approx(expected, abs=1e-6)


def offline(message: Any, gains: Any, state: JointState, elapsed: float) -> Any:
    """The torque by the documents' formula."""
    q = np.clip(np.array(message.position) + elapsed * np.array(message.velocity), -UPPER, UPPER)
    load = np.clip(message.load, -EFFORT, EFFORT)
    damping = gains[1] * (np.array(message.velocity) - state.velocity)
    return gains[0] * (q - state.position) + damping + load


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_random_messages_give_the_torque_of_the_formula(seed: int) -> None:
    """Case 33: 20 streams of 500 messages."""
    random = np.random.default_rng(seed)
    bench = Bench().following()
    gains: Any = None
    for number in range(500):
        bench.state.array[:] = random.uniform(-1.0, 1.0, (3, COUNT))
        if number == 0 or random.random() < 0.3:
            gains = random.uniform(0.0, 100.0, (2, COUNT))
            own = {"k_q_p": gains[0], "k_qd_p": gains[1]}
        else:
            own = {"gains": None}
        extrapolation = int(random.integers(0, 30)) * MS
        rows = random.uniform(-3.0, 3.0, (3, COUNT)) * [[1.0], [1.0], [20.0]]
        message = update(
            bench.now,
            position=rows[0],
            velocity=rows[1],
            load=rows[2],
            extrapolation_duration=extrapolation,
            **own,
        )
        bench.send(message)
        elapsed = min(PERIOD, extrapolation) * 1e-9
        torque = mit_torque(bench.tick(), bench.state)
        assert torque == pytest.approx(offline(message, gains, bench.state, elapsed), abs=1e-6)


def test_the_last_valid_message_of_a_tick_wins_and_none_is_queued() -> None:
    """Case 38: 10 to 1 messages for each tick, then one for each 5 ticks."""
    bench = Bench().following()
    bench.send(update(bench.now))
    size = len(bench.file.memory)
    for number in range(100):
        for part in range(10):
            bench.send(later(bench.now, position=[0.001 * number + 0.0001 * part] * COUNT))
        bench.send(later(bench.now, position=[np.nan] * COUNT))
        assert bench.tick().position[0] == pytest.approx(0.001 * number + 0.0009)
    assert len(bench.file.memory) == size
    assert bench.report.applied_count == 100
    for _ in range(5):
        bench.send(later(bench.now, end_time=bench.now + 100 * MS))
        bench.ticks(5 * PERIOD)
    assert bench.execution is Execution.FOLLOWING


def test_a_silent_server_ends_the_execution_before_the_end_time() -> None:
    """A server that was killed: SERVER_SILENCE after its last sign of life."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + SECOND))
    bench.tick()
    bench.server_lives = False
    bench.ticks(SERVER_SILENCE)
    assert bench.execution is Execution.FOLLOWING
    bench.tick()
    assert bench.is_damped()


def test_a_server_that_takes_updates_counts_as_running() -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.server_lives = False  # it has no time for its step
    for _ in range(2 * SERVER_SILENCE // PERIOD):
        bench.send(later(bench.now))
        bench.tick()
        assert bench.execution is Execution.FOLLOWING


def test_a_killed_server_leaves_the_latest_command_to_its_end_time() -> None:
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + 30 * MS))
    bench.server_lives = False
    bench.ticks(30 * MS)
    assert bench.is_damped()


def test_a_tick_that_is_more_than_three_periods_late_falls_back() -> None:
    """Section 7: late ticks."""
    bench = Bench().following()
    bench.send(update(bench.now, end_time=bench.now + SECOND))
    bench.tick()
    bench.tick(2 * PERIOD)
    assert bench.execution is Execution.FOLLOWING
    bench.tick(round((1.0 + LATE) * PERIOD))
    assert bench.execution is Execution.FOLLOWING
    bench.tick(round((1.0 + LATE) * PERIOD) + MS)
    assert bench.is_damped()


def test_a_stream_that_still_comes_does_not_survive_a_change_of_the_mode() -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.tick()
    bench.leave(bench.situation)  # and back, before the server detects it
    bench.server_lives = False
    bench.controller.on_activate(bench.state, bench.command, bench.now / SECOND)
    bench.overtake(update(bench.now))
    bench.tick()
    assert bench.execution is Execution.HOLDING


def test_an_activation_that_ends_before_its_first_command_leaves_no_stiff_robot() -> None:
    """A client that dies between its activation and its first update: its lease ends."""
    bench = Bench()
    bench.lease = bench.session.acquire_lease("bench", bench.now)
    bench.session.begin_activation(bench.now)
    bench.tick()
    assert bench.execution is Execution.HOLDING
    bench.lease = ""
    bench.ticks(TIMEOUT + PERIOD)
    assert bench.is_damped()


def test_a_server_that_is_killed_before_the_first_command_leaves_no_stiff_robot() -> None:
    """The lease has no end any more."""
    bench = Bench().following()
    bench.tick()
    bench.server_lives = False
    bench.ticks(SERVER_SILENCE)
    assert bench.execution is Execution.HOLDING
    bench.tick()
    assert bench.is_damped()
    bench.server_lives = True
    bench.tick()
    bench.ends_with(Status.INACTIVE, "the server stood still for too long")


def test_the_pose_of_an_operator_is_held_without_the_server() -> None:
    bench = Bench()
    bench.server_lives = False
    bench.ticks(10 * SERVER_SILENCE)
    assert bench.execution is Execution.HOLDING


def test_an_activation_of_an_earlier_entry_does_not_end_the_pose_of_this_one() -> None:
    bench = Bench().following()
    bench.leave(bench.situation)
    bench.enter()
    assert bench.session.activation == 0
    bench.tick()
    assert bench.execution is Execution.HOLDING


def test_without_a_server_the_pose_is_held() -> None:
    bench = Bench()
    bench.controller._file = None
    bench.enter()
    assert bench.tick().stiffness.tolist() == [20.0] * COUNT


@pytest.mark.parametrize("remark", ["", "the joint stream has ended"])
def test_the_end_of_a_stream_is_shown_to_the_operator(remark: str) -> None:
    bench = Bench().following()
    bench.send(update(bench.now))
    bench.ticks(100 * MS if remark else PERIOD)
    assert bench.controller.remark.startswith(remark)
    assert bool(bench.controller.remark) == bool(remark)


def test_joints_are_in_the_order_of_the_robot() -> None:
    assert Bench().controller.facts.joints == JOINTS
