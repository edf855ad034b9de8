"""Requests by gamepad."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.rules.modes import Intent
from humanoid_controller_manager.ros.topics.message_age import LATEST
from humanoid_controllers.mode_manager.gamepad import (
    CHORDS,
    Button,
    Gamepad,
    late_refusal,
    stop_pressed,
)

NONE = [0] * 11


def held(*buttons: Button) -> list[int]:
    return [int(number in buttons) for number in range(11)]


@pytest.fixture
def gamepad() -> Gamepad:
    """A gamepad without any input."""
    pad = Gamepad()
    assert pad.pressed(NONE) is None
    return pad


@pytest.mark.parametrize(
    ("buttons", "intent"),
    [
        ((Button.X,), Intent.DAMP),
        ((Button.L1, Button.A), Intent.LOAD),
        ((Button.L1, Button.B), Intent.LOAD),
        ((Button.R1, Button.A), Intent.START_LOCOMOTION),
        ((Button.R1, Button.B), Intent.START_REMOTE),
        ((Button.BACK,), Intent.QUIT),
    ],
)
def test_chords_are_those_of_the_documents(
    gamepad: Gamepad, buttons: tuple[Button, ...], intent: Intent
) -> None:
    assert gamepad.pressed(held(*buttons)) is intent
    assert gamepad.pressed(held(*buttons)) is None, "held, it asks once"
    gamepad.pressed(NONE)
    assert gamepad.pressed(held(*buttons)) is intent


@pytest.mark.parametrize(
    ("numbers", "intent"),
    [
        ({2}, Intent.DAMP),
        ({6}, Intent.QUIT),
        ({4, 0}, Intent.LOAD),
        ({4, 1}, Intent.LOAD),
        ({5, 0}, Intent.START_LOCOMOTION),
        ({5, 1}, Intent.START_REMOTE),
    ],
)
def test_buttons_have_the_numbers_of_an_xbox_gamepad_in_joy_node(
    gamepad: Gamepad, numbers: set[int], intent: Intent
) -> None:
    buttons = [int(number in numbers) for number in range(11)]
    assert gamepad.pressed(buttons) is intent
    assert not stop_pressed(buttons)
    assert stop_pressed([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])


@pytest.mark.parametrize("button", [Button.A, Button.B, Button.L1, Button.R1])
def test_single_button_of_a_chord_requests_nothing(gamepad: Gamepad, button: Button) -> None:
    assert gamepad.pressed(held(button)) is None


def test_buttons_held_when_the_gamepad_connects_request_nothing() -> None:
    pad = Gamepad()
    assert pad.pressed(held(Button.L1, Button.A)) is None
    assert pad.pressed(held(Button.L1, Button.A)) is None
    assert Gamepad().pressed(held(Button.X)) is Intent.DAMP, "it moves nothing"


def test_buttons_held_when_another_gamepad_publishes_request_nothing_until_released() -> None:
    pad = Gamepad()
    assert pad.pressed(NONE, 7) is None
    assert pad.pressed(held(Button.L1, Button.A), 1) is None, "connected again"
    assert pad.pressed(held(Button.L1, Button.A), 2) is None
    assert pad.pressed(NONE, 3) is None
    assert pad.pressed(held(Button.L1, Button.A), 4) is Intent.LOAD


def test_chord_stuck_on_a_second_gamepad_requests_nothing_and_damp_of_the_first_counts() -> None:
    pad, stuck = Gamepad(), held(Button.L1, Button.A)
    intents = []
    for number in range(3):
        intents.append(pad.pressed(held(Button.X) if number == 2 else NONE, 10 + number))
        intents.append(pad.pressed(stuck, 40 + number))
    assert intents == [None, None, None, None, Intent.DAMP, None]


def test_damp_wins_over_whatever_else_is_pressed(gamepad: Gamepad) -> None:
    assert gamepad.pressed([1] * 11) is Intent.DAMP


@pytest.mark.parametrize("others", [(), (Button.L1, Button.A), tuple(Button)])
def test_start_stops_whatever_else_is_held(others: tuple[Button, ...]) -> None:
    assert stop_pressed(held(Button.START, *others))


def test_no_other_button_stops_and_a_gamepad_without_start_does_not(gamepad: Gamepad) -> None:
    assert not stop_pressed(held(*(set(Button) - {Button.START})))
    assert not stop_pressed([1] * Button.START)
    assert gamepad.pressed(held(Button.START)) is None


@pytest.mark.parametrize("intent", [intent for intent, _ in CHORDS])
def test_late_chords_but_damp_are_refused_with_the_delay(intent: Intent) -> None:
    assert not late_refusal(intent, LATEST)
    reason = late_refusal(intent, 2.0)
    assert bool(reason) is (intent is not Intent.DAMP)
    assert not reason or "came 2.0 s late, expected 0.5 s at most" in reason.text


@given(st.lists(st.lists(st.integers(0, 1), max_size=12), max_size=20))
def test_an_intent_comes_only_with_a_chord_that_was_not_held_before(
    states: list[list[int]],
) -> None:
    pad, before = Gamepad(), None
    for state in states:
        intent = pad.pressed(state)
        now = {button for button in Button if button < len(state) and state[button]}
        fresh = [
            i
            for i, chord in CHORDS
            if (before is not None or i is Intent.DAMP)
            and chord <= now
            and not chord <= (before or set())
        ]
        assert intent == (fresh[0] if fresh else None)
        before = now
