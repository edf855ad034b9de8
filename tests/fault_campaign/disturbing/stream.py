"""Stream commands in REMOTE: smooth, unless a fault changes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final, Self

from humanoid_control_msgs.msg import MITCommand

from fault_campaign.judging.observer import Observer
from fault_campaign.scenario import Wave
from humanoid_control_common.machine.machine import Machine, Thread

PERIOD: Final = 0.02  # [s]
STIFFNESS: Final = 20.0  # [Nm/rad]
DAMPING: Final = 2.0  # [Nm*s/rad]
Spoil = Callable[[MITCommand], None]


class Stream:
    """Publishes commands while the context is open, around the pose measured at its begin."""

    def __init__(self, observer: Observer, waves: Mapping[str, Wave], machine: Machine) -> None:
        state = observer.joint_states[-1]
        self._publisher = observer.commands
        self._names, self._middle = list(state.name), list(state.position)
        self._waves = [waves[name] for name in self._names]
        self._spoil: Spoil = _nothing
        self._period = PERIOD
        self._ended = threading.Event()
        self._silent = False
        self._machine = machine
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self._thread = self._machine.start("stream", self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def spoil(self, change: Spoil) -> None:
        """Apply `change` to every later command."""
        self._spoil = change

    def silence(self) -> None:
        """Publish no further commands."""
        self._silent = True

    def hurry(self, period: float) -> None:
        """Publish with this period [s]."""
        self._period = period

    def _run(self) -> None:
        clock = self._machine.clock
        begin = clock()
        while not self._machine.wait(self._ended, self._period):
            if self._silent:
                continue
            message = self._command(clock() - begin)
            self._spoil(message)
            self._publisher.publish(message)

    def _command(self, elapsed: float) -> MITCommand:
        count = len(self._names)
        moved = [
            middle + wave.offset(elapsed)
            for middle, wave in zip(self._middle, self._waves, strict=True)
        ]
        return MITCommand(
            joint_names=self._names,
            position=moved,
            velocity=[0.0] * count,
            effort=[0.0] * count,
            stiffness=[STIFFNESS] * count,
            damping=[DAMPING] * count,
        )


def _nothing(_message: MITCommand) -> None:
    """Do not change a command."""
