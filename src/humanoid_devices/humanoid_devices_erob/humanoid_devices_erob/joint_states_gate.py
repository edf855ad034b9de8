"""The gate before every SDO write: measurements of all drives are flowing now.

The component's own gate decides. Its clients keep one to know when a wish is worth sending.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

PERIODS: Final = 5  # of /prime/joint_states without a message, and the gate is closed
SHORTEST: Final = 0.05  # [s] at high rates


class JointStatesGate:
    """Open while complete and finite positions keep arriving.

    SDO traffic while the ring comes up would fault drives (0xA000); /prime/joint_states flows only
    once every drive is in operation.

    Args:
        joints: names that every message must have.
        period: [s] of /prime/joint_states.
    """

    def __init__(self, joints: Sequence[str], period: float) -> None:
        self.limit = max(PERIODS * period, SHORTEST)  # [s] a message keeps it open
        self._joints = tuple(joints)
        self._names: tuple[str, ...] = ()
        self._places: list[int] | None = None  # of the joints in `_names`
        self._last = -math.inf
        self._flaw = ""

    def seen(self, names: Sequence[str], positions: Sequence[float], now: float) -> float:
        """Take a message of `now` [s]. How long the gate was closed before [s]."""
        self._flaw = self._flaw_of(names, positions)
        if self._flaw:
            return 0.0
        closed = max(0.0, now - self.closes)
        self._last = now
        return closed

    @property
    def closes(self) -> float:
        """When [s] it closes, or has closed, unless another message comes."""
        return self._last + self.limit

    def obstacle(self, now: float) -> str:
        """Why it is closed; empty if it is open."""
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
