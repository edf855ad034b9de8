from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_viz.page import page
from humanoid_viz.state.state import (
    Answer,
    Connection,
    JointRow,
    ModeInForce,
    SafetyReport,
    SafetyRow,
    Snapshot,
    StandbyProgress,
    Statement,
    StreamState,
)

NOTHING = Snapshot(connection=Connection(StreamState.NEVER), mode=ModeInForce(StreamState.NEVER))
FLOWING = Connection(StreamState.FLOWING, age=0.004, rate=199.6)


def in_mode(mode: int, message: str = "", standby: StandbyProgress | None = None) -> Snapshot:
    statement = Statement(mode, "some_controller", message)
    return replace(
        NOTHING,
        connection=FLOWING,
        mode=ModeInForce(StreamState.FLOWING, statement, 0.01),
        standby=standby,
    )


def text(html: str) -> str:
    return re.sub(r"<[^>]*>", "|", html)


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [(None, 3, "–"), (0.0, 2, "0.00"), (-0.0004, 3, "0.000"), (-1.2345, 3, "-1.234")],
)
def test_numbers_are_dashes_when_unknown_and_have_no_negative_zero(value, decimals, shown):
    assert page.number(value, decimals) == shown


@pytest.mark.parametrize(
    ("connection", "shown"),
    [
        (Connection(StreamState.NEVER), "waiting for joint states"),
        (FLOWING, "connected 200 Hz"),
        (Connection(StreamState.FLOWING, age=0.0), "connected"),
        (Connection(StreamState.LOST, age=3.21), "connection lost 3.2 s ago"),
        (Connection(StreamState.LOST, age=300.0), "connection lost 5 min ago"),
    ],
)
def test_the_connection_is_reported_in_words(connection, shown):
    assert page.connection_text(replace(NOTHING, connection=connection)) == shown


def test_the_mode_in_force_is_shown_with_its_controller():
    html = page.header_html(in_mode(1))
    assert "hc-DAMPING" in html
    assert "|DAMPING|" in text(html)
    assert "some_controller" in html


def test_a_mode_that_is_not_stated_any_more_is_no_mode_in_force():
    stated = Statement(2, "standby_controller", "old refusal")
    html = page.header_html(replace(NOTHING, mode=ModeInForce(StreamState.LOST, stated, 7.0)))
    assert "|–|" in text(html)
    assert "mode unknown: STANDBY was stated 7.0 s ago" in html
    assert "old refusal" not in html


def test_a_mode_that_does_not_exist_is_shown_as_such():
    assert "|unknown mode 9|" in text(page.header_html(in_mode(9)))


@pytest.mark.parametrize(
    ("standby", "shown"),
    [
        (None, "progress unknown"),
        (StandbyProgress(0, 2, 0.25, False), "25% of the way to the ready pose, segment 1 of 2"),
        (StandbyProgress(0, 1, 0.25, False), "25% of the way to the ready pose"),
        (StandbyProgress(1, 2, 1.0, True), "ready pose reached"),
    ],
)
def test_standby_publishes_its_progress(standby, shown):
    assert f"|some_controller · {shown}|" in text(page.header_html(in_mode(2, standby=standby)))


HOSTILE = '<img src=x onerror="alert(1)">'


def test_text_from_topics_never_becomes_html():
    snapshot = replace(
        in_mode(1, message=HOSTILE),
        safety=(SafetyRow(SafetyReport(HOSTILE, 3, 0, HOSTILE), False),),
        joints=(JointRow(HOSTILE),),
        description_error=HOSTILE,
        answer=Answer(HOSTILE, True),
    )
    for make in (
        page.header_html,
        page.answer_html,
        page.safety_html,
        page.notices_html,
        page.table_html,
    ):
        html = make(snapshot)
        assert "<img" not in html
        assert "&lt;img" in html


def test_the_worst_safety_source_comes_first_with_its_flags():
    rows = (
        SafetyRow(SafetyReport("a", 0, 0, ""), False),
        SafetyRow(SafetyReport("b", 2, 17, "hot"), False),
        SafetyRow(SafetyReport("c", 1, 0, "warm"), True),
    )
    shown = text(page.safety_html(replace(NOTHING, safety=rows)))
    assert re.findall(r"\b(FAULT|WARNING|OK)\b", shown) == ["FAULT", "WARNING", "OK"]
    assert "b| hot · BUS_OFF, TEMPERATURE_LIMIT" in shown
    assert "before the connection was lost: warm" in shown


@given(level=st.integers(0, 255), flags=st.integers(0, 2**32 - 1))
def test_page_shows_any_safety_level_and_flags(level, flags):
    row = SafetyRow(SafetyReport("bus", level, flags, ""), False)
    html = page.safety_html(replace(NOTHING, safety=(row,)))
    assert page.level_name(level) in html
    colour = page.level_name(level) if level in set(SafetyLevel) else "CRITICAL"
    assert f'class="hc-source hc-{colour}"' in html
    for flag in SafetyFlag:
        assert bool(flags & flag) == (str(flag.name) in html)


def test_silence_of_the_safety_sources_is_not_shown_as_ok():
    assert text(page.safety_html(NOTHING)) == "|no safety source has reported yet|"


def test_the_table_has_a_row_per_joint_and_dashes_for_what_is_unknown():
    rows = (JointRow("elbow", 0.5, -0.25, 3.0, 0.25, 20.0, 2.0), JointRow("wrist", position=1.0))
    html = page.table_html(replace(NOTHING, connection=FLOWING, joints=rows))
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)[1:]]
    assert cells == [
        ["elbow", "0.500", "-0.25", "3.00", "0.250", "20.0", "2.0"],
        ["wrist", "1.000", "–", "–", "–", "–", "–"],
    ]
    assert "hc-outdated" not in html


def test_the_table_of_a_lost_connection_is_marked_as_old():
    lost = replace(
        NOTHING, connection=Connection(StreamState.LOST, 2.0), joints=(JointRow("elbow", 0.5),)
    )
    assert "hc-outdated" in page.table_html(lost)


def test_the_notices_name_the_reasons_why_the_picture_is_not_the_robot(arm_model):
    assert page.notices(NOTHING) == ["No robot is drawn: waiting for robot_description"]
    broken = replace(NOTHING, description_error="joint 'j': axis is zero")
    assert page.notices(broken) == ["No robot is drawn: joint 'j': axis is zero"]
    drawn = replace(
        NOTHING,
        connection=FLOWING,
        model=replace(arm_model, not_drawn=("hand",)),
        joints=(JointRow("shoulder", 0.1), JointRow("elbow"), JointRow("wheel", 0.1)),
        unknown_joints=("wheel",),
    )
    assert page.notices(drawn) == [
        "Drawn at zero, position unknown: elbow",
        "Not in the robot description: wheel",
        "Not drawn, their meshes can not be read here: hand",
    ]


def test_a_complete_picture_needs_no_notice(arm_model):
    rows = (JointRow("shoulder", 0.1), JointRow("elbow", 0.1))
    assert page.notices(replace(NOTHING, connection=FLOWING, model=arm_model, joints=rows)) == []
