"""The text above the robot, and its colour."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_viz.state.state import ModeInForce, SafetyReport, Statement, StreamState
from humanoid_viz.state.status_text import ALARM, ATTENTION, CALM, UNKNOWN, status_text

OK = SafetyReport("PrimeEtherCATSide", SafetyLevel.OK, 0, "")


def in_force(mode: int, message: str = "", *codes: str) -> ModeInForce:
    return ModeInForce(
        StreamState.FLOWING, Statement(mode, "some_controller", message, codes), 0.01
    )


def bad(level: int, message: str = "bus off") -> SafetyReport:
    return SafetyReport("PrimeSitoCAN", level, 1, message)


def test_status_text_without_problems_has_mode_and_safety_in_the_ok_colour() -> None:
    found = status_text(in_force(Mode.STANDBY), [OK])
    assert found.text == "STANDBY\nsafety: OK"
    assert found.colour == CALM


def test_status_text_reports_a_missing_robot() -> None:
    found = status_text(ModeInForce(StreamState.NEVER), [])
    assert found.text == "no robot: no mode stated yet\nsafety: no source"
    assert found.colour == UNKNOWN


@pytest.mark.parametrize("level", [SafetyLevel.FAULT, SafetyLevel.CRITICAL, 77])
def test_a_fault_is_red_and_names_source_and_reason(level: int) -> None:
    message = "Fell to safety: PrimeSitoCAN reports FAULT"
    found = status_text(in_force(Mode.DAMPING, message), [OK, bad(level)])
    assert found.colour == ALARM
    assert found.text.splitlines()[:2] == ["DAMPING", message]
    assert found.text.endswith("PrimeSitoCAN: bus off")
    assert "PrimeEtherCATSide" not in found.text


def test_a_warning_and_a_refusal_draw_attention() -> None:
    assert status_text(in_force(Mode.STANDBY), [bad(SafetyLevel.WARNING)]).colour == ATTENTION
    refused = status_text(
        in_force(Mode.DAMPING, "Rejected START_REMOTE: ...", "START_REMOTE_REFUSED"), [OK]
    )
    assert refused.colour == ATTENTION
    assert "Rejected START_REMOTE" in refused.text


def test_outdated_status_is_grey_even_after_a_fault() -> None:
    mode = ModeInForce(StreamState.LOST, Statement(Mode.STANDBY, "standby_controller", ""), 4.0)
    found = status_text(mode, [bad(SafetyLevel.CRITICAL)])
    assert found.colour == UNKNOWN
    assert found.text.startswith("mode unknown: STANDBY was stated 4.0 s ago")
