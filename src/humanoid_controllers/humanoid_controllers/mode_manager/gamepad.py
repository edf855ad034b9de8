"""Requests by Xbox gamepad: the chords and their intents.

Chords are those of the documented system. Button numbers are those of ROS's `joy_node` with the
kernel's xpad driver.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from humanoid_control_common.rules.modes import Intent, refusal
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.ros.topics.message_age import LATEST
from humanoid_controllers.reason_codes import REQUEST_LATE


class Button(IntEnum):
    """Places in sensor_msgs/Joy.buttons."""

    A = 0
    B = 1
    X = 2
    L1 = 4
    R1 = 5
    BACK = 6
    START = 7


# In order of precedence: all buttons pressed at once mean DAMP.
CHORDS: Final = (
    (Intent.DAMP, {Button.X}),
    (Intent.QUIT, {Button.BACK}),
    (Intent.LOAD, {Button.L1, Button.A}),
    (Intent.LOAD, {Button.L1, Button.B}),
    (Intent.START_LOCOMOTION, {Button.R1, Button.A}),
    (Intent.START_REMOTE, {Button.R1, Button.B}),
)


def stop_pressed(buttons: Sequence[int]) -> bool:
    """Return whether START is held: it stops, also when the gamepad has just been connected."""
    return len(buttons) > Button.START and bool(buttons[Button.START])


def late_refusal(intent: Intent, late: float) -> Reason:
    """Return why a chord is refused whose message came `late` [s]; DAMP never is.

    A radio link that comes back delivers what was pressed meanwhile: the operator has seen no
    effect, and does not expect a motion any more.
    """
    if late <= LATEST or intent is Intent.DAMP:
        return NO_REASON
    text = (
        f"the gamepad's message came {late:.1f} s late, expected {LATEST:g} s at most: its "
        "connection was interrupted, or a clock was set"
    )
    return refusal(intent, Reason.of(REQUEST_LATE, text))


class Gamepad:
    """Finds completed chords: a chord that stays held is one request."""

    def __init__(self) -> None:
        self._held: frozenset[Button] | None = None
        self._number: int | None = None

    def pressed(self, buttons: Sequence[int], number: int | None = None) -> Intent | None:
        """Return the intent of the chord that `buttons` (0 or 1 each) complete, None if none.

        Chords held when a gamepad is connected, at first or again, do not count until they are
        released; only DAMP does.

        `number`: of the message, by its publisher; None if the middleware does not count. One that
        does not follow the last number is of another publisher: a gamepad connected again, or a
        second one.
        """
        held = frozenset(button for button in Button if button < len(buttons) and buttons[button])
        follows = number is None or self._number is None or number == self._number + 1
        before, self._held, self._number = self._held if follows else None, held, number
        for intent, chord in CHORDS:
            known = before is not None or intent is Intent.DAMP
            if known and chord <= held and not chord <= (before or frozenset()):
                return intent
        return None
