"""ROS parameters as typed values, with errors that name the file and line they came from."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from humanoid_control_common.configuration.config import Document, KeyPath, StrictModel, validate
from humanoid_control_common.configuration.parameter_files import is_of_every_node, sections
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointLimits, JointSet
from humanoid_control_common.robot.robot_namespace import ROOT, absolute
from humanoid_controller_manager.controller import ModeGains
from humanoid_controller_manager.safety.gravity_compensation import (
    LARGEST_BIAS,
    LARGEST_PAYLOAD,
)
from humanoid_controller_manager.safety.measurement_check import ASSUMED_FRICTION
from humanoid_motion.collision.clearance import DETECTED

Parameters = TypeVar("Parameters", bound=StrictModel)

# Mappings of the manager that are no controllers.
_PER_JOINT: Final = ("velocity_safety_limits", "static_frictions")
# [Hz]: a motor on CAN, and a guard, disable after 0.2 s without a command; no bus carries more.
_RATES: Final = (20, 2000)
_LARGEST_FACTOR: Final = 10.0  # of the velocity limit: beyond it the trip would never act
_FRICTIONS: Final = (0.01, 0.5)  # of the effort limit: the smallest and the largest given friction


def _by_joint(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values of joints, whose names may have dots: ROS takes each dot as a level."""
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from ((f"{name}.{rest}", it) for rest, it in _by_joint(inner))
        else:
            yield name, inner


class ControllerEntry(StrictModel):
    """The entry of one controller in the manager's parameters."""

    type: str = Field(description="Plug-in: the entry point's name of the controller.")
    fallback_controllers: list[str] = Field(
        default_factory=list, description="Controllers that replace it when it fails, in order."
    )
    params_file: list[str] = Field(
        default_factory=list,
        description="Its own parameter files, in addition to those of the process.",
    )
    node_options_args: list[str] = Field(
        default_factory=list, description="ROS arguments of its node, such as remappings."
    )

    @field_validator("params_file", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class ManagerParameters(StrictModel):
    """Parameters of the node `controller_manager`."""

    update_rate: int = Field(
        ge=_RATES[0], le=_RATES[1], description="Rate of the control loop [Hz]."
    )
    robot_description: str = Field(description="The robot's URDF.")
    robot_description_semantic: str = Field(
        default="",
        description="The robot's SRDF: the pairs of links that are not kept apart. Empty: none is.",
    )
    self_collision_distance: float = Field(
        default=0.02,
        gt=0.0,
        le=DETECTED / 2.0,
        description="Targets of stiff joints bring no two links nearer than this [m].",
    )
    largest_gravity_bias: float = Field(
        default=LARGEST_BIAS,
        gt=0.0,
        description="Compensation of gravity changes the position of a joint that takes no effort "
        "by this at most [rad].",
    )
    largest_payload: float = Field(
        default=LARGEST_PAYLOAD,
        ge=0.0,
        description="The heaviest payload of a link [kg].",
    )
    backend: str = Field(default="", description="What moves the joints, as the bring-up calls it.")
    calibration: bool = Field(
        default=False, description="Started for `hc calibrate`: stiff modes are refused."
    )
    initial_controller: str = Field(description="The controller in charge at first.")
    safe_controllers: list[str] = Field(
        min_length=1, description="Controllers that the loop falls back to by itself, in order."
    )
    velocity_safety_factor: float = Field(
        default=2.0,
        gt=1.0,
        le=_LARGEST_FACTOR,
        description="A joint measured beyond its velocity limit times this leads to DAMPING.",
    )
    velocity_safety_limits: dict[
        str, Annotated[float, Field(description="Speed that leads to DAMPING [rad/s].")]
    ] = Field(default_factory=dict, description="The same of single joints [rad/s].")
    static_frictions: dict[
        str, Annotated[float, Field(description="Static friction of the joint [Nm].")]
    ] = Field(
        default_factory=dict,
        description="Static friction of single joints [Nm]: a joint that does not move while its "
        "spring torque changes by three times this leads to DAMPING. Others: a ninth of the effort "
        "limit.",
    )
    hold_stiffness: float | None = Field(
        default=None,
        gt=0.0,
        description="Of joints that no controller of a mode claims [Nm/rad]; not with gains per "
        "mode.",
    )
    hold_damping: float | None = Field(
        default=None,
        gt=0.0,
        description="Of joints that no controller of a mode claims [Nm*s/rad]; not with gains per "
        "mode.",
    )
    controllers: dict[str, ControllerEntry] = Field(
        description="The controllers, in the order they are brought up."
    )

    @field_validator(*_PER_JOINT, mode="before")
    @classmethod
    def _joints(cls, value: Any) -> Any:
        return dict(_by_joint(value)) if isinstance(value, Mapping) else value

    @field_validator("velocity_safety_limits")
    @classmethod
    def _positive(cls, value: dict[str, float]) -> dict[str, float]:
        for joint, limit in value.items():
            if not 0.0 < limit < math.inf:
                raise ValueError(f"{joint} is {limit:g} rad/s, expected a positive number")
        return value

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.hold_stiffness is None) is not (self.hold_damping is None):
            raise ValueError("hold_stiffness and hold_damping belong together")
        return self

    @property
    def hold_gains(self) -> ModeGains | None:
        """The gains of joints that no controller of a mode claims, if they are given."""
        if self.hold_stiffness is None or self.hold_damping is None:
            return None
        return ModeGains(self.hold_stiffness, self.hold_damping)

    def velocity_safety_limit(self, joints: JointSet, limits: JointLimits) -> FloatArray:
        """Return the measured speed [rad/s] of each joint that leads to DAMPING, (n_joints,).

        Raises ConfigError for unknown joints, and for a speed that no joint of this limit reaches.
        """
        given = self.velocity_safety_limits
        rows = _rows("velocity_safety_limits", given, joints)
        for (joint, value), limit in zip(given.items(), limits.velocity[rows], strict=True):
            if value > _LARGEST_FACTOR * limit:
                raise ConfigError(
                    f"'velocity_safety_limits': {joint} is {value:g} rad/s, expected at most "
                    f"{_LARGEST_FACTOR * limit:.3g} rad/s ({_LARGEST_FACTOR:g} times its velocity "
                    "limit)"
                )
        safety: FloatArray = limits.velocity * self.velocity_safety_factor
        safety[rows] = list(given.values())
        return safety

    def static_friction(self, joints: JointSet, limits: JointLimits) -> FloatArray:
        """Return the static friction [Nm] of each joint, given or assumed, (n_joints,).

        Raises ConfigError for unknown joints, and for values that fit no joint of this effort.
        """
        given = self.static_frictions
        rows = _rows("static_frictions", given, joints)
        friction: FloatArray = limits.effort * ASSUMED_FRICTION
        friction[rows] = list(given.values())
        for (joint, value), limit in zip(given.items(), limits.effort[rows].tolist(), strict=True):
            lowest, highest = (part * limit for part in _FRICTIONS)
            if not lowest <= value <= highest:
                raise ConfigError(
                    f"'static_frictions': {joint} is {value:g} Nm, expected {lowest:.3g} to "
                    f"{highest:.3g} Nm (0.01 to 0.5 of its effort limit)"
                )
        return friction

    @field_validator("controllers")
    @classmethod
    def _not_empty(cls, value: dict[str, ControllerEntry]) -> dict[str, ControllerEntry]:
        if not value:
            raise ValueError("no controller is configured")
        return value


def _rows(key: str, given: Mapping[str, float], joints: JointSet) -> IndexArray:
    try:
        return joints.indices(given)
    except ConfigError as error:
        raise ConfigError(f"'{key}': {error}") from error


def node_document(
    node: str, parameters: Mapping[str, Any], files: Sequence[Document], namespace: str = ROOT
) -> Document:
    """Return the dotted parameters of `node` as a nested document with their places."""
    places: dict[KeyPath, str] = {}
    for file in files:
        for section in sections(file, namespace):
            if section.is_for(absolute(namespace, node)):
                depth = len(section.key)
                for path, place in file.places.items():
                    if path[:depth] == section.key:
                        places[_dotted(path[depth:])] = place
    return Document(f"parameters of {node}", _nested(node, parameters), places)


def _nested(node: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in parameters.items():
        if is_of_every_node(name):
            continue
        *groups, last = name.split(".")
        level = content
        for group in groups:
            level = level.setdefault(group, {})
            if not isinstance(level, dict):
                raise ConfigError(f"parameters of {node}: '{group}' is a value and a group at once")
        if isinstance(level.get(last), dict):
            raise ConfigError(f"parameters of {node}: '{name}' is a value and a group at once")
        level[last] = list(value) if isinstance(value, array | tuple) else value
    return content


def _dotted(key: KeyPath) -> KeyPath:
    """Return `key` with dotted names split: ROS treats `a.b: 1` and `a: {b: 1}` alike."""
    parts: list[str | int] = []
    for part in key:
        parts.extend(part.split(".") if isinstance(part, str) else [part])
    return tuple(parts)


def parse(model: type[Parameters], node: str, document: Document) -> Parameters:
    """Return the parameters of `node` as a `model`. Raises ConfigError with the node's name."""
    try:
        return validate(model, document)
    except ConfigError as error:
        raise ConfigError(f"{node}: {error}") from error


def manager_parameters(document: Document) -> ManagerParameters:
    """Return the manager's parameters: each mapping is a controller, as in ros2_control.

    Controllers are in the order of the YAML file. Raises ConfigError.
    """
    own: dict[str, Any] = {}
    entries: dict[str, Any] = {}
    for key, value in document.content.items():
        (entries if isinstance(value, Mapping) and key not in _PER_JOINT else own)[key] = value
    order = list(document.places)
    names = sorted(
        entries, key=lambda n: order.index((n,)) if (n,) in document.places else len(order)
    )
    places = {
        ("controllers", *key) if key[:1] and key[0] in entries else key: place
        for key, place in document.places.items()
    }
    content = {**own, "controllers": {name: entries[name] for name in names}}
    return parse(ManagerParameters, "controller_manager", Document(document.name, content, places))


_ENTRY_KEYS: Final = frozenset(ControllerEntry.model_fields)


def applied_to_controller(name: str) -> str:
    """Return when a parameter of the manager that was set is applied; empty if it never is.

    The spawner sets what it has read of a controller that it is going to load.
    """
    controller, _, key = name.rpartition(".")
    known = controller and "." not in controller and key in _ENTRY_KEYS
    return f"'{key}' is applied when '{controller}' is loaded next" if known else ""


def controller_entry(
    name: str, parameters: Mapping[str, Any], files: Sequence[Document], namespace: str = ROOT
) -> ControllerEntry:
    """Return the entry of controller `name` in the present `parameters` of the manager.

    Raises ConfigError; without a type in ros2_control's words.
    """
    own = {key: value for key, value in parameters.items() if key.startswith(f"{name}.")}
    if own.get(f"{name}.type") is None:
        raise ConfigError(f"The 'type' param was not defined for '{name}'.")
    if "." in name or is_of_every_node(name):
        raise ConfigError(f"'{name}' can not be the name of a controller")
    document = node_document("controller_manager", own, files, namespace)
    places = {key[1:]: place for key, place in document.places.items() if key[:1] == (name,)}
    section = Document(document.name, document.content[name], places)
    return parse(ControllerEntry, f"controller_manager: {name}", section)
