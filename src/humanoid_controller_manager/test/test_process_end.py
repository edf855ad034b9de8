"""What the control process says at its end, about joints that may still have torque."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_controller_manager import process


def test_what_may_still_be_powered_is_said_in_sentences() -> None:
    said: list[str] = []
    failures = [HardwareError("Side: elbow may be armed"), HardwareError("CAN: no adapter")]

    def stop() -> None:
        raise ExceptionGroup("joints may still be powered", failures)

    node = SimpleNamespace(get_logger=lambda: SimpleNamespace(fatal=said.append))
    manager: Any = SimpleNamespace(stop=stop, node=node)
    assert process._stop(manager) is False
    assert said == ["joints may still be powered: Side: elbow may be armed; CAN: no adapter"]


def test_start_that_fails_half_way_also_tells_its_notes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def files(_: object) -> None:
        error = HardwareError("Side: no answer")
        error.add_note("joints may still be powered: CAN: stuck on")
        raise error

    monkeypatch.setattr(process, "parameter_files", files)
    assert process.run([], [], Event()) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Side: no answer",
        "joints may still be powered: CAN: stuck on",
    ]
