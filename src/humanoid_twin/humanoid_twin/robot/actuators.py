"""The actuators of a virtual robot by bus, from a YAML file.

The file is the virtual robot's own: it repeats ids and models of the hardware file on purpose. A
wrong id in a shared table would be wrong on the robot only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Final, TypedDict

from pydantic import Field

from humanoid_control_common.configuration.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_twin.can.motors.families import check_motor
from humanoid_twin.can.motors.force_loop import BoardFigures
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.errors import CanError
from humanoid_twin.physics.friction import BreakawayCurve, JointFriction, PointError
from humanoid_twin.physics.springs import JointSpring

_BOARD_FAMILY: Final = "robstride"  # the protocol of the motor boards
_Points = list[Annotated[list[float], Field(min_length=2, max_length=2)]]


class RingActuator(StrictModel):
    """An eRob; its place in the list is its ring position."""

    joint: str
    rotor: float = Field(gt=0.0)  # inertia reflected to the joint [kg m²]
    serial_number: int = Field(default=0, ge=0, lt=1 << 32)  # 0x1018:4
    # Facts of this drive's model, in place of those of all drives: see DriveParameters.
    torque_constant: float | None = Field(default=None, gt=0.0)  # [Nm/mA]
    gear: float | None = Field(default=None, gt=0.0)

    def parameters(self, all_drives: DriveParameters) -> DriveParameters:
        """Return those of this drive."""
        own = self.model_dump(include={"torque_constant", "gear"}, exclude_none=True)
        return replace(all_drives, **own)


class CanActuator(StrictModel):
    """A motor on a CAN bus."""

    id: int
    joint: str
    family: str  # of MOTOR_FAMILIES
    model: str
    rotor: float = Field(gt=0.0)  # inertia reflected to the joint [kg m²]
    board: BoardFigures | None = None  # an inner force loop on a tendon; family robstride
    # The joint whose board's tendon runs over this one too; the board here has no motor.
    tendon_of: str | None = None


class _Stribeck(StrictModel):
    coulomb: float = Field(ge=0.0, le=1.0)  # part of the breakaway torque that stays at speed
    speed: float = Field(gt=0.0)  # [rad/s] at which 1/e of the rest is left


class _Friction(StrictModel):
    forward: _Points  # [rad, Nm], torques 0 or more
    backward: _Points  # [rad, Nm], torques 0 or less
    stribeck: _Stribeck | None = None
    viscous: float = Field(default=0.0, ge=0.0)  # [Nm s/rad]


class _File(StrictModel):
    ring: list[RingActuator] = Field(default_factory=list)
    can: dict[str, list[CanActuator]] = Field(default_factory=dict)
    friction: dict[str, _Friction] = Field(default_factory=dict)  # by joint
    springs: dict[str, JointSpring] = Field(default_factory=dict)  # by joint


@dataclass(frozen=True, slots=True)
class Actuators:
    """All actuators of a robot: those of its ring, and those of its CAN buses by name.

    `frictions` and `springs` are those of the joints they turn.
    """

    ring: Sequence[RingActuator]
    can: dict[str, list[CanActuator]]
    frictions: Mapping[str, JointFriction] = field(default_factory=dict)  # by joint, of some
    springs: Mapping[str, JointSpring] = field(default_factory=dict)  # by joint, of some

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

    Raises ConfigError: no such file, no YAML, an unknown key, an impossible value, a motor of an
    unknown family or model, a joint with two actuators, an id given twice on a bus, a robot without
    any actuator, friction or a spring of a joint without an actuator, friction with an impossible
    point, or a tendon that can't be.
    """
    document = read_yaml(path)
    content = validate(_File, document)
    frictions = {joint: _friction(joint, it, document) for joint, it in content.friction.items()}
    found = Actuators(content.ring, content.can, frictions, content.springs)
    names = [*found.ring_joints, *(row.joint for row in found.can_rows)]
    if not names:
        raise ConfigError(f"{path}: no actuators, expected some in 'ring' or 'can'")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{path}: two actuators on {', '.join(twice)}")
    _check_buses(found, document)
    for key, joints in (("friction", found.frictions), ("springs", found.springs)):
        for joint in joints:
            if joint not in names:
                where, known = document.where((key, joint)), ", ".join(names)
                raise ConfigError(f"{where}: {key}: no joint '{joint}', there are {known}")
    return found


def _check_buses(found: Actuators, document: Document) -> None:
    for bus, rows in found.can.items():
        ids = [row.id for row in rows]
        if same := sorted({id for id in ids if ids.count(id) > 1}):
            raise ConfigError(f"{document.name}: can.{bus}: two motors with id {same[0]}")
        for i, row in enumerate(rows):
            where = document.where(("can", bus, i))
            _check_tendon(row, rows, where)
            try:
                check_motor(row.id, row.family, row.model)
            except CanError as error:
                raise ConfigError(f"{where}: {row.joint}: {error}") from error


def _check_tendon(row: CanActuator, rows: Sequence[CanActuator], where: str) -> None:
    if row.board is None and row.tendon_of is None:
        return
    boards = [it.joint for it in rows if it.board is not None]
    if row.family != _BOARD_FAMILY:
        text = f"a board of family '{row.family}', expected '{_BOARD_FAMILY}'"
    elif row.board is not None and row.tendon_of is not None:
        text = "'board' and 'tendon_of', expected one of them"
    elif row.tendon_of is not None and row.tendon_of not in boards:
        known = ", ".join(boards) or "none"
        text = f"tendon of '{row.tendon_of}', boards of this bus are on {known}"
    else:
        return
    raise ConfigError(f"{where}: {row.joint}: {text}")


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


class BusAddress(TypedDict):
    """The address of a joint's actuator."""

    bus: str  # name of its CAN bus; empty: the ring
    address: int  # CAN id, or ring position


@dataclass(frozen=True, slots=True)
class ActuatorCommands:
    """The command of the control channel about the addresses of the actuators."""

    _actuators: Actuators

    def bus_addresses(self) -> dict[str, BusAddress]:
        """Return the address of each joint's actuator, in the plant's order."""
        rows = self._actuators.can.items()
        return {
            joint: BusAddress(bus="", address=position)
            for position, joint in enumerate(self._actuators.ring_joints)
        } | {
            row.joint: BusAddress(bus=bus, address=row.id) for bus, motors in rows for row in motors
        }
