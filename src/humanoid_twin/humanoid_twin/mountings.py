"""How the drives sit on the joints of one virtual robot: what a calibration has to find out."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from humanoid_control_common.errors import ConfigError
from humanoid_twin.drive.parameters import Mounting

_KEYS = {"direction", "offset"}


def load_mountings(path: Path, joints: Collection[str]) -> dict[str, Mounting]:
    """Read `{joint: {direction: 1 or -1, offset: rad}}`; a joint that isn't in it sits straight.

    Raises ConfigError: no such file, no YAML, an unknown joint or key, a value that can't be.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
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
