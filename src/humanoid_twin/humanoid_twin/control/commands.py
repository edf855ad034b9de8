"""Commands of the control channel by name, and those that every virtual robot has.

A command is a public method of an object in a `CommandTable`. A client offers it by one line in its
class: `name = remote(Commands.name)` (see control/client.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypedDict

from humanoid_twin.clock import Clock, SteppedClock, WallClock
from humanoid_twin.control.arguments import bounded, duration
from humanoid_twin.errors import TwinError

if TYPE_CHECKING:  # a client needs no physics
    from humanoid_twin.physics.plant import Plant
    from humanoid_twin.scheduler import Scheduler


class CommandTable:
    """The public methods of objects, as commands with JSON arguments and results."""

    def __init__(self) -> None:
        self._commands: dict[str, Callable[..., Any]] = {}

    def add(self, commands: object, prefix: str = "") -> None:
        """Offer the public methods of an object, their names behind a prefix."""
        for name, value in vars(type(commands)).items():
            if isinstance(value, FunctionType) and not name.startswith("_"):
                self._commands[prefix + name] = getattr(commands, name)

    def execute(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a command. Raises TwinError, TypeError or ValueError for an impossible one."""
        if name not in self._commands:
            raise TwinError(f"no command '{name}'; there are {', '.join(sorted(self._commands))}")
        return self._commands[name](**arguments)


@dataclass(frozen=True, slots=True)
class TimeCommands:
    """The robot's time; on a stepped clock, its progress."""

    scheduler: Scheduler
    clock: Clock

    def advance(self, seconds: float) -> float:
        """Advance time [s] (stepped clock only). Return the new time [s]."""
        if not isinstance(self.clock, SteppedClock):
            raise TwinError("only a robot with a stepped clock can be advanced")
        step = duration(seconds, "time to advance by")
        self.scheduler.advance(self.clock.advance(round(step * 1e9)))
        return self.time()

    def time(self) -> float:
        """Return the time since power-up [s]."""
        return self.scheduler.now / 1e9

    def epoch(self) -> float:
        """Return the machine's monotonic clock at time 0 [s] (wall clock only)."""
        if not isinstance(self.clock, WallClock):
            raise TwinError("a stepped clock has no epoch")
        return self.clock.epoch / 1e9

    def pauses(self) -> list[tuple[float, float]]:
        """Return the hold-ups of more than 8 ms since the last call: (end, length) [s].

        Answers on the buses came late in them. Wall clock only.
        """
        self.epoch()
        found = [(end / 1e9, length / 1e9) for end, length in self.scheduler.pauses]
        self.scheduler.pauses.clear()
        return found


class JointTruth(TypedDict):
    """The true state of one joint, whatever its drive measures."""

    name: str
    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [Nm] of the drive, at the joint


@dataclass(frozen=True, slots=True)
class JointCommands:
    """Joints of a plant, by name.

    All commands raise TwinError for an unknown joint and for impossible numbers.
    """

    plant: Plant
    names: Sequence[str]  # in the plant's order

    def joints(self) -> list[JointTruth]:
        """Return the truth about all joints, in the plant's order."""
        plant = self.plant
        columns = (plant.position.tolist(), plant.velocity.tolist(), plant.torque.tolist())
        return [
            JointTruth(name=name, position=position, velocity=velocity, torque=torque)
            for name, position, velocity, torque in zip(self.names, *columns, strict=True)
        ]

    def place(self, joint: str, position: float, velocity: float = 0.0) -> None:
        """Set the angle [rad] and the speed [rad/s] of a joint."""
        angle, speed = bounded(position, "position"), bounded(velocity, "velocity")
        self.plant.set_state(self._index(joint), angle, speed)

    def load(self, joint: str, torque: float) -> None:
        """Load a joint from outside [Nm], until the next call."""
        self.plant.set_external_torque(self._index(joint), bounded(torque, "torque"))

    def _index(self, joint: str) -> int:
        try:
            return self.names.index(joint)
        except ValueError:
            known = ", ".join(self.names)
            raise TwinError(f"no joint '{joint}', there are {known}") from None
