"""What can happen to the robot's computer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Final

from faults.kind import RING, Kind, Outcome, Scene
from faults.kinds.ring import LOST
from faults.small_disk import fill, make_room

_HOUR: Final = 3600  # [s]
_HOG: Final = "import time\nend = time.monotonic() + 0.8\nwhile time.monotonic() < end: pass"
_HOGS: Final = 6


def _clock(seconds: int) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.clock.step(seconds)


def _link(state: str) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        interface = scene.robot.virtual.interface
        subprocess.run(["ip", "link", "set", interface, state], check=True)

    return change


def _busy(_scene: Scene) -> None:
    """Ordinary programs take all of the machine for a while."""
    hogs = [subprocess.Popen([sys.executable, "-c", _HOG]) for _ in range(_HOGS)]
    for hog in hogs:
        hog.wait()


KINDS: Final = (
    *(
        Kind(
            name=f"machine: clock stepped by {'+' if hours > 0 else '-'}1 h",
            inject=_clock(hours * _HOUR),
            mend=_clock(0),
            outcome=Outcome.STAYS,
            watched=0.8,
        )
        for hours in (1, -1)
    ),
    Kind(
        name="machine: disk full",
        inject=lambda scene: fill(scene.robot.disk),
        mend=lambda scene: make_room(scene.robot.disk),
        outcome=Outcome.STAYS,
        watched=0.6,
    ),
    Kind(
        name="machine: other programs take the processors",
        inject=_busy,
        outcome=Outcome.EITHER,
        within=1.5,
        watched=1.0,
        starves=True,
    ),
    Kind(
        name="machine: network interface of the ring down",
        inject=_link("down"),
        mend=_link("up"),
        source=RING,
        said=f"{LOST}|Network is down",
    ),
)
