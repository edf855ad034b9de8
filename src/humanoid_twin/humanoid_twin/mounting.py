"""Mountings of actuators on their joints, and the encoders behind them."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_twin.control.arguments import bounded
from humanoid_twin.errors import TwinError
from humanoid_twin.physics.plant import FloatArray, Plant

_KEYS = {"direction", "offset"}


@dataclass(frozen=True, slots=True)
class Mounting:
    """The mounting of an actuator on its joint: raw = direction · joint + offset.

    The truth that a calibration has to find; the firmware doesn't know it.

    Raises:
        ConfigError: a direction other than 1 and -1, or an offset that isn't finite.
    """

    direction: int = 1  # 1 or -1
    offset: float = 0.0  # [rad] raw angle at joint angle 0

    def __post_init__(self) -> None:
        if self.direction not in (1, -1) or not math.isfinite(self.offset):
            raise ConfigError(
                f"mounting: direction {self.direction}, offset {self.offset} rad;"
                " expected 1 or -1 and a finite angle"
            )


def _floats(array: FloatArray) -> "memoryview[float]":
    """Return a view of an array whose elements are plain floats: twice as fast as numpy's."""
    return cast("memoryview[float]", array.data)


class MountedEncoder:
    """An actuator's end of the plant: raw angle and speed of a joint, and its torque.

    Raw values are in units of the encoder, `per_radian` to the radian.
    """

    __slots__ = ("_angles", "_mounting", "_offset", "_per_radian", "_plant", "_scale", "_sign",
                 "_speeds", "_torques", "joint")  # fmt: skip

    def __init__(
        self, plant: Plant, joint: int, mounting: Mounting, per_radian: float = 1.0
    ) -> None:
        """`joint`: index in the plant."""
        self._plant = plant
        self._angles, self._speeds = _floats(plant.position), _floats(plant.velocity)
        self._torques = _floats(plant.torque)
        self.joint = joint
        self._mounting = mounting
        self._per_radian = per_radian
        self._sign = mounting.direction
        self.shift(0.0)

    def position(self) -> float:
        """Return the raw angle."""
        return self._angles[self.joint] * self._scale + self._offset

    def measure(self) -> tuple[float, float]:
        """Return the raw angle and the raw speed [1/s]."""
        joint, scale = self.joint, self._scale
        return self._angles[joint] * scale + self._offset, self._speeds[joint] * scale

    def turn(self, torque: float) -> None:
        """Set the torque at the output [Nm], in the actuator's direction."""
        self._torques[self.joint] = self._sign * torque

    def torque(self) -> float:
        """Return the torque set last [Nm], in the actuator's direction."""
        return self._sign * self._torques[self.joint]

    def truth(self) -> tuple[float, float]:
        """Return angle [rad] and speed [rad/s] of the joint itself."""
        return self._angles[self.joint], self._speeds[self.joint]

    def stick(self) -> None:
        """Show the present angle from now on, however the joint turns."""
        self._offset, self._scale = float(self.position()), 0.0

    def shift(self, angle: float) -> None:
        """Be off by an angle [rad] of the joint; 0 makes the encoder right again, stuck or not."""
        self._scale = self._sign * self._per_radian
        self._offset = self._mounting.offset * self._per_radian + self._scale * angle


@dataclass(frozen=True, slots=True)
class EncoderCommands:
    """Faults of encoders, by the names of their joints.

    All commands raise TwinError for an unknown joint and for impossible angles.
    """

    encoders: Mapping[str, MountedEncoder]

    def stick_encoder(self, joint: str) -> None:
        """Freeze the encoder of a joint at its present angle, however the joint turns."""
        self._encoder(joint).stick()

    def shift_encoder(self, joint: str, angle: float) -> None:
        """Shift the encoder of a joint by an angle [rad]; 0 makes it right again, stuck or not."""
        self._encoder(joint).shift(bounded(angle, "angle"))

    def _encoder(self, joint: str) -> MountedEncoder:
        if joint not in self.encoders:
            raise TwinError(f"no joint '{joint}', there are {', '.join(self.encoders)}")
        return self.encoders[joint]


def load_mountings(path: Path, joints: Collection[str]) -> dict[str, Mounting]:
    """Read `{joint: {direction: 1 or -1, offset: rad}}`; other joints have the default mounting.

    Raises ConfigError: no such file, no YAML, an unknown joint or key, an impossible value.
    """
    try:
        content = read_yaml(path).content
    except ConfigError as error:
        raise ConfigError(f"mountings '{path}': {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"mountings '{path}': expected joints with direction and offset")
    for joint in content:
        if joint not in joints:
            known = ", ".join(joints)
            raise ConfigError(f"mountings '{path}': no joint '{joint}', there are {known}")
    return {joint: _mounting(f"mountings '{path}': {joint}", row) for joint, row in content.items()}


def _mounting(where: str, row: Any) -> Mounting:
    if not isinstance(row, dict) or set(row) != _KEYS:
        raise ConfigError(f"{where}: expected direction and offset, nothing else; found {row}")
    direction, offset = row["direction"], row["offset"]
    for value in (direction, offset):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{where}: {value!r} is no number")
    try:
        return Mounting(direction, float(offset))
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
