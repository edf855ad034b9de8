"""`hc status` beside a robot whose REMOTE controller has refused a command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from prime_description import expand

FAKE = Path(__file__).with_name("fake_prime.py")


def test_one_line_has_the_state_of_remote_and_its_latest_refusal(
    start: Any, tmp_path: Path
) -> None:
    urdf = tmp_path / "prime.urdf"
    urdf.write_text(expand({"control_frequency": "50"}))
    start(sys.executable, str(FAKE), str(urdf), "remote").wait_for("serving")
    run = start.hc("status", "--timeout", "4")
    assert run.finish() == 1  # this robot publishes no timing
    text = " ".join(run.text.split())
    refused = "expected 14 values each, found: damping (13)"
    assert f"remote not in charge; 1 refused, the latest (number 2): {refused} (" in text
    assert " s ago)" in text
