"""What is the same of ten joints is said once."""

from __future__ import annotations

from humanoid_devices_erob.errors import said_together
from humanoid_devices_erob.master.al_state import AlState, AlStatus, differing

LEFT_SAFEOP = AlStatus(AlState.SAFEOP, True, 0x1B, "Sync manager watchdog")


def test_equal_texts_are_said_once_in_the_order_of_their_joints() -> None:
    texts = [("a", "lost"), ("b", "hot"), ("c", "lost")]
    assert said_together(texts) == "a, c: lost; b: hot"


def test_nothing_to_say_is_empty() -> None:
    assert said_together([]) == ""


def test_ring_in_one_wrong_state_is_one_sentence() -> None:
    names = [f"left_shoulder_pitch_{i}" for i in range(10)]
    text = differing([LEFT_SAFEOP] * 10, AlState.OP, names)
    assert text.count("Sync manager watchdog") == 1
    assert all(name in text for name in names)
    assert len(text) < 500
