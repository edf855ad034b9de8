"""The counters of a CAN bus in the tick records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from humanoid_devices_can.diagnostics import COUNTED, counts
from humanoid_devices_can.session.health import Health


def test_every_count_goes_by_its_name() -> None:
    numbers = {"sent": 1, "received": 2, "error_frames": 3, "invalid_frames": 4, "refusals": 5}
    assert all(hasattr(Health, name) or name in Health.__annotations__ for name in numbers)
    session: Any = SimpleNamespace(health=SimpleNamespace(**numbers))
    assert dict(zip(COUNTED, counts(session), strict=True)) == {
        "frames sent": 1,
        "frames received": 2,
        "error frames": 3,
        "invalid frames": 4,
        "frames refused": 5,
    }


def test_a_bus_that_is_not_open_counts_nothing() -> None:
    assert counts(None) == (0,) * len(COUNTED)
