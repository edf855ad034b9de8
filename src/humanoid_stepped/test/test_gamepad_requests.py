"""Requests of a gamepad whose messages come late, as over a radio link that was interrupted."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count

import pytest
from sensor_msgs.msg import Joy
from test_support.stepped.prime import Prime

from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.mode_manager.gamepad import Button
from humanoid_stepped.ros.bus import CarriedMessage

LOAD = (Button.L1, Button.A)


@pytest.fixture(scope="module")
def damped(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in DAMPING, with a gamepad."""
    prime = Prime(tmp_path_factory.mktemp("damped"), enable_gamepad=True)
    prime.up()
    prime.client.enter(Mode.DAMPING)
    return prime


def sender(prime: Prime) -> Callable[[Iterable[Button], float], None]:
    """Return a function that delivers held buttons `late` [s], as a gamepad of its own.

    The first message, without buttons, is in time.
    """
    bus = prime.client.node.bus
    (subscription,) = bus.topic("/joy").subscriptions
    numbers = count(1)

    def send(buttons: Iterable[Button], late: float) -> None:
        held = [int(number in buttons) for number in range(11)]
        message, sent = CarriedMessage(Joy, Joy(buttons=held)), bus.scheduler.now
        sent -= round(late * 1e9)
        arrive = partial(subscription.arrive, message, sent, next(numbers))
        bus.scheduler.call_at(bus.scheduler.now + 1, arrive)
        prime.client.next_statements(5)

    send((), 0.0)
    return send


def test_a_chord_that_was_held_back_requests_nothing(damped: Prime) -> None:
    send, client = sender(damped), damped.client
    send(LOAD, 8.0)
    assert client.now.mode == Mode.DAMPING
    assert "Rejected LOAD: the gamepad's message came 8.0 s late" in client.now.status_message
    assert list(client.now.reason_codes) == ["LOAD_REFUSED", "REQUEST_LATE"]
    send(LOAD, 0.0)
    assert client.now.mode == Mode.DAMPING, "it is held since then"
    send((), 0.0)
    send(LOAD, 0.0)
    client.until(lambda: client.now.mode == Mode.STANDBY, "STANDBY")


@pytest.mark.parametrize("button", [Button.X, Button.START])
def test_damp_and_stop_count_however_late_they_come(damped: Prime, button: Button) -> None:
    damped.client.enter(Mode.STANDBY)
    send = sender(damped)
    send((button,), 8.0)
    damped.client.until(lambda: damped.client.now.mode == Mode.DAMPING, "DAMPING")


def test_a_chord_held_on_a_second_gamepad_moves_nothing(damped: Prime) -> None:
    damped.client.enter(Mode.DAMPING)
    one, other = sender(damped), sender(damped)
    for _ in range(3):
        one((), 0.0)
        other(LOAD, 0.0)
    assert damped.client.now.mode == Mode.DAMPING
