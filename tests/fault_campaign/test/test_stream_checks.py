"""The checks of a joint stream that has ended find a robot that does not act as documented."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import STEPPED
from fault_campaign.kinds.kind import RefutedError, Scene
from fault_campaign.kinds.moving.stream_checks import in_remote
from fault_campaign.stepped.campaign import campaign

from humanoid_control_common.rules.modes import Mode
from humanoid_joint_stream.controller import JointStreamController

# The ring leads the robot out of REMOTE 3 ms after the begin of the checks.
FALLS_DURING_THE_CHECKS = 1090198560


def violation_types(kind: str, seed: int) -> list[ViolationType]:
    (entry,) = campaign([(STEPPED[kind], seed)])
    return [it.type for it in entry.news]


def scene_in(mode: Mode, *, alone: bool) -> Scene:
    now = SimpleNamespace(mode=int(mode), status_message="")
    robot = SimpleNamespace(observer=SimpleNamespace(now=now))
    return Scene(cast("Any", robot), Random(1), cast("Any", None), "", None, alone)


def test_an_end_that_no_diagnosis_reports_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "joint stream: client stops sending"
    assert violation_types(kind, 1) == []
    monkeypatch.setattr(JointStreamController, "remark", "")  # the trials run in copies
    assert violation_types(kind, 1) == [ViolationType.REFUTED]


def test_another_fault_may_end_remote_during_the_checks() -> None:
    assert violation_types("two faults: joint stream and any", FALLS_DURING_THE_CHECKS) == []


def test_without_another_fault_the_robot_must_stay_in_remote() -> None:
    assert in_remote(scene_in(Mode.REMOTE, alone=True))
    assert not in_remote(scene_in(Mode.DAMPING, alone=False))
    with pytest.raises(RefutedError, match="without another fault"):
        in_remote(scene_in(Mode.DAMPING, alone=True))
