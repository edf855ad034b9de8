"""Friction maps in files: YAML with units, joints, date and method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import yaml
from pydantic import Field

from humanoid_control_common.configuration.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import replace_text
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap, PointError

Method = Literal["breakaway", "sweep", "by hand"]
Points = list[Annotated[list[float], Field(min_length=2, max_length=2)]]


class _Units(StrictModel):
    position: Literal["rad"]
    effort: Literal["Nm"]


class _Directions(StrictModel):
    forward: Points = Field(description="[rad, Nm] of each point, efforts 0 or more.")
    backward: Points = Field(description="[rad, Nm] of each point, efforts 0 or less.")


class _File(StrictModel):
    date: date
    method: Method
    units: _Units
    joints: dict[str, _Directions] = Field(min_length=1)


@dataclass(frozen=True, slots=True, eq=False)
class FrictionMaps:
    """The maps of some joints, and how they were found."""

    recorded: date
    method: Method
    maps: Mapping[str, FrictionMap]  # by joint


def load_friction_maps(path: Path) -> FrictionMaps:
    """Return the maps in a file.

    Raises ConfigError with file, line, joint and point for whatever is wrong.
    """
    document = read_yaml(path)
    content = validate(_File, document)
    maps = {name: _map(name, it, document) for name, it in content.joints.items()}
    return FrictionMaps(content.date, content.method, maps)


def save_friction_maps(path: Path, content: FrictionMaps) -> None:
    """Write `content` to a file, whole or not at all. Raises ConfigError if that fails."""
    document = {
        "date": content.recorded,
        "method": content.method,
        "units": {"position": "rad", "effort": "Nm"},
        "joints": {
            name: {"forward": _points(it.forward), "backward": _points(it.backward)}
            for name, it in content.maps.items()
        },
    }
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None)
    try:
        replace_text(path, text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


def _map(joint: str, given: _Directions, document: Document) -> FrictionMap:
    curves = {}
    for direction, points in (("forward", given.forward), ("backward", given.backward)):
        key = ("joints", joint, direction)
        values = np.array(points, dtype=np.float64).reshape(-1, 2)
        sign = 1 if direction == "forward" else -1
        try:
            curves[direction] = FrictionCurve(values[:, 0], values[:, 1], sign)
        except PointError as error:
            where = document.where(key if error.point is None else (*key, error.point))
            raise ConfigError(f"{where}: {joint}, {direction}: {error}") from error
    return FrictionMap(curves["forward"], curves["backward"])


def _points(curve: FrictionCurve) -> list[list[float]]:
    pairs = zip(curve.positions.tolist(), curve.efforts.tolist(), strict=True)
    return [list(pair) for pair in pairs]
