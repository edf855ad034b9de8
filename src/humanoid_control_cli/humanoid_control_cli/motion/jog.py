"""Move a joint while a key is held."""

import signal
import time
from collections.abc import Callable
from typing import Final

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.client import Client
from humanoid_control_cli.motion.trajectory_client import SILENCE, JoggedJoint
from humanoid_control_cli.terminal_keys import Keys

PERIOD: Final = 0.05  # [s] between two messages: four in the time after which a jog ends
# A terminal does not report a released key. It repeats a held one, after a first pause of 0.25 to
# 0.66 s, at 25 Hz or more.
FIRST: Final = 0.5  # [s] for which a key counts as held after it is pressed
REPEATED: Final = 0.15  # [s] after each repetition
ANSWERED: Final = 4  # messages of a held key after which a refusal is one of these
SIGNS: Final = {"up": 1.0, "down": -1.0}
END: Final = "q"


class HeldKey:
    """Detects which key of a terminal is held. Times are monotonic [s]."""

    def __init__(self) -> None:
        self._key = ""
        self._until = 0.0

    def note(self, key: str, now: float) -> None:
        """Note a pressed or repeated key."""
        again = key == self._key and now < self._until
        self._until = max(self._until if again else 0.0, now + (REPEATED if again else FIRST))
        self._key = key

    def held(self, now: float) -> str:
        """Return the key that is held; empty if none is."""
        return self._key if now < self._until else ""


def jog(client: Client, joint: JoggedJoint, speed: float, say: Callable[[str], None]) -> int:
    """Jog `joint` at `speed` [rad/s] by keys until `q` or a signal; return the exit code.

    A motion of another client goes on if no key was held: a stop would end that, too.

    `say` gets a first line when keys count, and each reason for which a key has no effect, once
    while it is held: the robot refuses or is silent. The terminal is as before afterwards.
    """
    with StopSignals() as signals, Keys() as keys:
        say(f"{joint.name} at {speed:g} rad/s: hold arrow up or down; q ends")
        _jog_by_keys(client, keys, signals, joint, speed, say)
    return 128 + signal.Signals[signals.latest] if signals.count else 0


def _jog_by_keys(
    client: Client,
    keys: Keys,
    signals: StopSignals,
    joint: JoggedJoint,
    speed: float,
    say: Callable[[str], None],
) -> None:
    held, sent, said = HeldKey(), 0, ""
    try:
        while not signals.count:
            now = time.monotonic()
            for key in keys.pressed():
                if key == END:
                    return
                held.note(key, now)
            sign, text = SIGNS.get(held.held(now), 0.0), ""
            if sign and joint.is_silent:
                sign, text = 0.0, f"not sent: nothing is heard from the robot for {SILENCE:g} s"
            if sign:
                joint.jog(sign * speed)
                sent += 1
                text = f"refused: {joint.refusal}" if sent > ANSWERED and joint.refusal else ""
            if text and text != said:
                say(text)
            said = text
            if sent and not sign:
                sent = 0
                joint.stop()
            client.wait(lambda: signals.count, PERIOD)
    finally:
        if sent:
            joint.stop()
            say("stopped")
