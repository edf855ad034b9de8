"""The metadata of a policy, from its ONNX file. They alone define what the policy expects.

Values in the file are strings; lists are comma-separated. The keys are those of Isaac Lab's
exporters where the exporters have them. docs/policies.md describes them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from humanoid_control_common.configuration.config import StrictModel
from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.observation.terms import TERMS

LONGEST_PERIOD: Final = 1.0  # [s]: an action that is held longer is no control
LARGEST: Final = 1e6  # of any number: gains, angles and scales are far below
# Notes that exporters write; no code depends on them.
NOTES: Final = frozenset({"command_names", "run_path"})
_NUMBERS: Final = (
    "joint_stiffness",
    "joint_damping",
    "default_joint_pos",
    "action_scale",
    "observation_scales",
)
_NAMES: Final = ("joint_names", "action_joint_names", "observation_names")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST_SHOWN: Final = 60  # characters of a wrong value in a message
_PER_JOINT: Final = ("joint_stiffness", "joint_damping", "default_joint_pos")


class ActionKind(StrEnum):
    """The meaning of an action `a`, per action joint; q is a commanded position [rad]."""

    TARGETS = "targets"  # q = default + scale * a
    DELTAS = "deltas"  # q = q of the policy step before + scale * a; before the first: measured
    RESIDUALS = "residuals"  # q = reference + scale * a, with the reference's velocity
    TORQUES = "torques"  # effort = scale * a [Nm], q = default


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _named_once(names: tuple[str, ...]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if not name or name != name.strip() or "," in name:
            raise ValueError(f"index {index}: found {_shown(name)}, expected a name")
        if name in names[:index]:
            raise ValueError(f"index {index}: {_shown(name)} is named twice")
    return names


def _finite(numbers: tuple[float, ...]) -> tuple[float, ...]:
    for index, number in enumerate(numbers):
        if not abs(number) <= LARGEST:
            raise ValueError(
                f"index {index}: found {number:g}, expected a number of at most {LARGEST:g}"
            )
    return numbers


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Names = Annotated[
    tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1), AfterValidator(_named_once)
]
# `_finite` refuses infinity and NaN, with their index.
_Number = Annotated[float, Field(allow_inf_nan=True)]
Numbers = Annotated[tuple[_Number, ...], BeforeValidator(_as_tuple), AfterValidator(_finite)]


class PolicyMetadata(StrictModel):
    """The requirements of a policy, and the meaning of its action.

    Vectors of joints have the order of `joint_names`, n of them; an action has m values.
    """

    task: str = Field(pattern=r"^\S+$", description="What the policy does, a word.")
    joint_names: Names = Field(description="The joints of the observation, in order.")
    joint_stiffness: Numbers = Field(description="[Nm/rad], one per joint.")
    joint_damping: Numbers = Field(description="[Nm*s/rad], one per joint.")
    default_joint_pos: Numbers = Field(description="[rad], one per joint.")
    action_joint_names: Names = Field(description="The joints of the action, in order.")
    action_kind: ActionKind = Field(description="What the action means.")
    action_scale: Numbers = Field(description="One per action joint, or one for all.")
    observation_names: Names = Field(description="Terms of the observation, in order.")
    observation_scales: Numbers = Field(default=(), description="One per term; none: 1.")
    policy_period: float = Field(
        gt=0.0, le=LONGEST_PERIOD, description="From inference to inference [s]."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for key in _PER_JOINT:
            self._count(key, len(self.joint_names), "joint of joint_names")
        for key in ("joint_stiffness", "joint_damping"):
            self._not_negative(key)
        self._among("action_joint_names", "joint of joint_names", self.joint_names)
        if len(self.action_scale) != 1:
            self._count("action_scale", len(self.action_joint_names), "action joint, or one")
        self._among("observation_names", "term", TERMS)
        if self.observation_scales:
            self._count("observation_scales", len(self.observation_names), "term")
        return self

    def _count(self, key: str, expected: int, of: str) -> None:
        found = len(getattr(self, key))
        if found != expected:
            raise ValueError(f"{key}: found {found} values, expected {expected}, one per {of}")

    def _among(self, key: str, what: str, known: Collection[str]) -> None:
        for index, name in enumerate(getattr(self, key)):
            if name not in known:
                text = f"{key}: index {index}: unknown {what} {_shown(name)}"
                raise ValueError(f"{text}; known: {', '.join(known)}")

    def _not_negative(self, key: str) -> None:
        for index, (name, value) in enumerate(
            zip(self.joint_names, getattr(self, key), strict=True)
        ):
            if value < 0.0:
                raise ValueError(
                    f"{key}: {name} (index {index}): found {value:g}, expected 0 or more"
                )

    @property
    def action_rows(self) -> tuple[int, ...]:
        """The places of the action joints in `joint_names`, m of them."""
        return tuple(self.joint_names.index(name) for name in self.action_joint_names)

    @property
    def scales(self) -> tuple[float, ...]:
        """`action_scale`, one per action joint."""
        count = len(self.action_joint_names)
        return self.action_scale * count if len(self.action_scale) == 1 else self.action_scale

    def to_strings(self) -> dict[str, str]:
        """Return the metadata as an ONNX file has it."""
        return {
            key: _text(value) for key, value in self.model_dump(mode="json").items() if value != []
        }

    @classmethod
    def from_strings(cls, properties: Mapping[str, str], where: str) -> PolicyMetadata:
        """Return the metadata of a file. Raises PolicyRefusedError that begins with `where`.

        Unknown keys are refused: a misspelt one would be without effect.
        """
        known = cls.model_fields
        unknown = [key for key in properties if key not in known and key not in NOTES]
        missing = [key for key, it in known.items() if it.is_required() and key not in properties]
        if unknown or missing:
            words = [f"unknown: {_shown(', '.join(unknown))}"] if unknown else []
            words += [f"missing: {', '.join(missing)}"] if missing else []
            raise PolicyRefusedError(
                f"{where}: metadata keys {'; '.join(words)}; known: {', '.join(known)}"
            )
        found = {key: _value(where, key, text) for key, text in properties.items() if key in known}
        try:
            return cls.model_validate(found)
        except ValidationError as error:
            problems = [_describe(problem) for problem in error.errors()]
            raise PolicyRefusedError(
                "\n".join(f"{where}: metadata {problem}" for problem in problems)
            ) from None


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(_text(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _value(where: str, key: str, text: str) -> object:
    if key in _NAMES:
        return tuple(_listed(text))
    if key in _NUMBERS:
        return tuple(_number(where, key, i, word) for i, word in enumerate(_listed(text)))
    if key == "policy_period":
        return _number(where, key, 0, text.strip())
    if key == "action_kind":
        return _kind(where, text.strip())
    return text.strip()


def _listed(text: str) -> Sequence[str]:
    return [word.strip() for word in text.split(",")]


def _number(where: str, key: str, index: int, word: str) -> float:
    if not _NUMBER.fullmatch(word):
        text = f"{where}: metadata {key}: index {index}: found {_shown(word)}"
        raise PolicyRefusedError(f"{text}, expected a finite number")
    return float(word)


def _kind(where: str, word: str) -> ActionKind:
    if word not in list(ActionKind):
        raise PolicyRefusedError(
            f"{where}: metadata action_kind: found {_shown(word)}, expected one of "
            f"{', '.join(ActionKind)}"
        )
    return ActionKind(word)


def _describe(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    cause = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {cause} (found {_shown(problem['input'])})" if place else cause
