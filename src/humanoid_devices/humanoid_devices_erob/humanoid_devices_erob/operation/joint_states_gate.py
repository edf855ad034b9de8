"""The gate before every SDO write: joint states of all drives must be fresh.

The component's gate decides. Its clients have their own, to know when a write is worth trying.
"""

import math
from collections.abc import Sequence
from typing import Final

PERIODS: Final = 5  # of /prime/joint_states without a message until the gate closes
SHORTEST: Final = 0.05  # [s] at high rates
FORGET_AFTER: Final = 1.0  # [s] of a closed gate: the control process may have been restarted


class JointStatesGate:
    """Open while complete and finite positions arrive; a message that is neither closes it.

    SDO traffic while the ring comes up would fault drives (0xA000), and /prime/joint_states is
    published only once every drive is in operation.

    Args:
        joints: names that every message must have.
        period: [s] of /prime/joint_states.
    """

    def __init__(self, joints: Sequence[str], period: float) -> None:
        self.limit = max(PERIODS * period, SHORTEST)  # [s] a message keeps it open
        self._joints = tuple(joints)
        self._names: tuple[str, ...] = ()
        self._places: list[int] | None = None  # of the joints in `_names`
        self._closes = -math.inf  # [s]
        self._flaw = ""

    def seen(self, names: Sequence[str], positions: Sequence[float], now: float) -> float:
        """Take a message received at `now` [s]; return how long the gate was closed before [s]."""
        self._flaw = self._flaw_of(names, positions)
        if self._flaw:
            self._closes = min(self._closes, now)
            return 0.0
        closed = max(0.0, now - self.closes)
        self._closes = now + self.limit
        return closed

    @property
    def closes(self) -> float:
        """Return when [s] the gate closes, or has closed, without another message."""
        return self._closes

    def obstacle(self, now: float) -> str:
        """Return why the gate is closed; empty if it is open."""
        if now < self.closes:
            return ""
        return "waiting for /prime/joint_states" + (f": {self._flaw}" if self._flaw else "")

    def _flaw_of(self, names: Sequence[str], positions: Sequence[float]) -> str:
        if tuple(names) != self._names:
            self._names = tuple(names)
            places = {name: i for i, name in enumerate(self._names)}
            missing = [joint for joint in self._joints if joint not in places]
            self._places = None if missing else [places[joint] for joint in self._joints]
        if self._places is None:
            missing = sorted(set(self._joints) - set(self._names))
            return f"no {', '.join(missing)} in it"
        if len(positions) != len(self._names):
            return f"{len(positions)} positions for {len(self._names)} names"
        for joint, place in zip(self._joints, self._places, strict=True):
            if not math.isfinite(positions[place]):
                return f"{joint} is {positions[place]}"
        return ""
