"""The actuators of a virtual robot by bus, from a YAML file.

The file is the virtual robot's own: it repeats ids and models of the hardware file on purpose. A
wrong id in a shared table would be wrong on the robot only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from pydantic import Field

from humanoid_control_common.config import StrictModel, load_yaml
from humanoid_control_common.errors import ConfigError


class RingActuator(StrictModel):
    """An eRob; its place in the list is its ring position."""

    joint: str
    rotor: float = Field(gt=0.0, allow_inf_nan=False)  # inertia reflected to the joint [kg m²]


class CanActuator(StrictModel):
    """A motor on a CAN bus."""

    id: int
    joint: str
    family: str  # of MOTOR_FAMILIES
    model: str
    rotor: float = Field(gt=0.0, allow_inf_nan=False)  # inertia reflected to the joint [kg m²]


class _File(StrictModel):
    ring: list[RingActuator] = Field(default_factory=list)
    can: dict[str, list[CanActuator]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Actuators:
    """All actuators of a robot: those of its ring, and those of its CAN buses by name."""

    ring: Sequence[RingActuator]
    can: dict[str, list[CanActuator]]

    @property
    def ring_joints(self) -> tuple[str, ...]:
        """Joints by ring position."""
        return tuple(row.joint for row in self.ring)

    @property
    def can_rows(self) -> tuple[CanActuator, ...]:
        """The motors of all CAN buses, bus by bus."""
        return tuple(row for rows in self.can.values() for row in rows)

    @property
    def rotors(self) -> dict[str, float]:
        """Inertia of each joint's rotor [kg m²], in the order of `joints`."""
        erobs = {row.joint: row.rotor for row in self.ring}
        return erobs | {row.joint: row.rotor for row in self.can_rows}

    @property
    def joints(self) -> tuple[str, ...]:
        """All joints in the plant's order: ring positions first, so that drive k moves joint k."""
        return tuple(self.rotors)


def load_actuators(path: Path) -> Actuators:
    """Read a file of actuators.

    Raises ConfigError: no such file, no YAML, an unknown key, an impossible value, a joint with two
    actuators, an id given twice on a bus, or a robot without any actuator.
    """
    content = load_yaml(path, _File)
    found = Actuators(content.ring, content.can)
    names = [*found.ring_joints, *(row.joint for row in found.can_rows)]
    if not names:
        raise ConfigError(f"{path}: no actuators, expected some in 'ring' or 'can'")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: two actuators on {', '.join(twice)}")
    for bus, rows in found.can.items():
        ids = [row.id for row in rows]
        if same := sorted({id for id in ids if ids.count(id) > 1}):
            raise ConfigError(f"{path}: can.{bus}: two motors with id {same[0]}")
    return found


class Place(TypedDict):
    """The place of a joint's actuator."""

    bus: str  # name of its CAN bus; empty: the ring
    address: int  # CAN id, or ring position


@dataclass(frozen=True, slots=True)
class ActuatorCommands:
    """The command of the control channel about the places of the actuators."""

    _actuators: Actuators

    def places(self) -> dict[str, Place]:
        """Return the place of each joint's actuator, in the plant's order."""
        rows = self._actuators.can.items()
        return {
            joint: Place(bus="", address=position)
            for position, joint in enumerate(self._actuators.ring_joints)
        } | {row.joint: Place(bus=bus, address=row.id) for bus, motors in rows for row in motors}
