"""Commands of the control channel by name, and those that any virtual robot has."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypedDict

from humanoid_twin.clock import Clock, SteppedClock, WallClock
from humanoid_twin.drive.plant import Plant
from humanoid_twin.errors import TwinError
from humanoid_twin.world import World


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
        """Run a command. Raises TwinError, TypeError or ValueError for one that can't be."""
        if name not in self._commands:
            raise TwinError(f"no command '{name}'; there are {', '.join(sorted(self._commands))}")
        return self._commands[name](**arguments)


@dataclass(frozen=True, slots=True)
class TimeCommands:
    """What time it is; on a stepped clock, time itself."""

    world: World
    clock: Clock

    def advance(self, seconds: float) -> float:
        """Let time pass [s] (stepped clock only); the new time."""
        if not isinstance(self.clock, SteppedClock):
            raise TwinError("only a robot with a stepped clock can be advanced")
        if not 0 <= seconds < math.inf:
            raise TwinError(f"can't advance by {seconds} s")
        self.world.advance(self.clock.advance(round(seconds * 1e9)))
        return self.time()

    def time(self) -> float:
        """Time since the start [s]."""
        return self.world.now / 1e9

    def epoch(self) -> float:
        """The machine's monotonic clock when the time was 0 [s] (wall clock only)."""
        if not isinstance(self.clock, WallClock):
            raise TwinError("a stepped clock has no epoch")
        return self.clock.epoch / 1e9

    def pauses(self) -> list[tuple[float, float]]:
        """When it was held up for more than 8 ms since the last call: end, length [s].

        Wall clock only.
        """
        self.epoch()
        found = [(end / 1e9, length / 1e9) for end, length in self.world.pauses]
        self.world.pauses.clear()
        return found


class JointTruth(TypedDict):
    """One joint as it is, whatever its drive believes."""

    name: str
    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [Nm] of the drive, at the joint


@dataclass(frozen=True, slots=True)
class JointCommands:
    """The joints of a plant, told by their names."""

    plant: Plant
    names: Sequence[str]  # in the plant's order

    def joints(self) -> list[JointTruth]:
        """The truth about all joints, in the plant's order."""
        plant = self.plant
        columns = (plant.position.tolist(), plant.velocity.tolist(), plant.torque.tolist())
        return [
            JointTruth(name=name, position=position, velocity=velocity, torque=torque)
            for name, position, velocity, torque in zip(self.names, *columns, strict=True)
        ]

    def place(self, joint: str, position: float, velocity: float = 0.0) -> None:
        """Put a joint somewhere [rad, rad/s]."""
        self.plant.set_state(self._index(joint), _finite(position), _finite(velocity))

    def load(self, joint: str, torque: float) -> None:
        """Load a joint from outside [Nm], until told otherwise."""
        self.plant.set_external_torque(self._index(joint), _finite(torque))

    def _index(self, joint: str) -> int:
        try:
            return self.names.index(joint)
        except ValueError:
            known = ", ".join(self.names)
            raise TwinError(f"no joint '{joint}', there are {known}") from None


def _finite(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise TwinError(f"{value} is not a finite number")
    return number
