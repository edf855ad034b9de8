"""Move a joint while a key is held."""

import signal
import time
from collections.abc import Callable, Iterable
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


class _Jogging:
    """Jogs a joint at `speed` [rad/s] while a key is held; `say` gets why a key has no effect."""

    def __init__(self, joint: JoggedJoint, speed: float, say: Callable[[str], None]) -> None:
        self._joint, self._speed, self._say = joint, speed, say
        self._key = HeldKey()
        self._sent = 0  # messages since the latest stop
        self._said = ""

    def take(self, pressed: Iterable[str]) -> bool:
        """Take the keys that were pressed since the last call; return False to end."""
        now = time.monotonic()
        for key in pressed:
            if key == END:
                return False
            self._key.note(key, now)
        sign = SIGNS.get(self._key.held(now), 0.0)
        silent = bool(sign) and self._joint.is_silent
        if silent:
            text = f"not sent: nothing is heard from the robot for {SILENCE:g} s"
        else:
            text = self._move(sign) if sign else ""
        if text and text != self._said:
            self._say(text)
        self._said = text
        if not sign or silent:
            self.stop()
        return True

    def stop(self) -> bool:
        """Stop the joint; return False if nothing was sent, so that nothing is to be stopped."""
        sent, self._sent = self._sent, 0
        if sent:
            self._joint.stop()
        return bool(sent)

    def _move(self, sign: float) -> str:
        """Move in the direction of `sign`; return why this is refused, if it is."""
        self._joint.jog(sign * self._speed)
        self._sent += 1
        refusal = self._joint.refusal if self._sent > ANSWERED else ""
        return f"refused: {refusal}" if refusal else ""


def jog(client: Client, joint: JoggedJoint, speed: float, say: Callable[[str], None]) -> int:
    """Jog `joint` at `speed` [rad/s] by keys until `q` or a signal; return the exit code.

    `say` gets a first line when keys count, and each reason for which a key has no effect, once
    while it is held: the robot refuses or is silent. The terminal is as before afterwards. The end
    stops nothing if no key is held then: another client's motion goes on.
    """
    with StopSignals() as signals, Keys() as keys:
        say(f"{joint.name} at {speed:g} rad/s: hold arrow up or down; q ends")
        jogging = _Jogging(joint, speed, say)
        try:
            while not signals.count and jogging.take(keys.pressed()):
                client.wait(lambda: signals.count, PERIOD)
        finally:
            if jogging.stop():
                say("stopped")
    return 128 + signal.Signals[signals.latest] if signals.count else 0
