"""The robot acts the same, and states the same codes, with any texts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from humanoid_control_common.rules import reasons
from humanoid_control_common.rules.modes import Intent
from humanoid_control_common.rules.reasons import Reason, ReasonCode, united
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport

STEPS = 150
INTENTS = list(Intent)


def _disturbances(robot: Any) -> list[Callable[[], object]]:
    def report(level: SafetyLevel) -> None:
        codes = ("A_CODE",) if level else ()
        report = SafetyReport("guest", level, SafetyFlag.NONE, "a guest's text", codes)
        robot.safety.report(report, robot.time)

    def hardware(*calls: str) -> None:
        robot.hardware.fail = set(calls)

    def confirm(*, confirmed: bool) -> None:
        robot.hardware.confirmed = confirmed

    def controllers(fail: str) -> None:
        for controller in robot.controllers.values():
            if controller.mode not in (0, 1):
                controller.fail = fail

    return [
        lambda: robot.stop.press("gamepad"),
        lambda: report(SafetyLevel.FAULT),
        lambda: report(SafetyLevel.OK),
        lambda: hardware("read"),
        lambda: hardware("write"),
        hardware,
        lambda: confirm(confirmed=False),
        lambda: confirm(confirmed=True),
        lambda: controllers("update"),
        lambda: controllers("on_activate"),
        lambda: controllers(""),
        lambda: robot.modes.clear_fault(robot.time),
        lambda: robot.modes.clear_fault(robot.time),
        lambda: robot.modes.refuse_unknown_mode(9),
    ]


def _life(robot: Any, seed: int) -> list[object]:
    """Return the actions and codes of a robot in a random sequence, without any text."""
    dice, decisions = Random(seed), []
    disturbances = _disturbances(robot)
    for _ in range(STEPS):
        if dice.random() < 0.3:
            dice.choice(disturbances)()
        answer = robot.ask(dice.choice(INTENTS))
        robot.tick(dice.choice((1, 1, 5, 60)))
        statement = robot.modes.statement
        decisions.append((answer.accepted, answer.codes, answer.ticket, answer.shut_down))
        decisions.append((statement.mode, statement.switch_number, statement.reason.codes))
        decisions.append([(it.level, it.codes) for it in robot.loop.snapshot.reports])
        decisions.append(robot.modes.refusal and robot.modes.refusal.reason.codes)
    return decisions


@pytest.mark.parametrize("seed", range(4))
def test_robot_acts_the_same_with_other_texts(
    robot_type: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    usual = _life(robot_type(), seed)
    codes = {code for _, found, *_ in usual[0::4] for code in found}  # type: ignore[misc]
    assert {"FELL_TO_SAFETY", "REQUIRES_ANOTHER_MODE"} <= codes, "a life of some variety"

    def wordless(cls: type[Reason], code: ReasonCode, _text: str, *causes: Reason) -> Reason:
        return cls("Fell to safety: reset sent", united([(code.name,), *(c.codes for c in causes)]))

    monkeypatch.setattr(reasons.Reason, "of", classmethod(wordless))
    monkeypatch.setattr(reasons.Reason, "worded", lambda self, _text: self)
    assert _life(robot_type(), seed) == usual
