"""The actuators of a virtual robot by bus, from a YAML file.

The file is the virtual robot's own: it repeats ids and models of the hardware file on purpose. A
wrong id in a shared table would be wrong on the robot only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypedDict

from pydantic import Field

from humanoid_control_common.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.friction import BreakawayCurve, JointFriction, PointError

_Points = list[Annotated[list[float], Field(min_length=2, max_length=2)]]


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


class _Stribeck(StrictModel):
    coulomb: float = Field(ge=0.0, le=1.0)  # part of the breakaway torque that stays at speed
    speed: float = Field(gt=0.0, allow_inf_nan=False)  # [rad/s] at which 1/e of the rest is left


class _Friction(StrictModel):
    forward: _Points  # [rad, Nm], torques 0 or more
    backward: _Points  # [rad, Nm], torques 0 or less
    stribeck: _Stribeck | None = None
    viscous: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)  # [Nm s/rad]


class _File(StrictModel):
    ring: list[RingActuator] = Field(default_factory=list)
    can: dict[str, list[CanActuator]] = Field(default_factory=dict)
    friction: dict[str, _Friction] = Field(default_factory=dict)  # by joint


@dataclass(frozen=True, slots=True)
class Actuators:
    """All actuators of a robot: those of its ring, and those of its CAN buses by name.

    `frictions` are those of the joints they turn.
    """

    ring: Sequence[RingActuator]
    can: dict[str, list[CanActuator]]
    frictions: Mapping[str, JointFriction] = field(default_factory=dict)  # by joint, of some

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
    actuators, an id given twice on a bus, a robot without any actuator, friction of a joint without
    an actuator or with an impossible point.
    """
    document = read_yaml(path)
    content = validate(_File, document)
    frictions = {joint: _friction(joint, it, document) for joint, it in content.friction.items()}
    found = Actuators(content.ring, content.can, frictions)
    names = [*found.ring_joints, *(row.joint for row in found.can_rows)]
    if not names:
        raise ConfigError(f"{path}: no actuators, expected some in 'ring' or 'can'")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: two actuators on {', '.join(twice)}")
    for bus, rows in found.can.items():
        ids = [row.id for row in rows]
        if same := sorted({id for id in ids if ids.count(id) > 1}):
            raise ConfigError(f"{path}: can.{bus}: two motors with id {same[0]}")
    for joint in frictions:
        if joint not in names:
            where = document.where(("friction", joint))
            raise ConfigError(
                f"{where}: friction: no joint '{joint}', there are {', '.join(names)}"
            )
    return found


def _friction(joint: str, given: _Friction, document: Document) -> JointFriction:
    curves = {}
    for name, points, direction in (
        ("forward", given.forward, 1),
        ("backward", given.backward, -1),
    ):
        try:
            curves[name] = BreakawayCurve([(row[0], row[1]) for row in points], direction)
        except PointError as error:
            key: tuple[str | int, ...] = ("friction", joint, name)
            where = document.where(key if error.point is None else (*key, error.point))
            raise ConfigError(f"{where}: friction of {joint}, {name}: {error}") from error
    at_speed = given.stribeck or _Stribeck(coulomb=1.0, speed=0.01)
    return JointFriction(
        forward=curves["forward"],
        backward=curves["backward"],
        coulomb=at_speed.coulomb,
        stribeck_speed=at_speed.speed,
        viscous=given.viscous,
    )


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
