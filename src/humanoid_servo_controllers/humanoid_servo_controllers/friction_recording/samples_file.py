"""The samples behind a friction map, in a table beside its file."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_servo_controllers.friction_recording.recording import FrictionSample

COLUMNS: Final = ("joint", "direction", "position [rad]", "effort [Nm]")


def samples_path(path: Path) -> Path:
    """Return the table that belongs to the friction file `path`."""
    return path.with_suffix(".csv")


def save_samples(path: Path, samples: Mapping[str, Sequence[FrictionSample]]) -> None:
    """Write the samples of each joint to a table. Raises ConfigError if that fails."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for joint, own in samples.items():
                writer.writerows(
                    (joint, it.direction, f"{it.position:.6f}", f"{it.effort:.6f}") for it in own
                )
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


def load_samples(path: Path) -> dict[str, list[FrictionSample]]:
    """Return the samples in a table, by joint. Raises ConfigError naming the line that is wrong."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no table: {error}") from error
    if not rows or tuple(rows[0]) != COLUMNS:
        raise ConfigError(f"{path}:1: expected the columns {', '.join(COLUMNS)}")
    found: dict[str, list[FrictionSample]] = {}
    for line, row in enumerate(rows[1:], start=2):
        try:
            joint, sample = _sample(row)
        except ValueError as error:
            raise ConfigError(f"{path}:{line}: {error}") from error
        found.setdefault(joint, []).append(sample)
    return found


def _sample(row: Sequence[str]) -> tuple[str, FrictionSample]:
    """Return joint and sample of a row. Raises ValueError for a wrong one."""
    joint, direction, position, effort = row
    sample = FrictionSample(int(direction), float(position), float(effort))
    if sample.direction not in {1, -1}:
        raise ValueError(f"direction {sample.direction}, expected 1 or -1")
    if not (math.isfinite(sample.position) and math.isfinite(sample.effort)):
        raise ValueError(f"{sample.position} rad, {sample.effort} Nm, expected finite numbers")
    return joint, sample
