"""An equal text of ten joints appears once."""

from __future__ import annotations

from humanoid_devices_erob.errors import joined_by_text
from humanoid_devices_erob.master.al_state import AlState, AlStatus, differing

LEFT_SAFEOP = AlStatus(AlState.SAFEOP, True, 0x1B, "Sync manager watchdog")


def test_equal_texts_appear_once_in_the_order_of_their_joints() -> None:
    texts = [("a", "lost"), ("b", "hot"), ("c", "lost")]
    assert joined_by_text(texts) == "a, c: lost; b: hot"


def test_no_texts_are_joined_to_an_empty_text() -> None:
    assert joined_by_text([]) == ""


def test_ring_in_one_wrong_state_is_one_sentence() -> None:
    names = [f"left_shoulder_pitch_{i}" for i in range(10)]
    text = differing([LEFT_SAFEOP] * 10, AlState.OP, names)
    assert text.count("Sync manager watchdog") == 1
    assert all(name in text for name in names)
    assert len(text) < 500
