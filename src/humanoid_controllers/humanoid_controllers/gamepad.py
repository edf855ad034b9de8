"""An Xbox gamepad as a door to the mode manager: which buttons ask for what.

Chords are those of the documented system. Button numbers are those of ROS's `joy_node` with the
kernel's xpad driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from humanoid_control_common.modes import Intent


class Button(IntEnum):
    """Places in sensor_msgs/Joy.buttons."""

    A = 0
    B = 1
    X = 2
    L1 = 4
    R1 = 5
    BACK = 6
    START = 7


# In this order: whoever presses everything at once means DAMP.
CHORDS: Final = (
    (Intent.DAMP, {Button.X}),
    (Intent.QUIT, {Button.BACK}),
    (Intent.LOAD, {Button.L1, Button.A}),
    (Intent.LOAD, {Button.L1, Button.B}),
    (Intent.START_LOCOMOTION, {Button.R1, Button.A}),
    (Intent.START_REMOTE, {Button.R1, Button.B}),
)


def wants_stop(buttons: Sequence[int]) -> bool:
    """Whether START is held, which stops: also when the gamepad comes, whatever else is held."""
    return len(buttons) > Button.START and bool(buttons[Button.START])


class Gamepad:
    """Remembers what is held, so that a chord asks once when it is completed."""

    def __init__(self) -> None:
        self._held: frozenset[Button] | None = None

    def pressed(self, buttons: Sequence[int]) -> Intent | None:
        """What the newest state of the `buttons` (0 or 1) asks for.

        Nothing for what is held when the gamepad comes: it has to be let go first.
        """
        held = frozenset(button for button in Button if button < len(buttons) and buttons[button])
        before, self._held = self._held, held
        if before is None:
            return None
        for intent, chord in CHORDS:
            if chord <= held and not chord <= before:
                return intent
        return None
