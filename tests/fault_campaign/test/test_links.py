"""Contacts of two links are found in a recording, and no others."""

from __future__ import annotations

import numpy as np
from fault_campaign.judging.bounds import LIMITS
from fault_campaign.judging.links import EVERY, contacts, distance
from fault_campaign.judging.violation import ViolationType

from humanoid_twin.physics.recorder import Recording

NAMES = tuple(LIMITS["prime"])
STEPS = 1000


def _recording(touching: slice) -> Recording:
    """Return a recording of hanging arms with an elbow bent into the body for some steps."""
    time, still = np.arange(1, STEPS + 1) / 1000, np.zeros((STEPS, len(NAMES)))
    position = still.copy()
    position[touching, NAMES.index("left_shoulder_yaw")] = -1.2
    position[touching, NAMES.index("left_elbow_pitch")] = -1.5
    return Recording(NAMES, time, position, still, still, still, still)


def test_a_contact_is_found_with_its_links_and_its_time() -> None:
    found = contacts(_recording(slice(300, 900)), 0.1, 1.0, "prime")
    assert [it.type for it in found] == [ViolationType.CONTACT]
    assert "left_" in found[0].text
    assert found[0].at is not None
    assert abs(found[0].at - 0.3) <= EVERY / 1000 + 1e-9


def test_arms_that_hang_or_touch_at_another_time_are_not_convicted() -> None:
    assert contacts(_recording(slice(0, 0)), 0.1, 1.0, "prime") == []
    assert contacts(_recording(slice(300, 900)), 0.1, 0.25, "prime") == []
    assert contacts(_recording(slice(500, 600)), 0.1, 1.0, "prime") == [], "a brief touch"
    assert distance("prime", NAMES, np.zeros(len(NAMES))) > 0.0
