"""Processes that die or stand still, and one too many."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from typing import Final

from faults.kind import Kind, Outcome, Recovery, RefutedError, Scene
from faults.programs import GIVE_UP
from faults.robot import MAIN
from faults.situation import STIFF, Start

IMPEDANCE: Final = "impedance"


def _send(label: str, number: signal.Signals) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.programs[label].send(number)


def _again(label: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.programs[label].start()


def _second(scene: Scene) -> None:
    """A second control process, which must refuse to start. Raises RefutedError if it runs."""
    second = scene.robot.control.twice()
    try:
        refused = second.wait(GIVE_UP) != 0
    except subprocess.TimeoutExpired:
        second.kill()
        refused = False
    if not refused:
        raise RefutedError("a second control process runs beside the first")


KINDS: Final = (
    Kind(
        name="process: control killed",
        inject=_send(MAIN, signal.SIGKILL),
        outcome=Outcome.OFF,
        within=0.8,
        recovery=Recovery.RESTART,
    ),
    Kind(
        name="process: control stopped for a while",
        inject=_send(MAIN, signal.SIGSTOP),
        mend=_send(MAIN, signal.SIGCONT),
        outcome=Outcome.OFF,
        within=0.8,
        watched=1.0,
    ),
    Kind(
        name="process: control asked to end",
        inject=_send(MAIN, signal.SIGTERM),
        outcome=Outcome.OFF,
        within=1.5,
        recovery=Recovery.RESTART,
    ),
    Kind(
        name="process: impedance manager killed",
        inject=_send(IMPEDANCE, signal.SIGKILL),
        mend=_again(IMPEDANCE),
        starts=STIFF,
        within=1.0,
        said="impedance manager",
    ),
    Kind(
        name="process: impedance manager stopped for a while",
        inject=_send(IMPEDANCE, signal.SIGSTOP),
        mend=_send(IMPEDANCE, signal.SIGCONT),
        starts=STIFF,
        within=1.0,
        watched=1.2,
        said="impedance manager",
        quick=True,
    ),
    Kind(
        name="process: impedance manager stopped while nothing is stiff",
        inject=_send(IMPEDANCE, signal.SIGSTOP),
        mend=_send(IMPEDANCE, signal.SIGCONT),
        starts=(Start.ZERO_TORQUE, Start.DAMPING),
        outcome=Outcome.STAYS,
        watched=0.8,
    ),
    Kind(
        name="process: a second control process is started",
        inject=_second,
        outcome=Outcome.STAYS,
        watched=0.5,
    ),
)
