from __future__ import annotations

import logging
import math

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_viz.state.latest_messages import ANSWER_SHOWN, LatestMessages
from humanoid_viz.state.message_rates import LOST_AFTER
from humanoid_viz.state.state import (
    Answer,
    JointRow,
    SafetyReport,
    StandbyProgress,
    Statement,
    StreamState,
)

HALFWAY = StandbyProgress(segment=0, segments=2, progress=0.5, finished=False)


@pytest.fixture
def board() -> LatestMessages:
    return LatestMessages()


def put_states(board, times, names=("shoulder", "elbow")):
    values = [0.1] * len(names)
    board.put_joint_states(names, (values, values, values), times)


def state(board, mode, time):
    board.put_statement(Statement(mode, "some_controller", ""), time)


def test_an_empty_board_claims_nothing(board):
    shown = board.snapshot(5.0)
    assert shown.connection.flow is StreamState.NEVER
    assert shown.connection.age is None
    assert shown.connection.rate is None
    assert shown.mode.flow is StreamState.NEVER
    assert shown.mode.statement is None
    assert (shown.joints, shown.safety, shown.model) == ((), (), None)


def test_the_rate_is_that_of_the_last_second(board):
    put_states(board, [i * 0.1 for i in range(11)])
    put_states(board, [1.0 + i * 0.005 for i in range(1, 201)])
    assert board.snapshot(2.0).connection.rate == pytest.approx(200.0)


def test_silence_is_a_lost_connection_and_the_next_message_ends_it(board):
    put_states(board, [10.0])
    assert board.snapshot(10.0 + LOST_AFTER).connection.flow is StreamState.FLOWING
    lost = board.snapshot(10.1 + LOST_AFTER).connection
    assert lost.flow is StreamState.LOST
    assert lost.age == pytest.approx(LOST_AFTER + 0.1)
    assert lost.rate is None
    put_states(board, [20.0])
    assert board.snapshot(20.0).connection.flow is StreamState.FLOWING


def test_a_value_that_was_not_sent_or_is_not_finite_is_unknown_and_never_zero(board):
    board.put_joint_states(["a", "b"], ([0.5, math.nan], [], [1.0, math.inf]), [0.0])
    assert board.snapshot(0.0).joints == (
        JointRow("a", position=0.5, effort=1.0),
        JointRow("b"),
    )


def test_commands_are_unknown_as_soon_as_they_stop(board):
    put_states(board, [0.0, 5.0], ["a"])
    board.put_joint_commands(["a"], ([0.5], [20.0], [2.0]), [0.0])
    row = board.snapshot(0.5).joints[0]
    assert (row.command_position, row.command_stiffness, row.command_damping) == (0.5, 20.0, 2.0)
    row = board.snapshot(5.0).joints[0]
    assert row.command_position is row.command_stiffness is row.command_damping is None


def test_joints_stand_in_the_order_of_the_states_then_those_only_described(board, arm_urdf):
    board.put_description(arm_urdf)
    assert [row.name for row in board.snapshot(0.0).joints] == ["shoulder", "elbow"]
    put_states(board, [0.0], ["wheel", "elbow"])
    assert [row.name for row in board.snapshot(0.0).joints] == ["wheel", "elbow", "shoulder"]


def test_joints_the_description_lacks_are_named_once_in_the_log(board, arm_urdf, caplog):
    caplog.set_level(logging.WARNING)
    board.put_description(arm_urdf)
    put_states(board, [0.0], ["shoulder", "wheel"])
    assert board.snapshot(0.0).unknown_joints == ("wheel",)
    put_states(board, [0.1], ["shoulder", "wheel", "tail"])
    board.snapshot(0.1)
    board.snapshot(0.2)
    assert [record.getMessage().split(": ")[1] for record in caplog.records] == ["wheel", "tail"]


def test_a_malformed_description_takes_the_robot_away_and_is_logged_once(board, arm_urdf, caplog):
    board.put_description(arm_urdf)
    assert board.snapshot(0.0).model is not None
    board.put_description("<robot/>")
    board.put_description("<robot/>")
    shown = board.snapshot(0.0)
    assert shown.model is None
    assert shown.description_error.startswith("the description has no <link>")
    assert len(caplog.records) == 1
    board.put_description(arm_urdf)
    shown = board.snapshot(0.0)
    assert shown.model is not None
    assert shown.description_error == ""


def test_the_same_description_again_is_the_same_robot(board, arm_urdf):
    board.put_description(arm_urdf)
    before = board.snapshot(0.0).model
    board.put_description(arm_urdf)
    assert board.snapshot(0.0).model is before


def test_a_mode_stated_long_ago_is_not_in_force(board):
    state(board, Mode.STANDBY, 0.0)
    board.put_standby(HALFWAY)
    assert board.snapshot(0.5).mode.flow is StreamState.FLOWING
    assert board.snapshot(0.5).standby == HALFWAY
    shown = board.snapshot(3.0)
    assert shown.mode.flow is StreamState.LOST
    assert shown.standby is None


def test_progress_belongs_to_the_present_standby(board):
    state(board, Mode.STANDBY, 0.0)
    board.put_standby(HALFWAY)
    state(board, Mode.DAMPING, 0.1)
    assert board.snapshot(0.1).standby is None
    state(board, Mode.STANDBY, 0.2)
    assert board.snapshot(0.2).standby is None
    board.put_standby(HALFWAY)
    state(board, Mode.STANDBY, 0.3)
    assert board.snapshot(0.3).standby == HALFWAY


def test_a_viewer_that_comes_late_shows_the_latched_progress(board):
    board.put_standby(HALFWAY)
    state(board, Mode.STANDBY, 0.0)
    assert board.snapshot(0.0).standby == HALFWAY


def test_safety_reports_are_kept_per_source_and_marked_once_the_connection_was_lost(board):
    board.put_safety(SafetyReport("bus", 2, 0, "broken"))
    board.put_safety(SafetyReport("bus", 1, 0, "shaky"))
    board.put_safety(SafetyReport("hands", 0, 0, ""))
    put_states(board, [0.0])
    rows = board.snapshot(0.0).safety
    assert [(row.report.source, row.report.level, row.outdated) for row in rows] == [
        ("bus", 1, False),
        ("hands", 0, False),
    ]
    assert all(row.outdated for row in board.snapshot(3.0).safety)
    put_states(board, [4.0])
    board.put_safety(SafetyReport("bus", 0, 0, ""))
    assert {row.report.source: row.outdated for row in board.snapshot(4.0).safety} == {
        "bus": False,
        "hands": True,
    }


def test_surplus_safety_sources_are_one_fault_that_names_the_latest(board):
    for number in range(100):
        board.put_safety(SafetyReport(f"bus {number}", 0, 0, ""))
    rows = [row.report for row in board.snapshot(0.0).safety]
    assert [report.source for report in rows[:32]] == [f"bus {number}" for number in range(32)]
    surplus = SafetyReport("safety monitor", 2, 0, "more than 32 safety sources, now 'bus 99'")
    assert rows[32:] == [surplus]
    board.put_safety(SafetyReport("bus 3", 3, 0, "broken"))
    rows = [row.report for row in board.snapshot(0.0).safety]
    assert rows[3] == SafetyReport("bus 3", 3, 0, "broken"), "a known source goes on"
    put_states(board, [0.0])
    assert all(row.outdated for row in board.snapshot(9.0).safety)
    board.put_safety(SafetyReport("bus 40", 0, 0, ""))
    outdated = {row.report.source: row.outdated for row in board.snapshot(9.0).safety}
    assert set(outdated) == {*(f"bus {number}" for number in range(32)), "safety monitor"}


def test_the_outcome_of_a_click_is_shown_for_a_while(board):
    board.put_answer("requested DAMPING", refused=False, time=10.0)
    assert board.snapshot(10.0 + ANSWER_SHOWN).answer == Answer("requested DAMPING", False)
    assert board.snapshot(10.1 + ANSWER_SHOWN).answer is None
