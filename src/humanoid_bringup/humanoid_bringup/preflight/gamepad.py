"""Check that the gamepad is present and readable."""

import os
from pathlib import Path
from typing import Final

from humanoid_bringup.preflight.findings import NotReadyError
from humanoid_control_common.errors import ConfigError

INPUT: Final = Path("/dev/input")
_PREFIX: Final = "js"  # of joysticks (Linux joystick API)


def joystick_number(name: str) -> int:
    """Return joy_node's number of a joystick. Raises ConfigError for any other name."""
    number = name.removeprefix(_PREFIX)
    if number == name or not number.isdecimal():
        raise ConfigError(f"joystick is '{name}', expected js0, js1 ...")
    return int(number)


def require_joystick(name: str, folder: Path = INPUT) -> None:
    """Raise NotReadyError, naming the joysticks there are, unless `name` can be read."""
    joystick_number(name)
    device = folder / name
    if not device.exists():
        there = sorted(path.name for path in folder.glob(f"{_PREFIX}*"))
        raise NotReadyError(
            f"gamepad {device}: there is none; joysticks present: {', '.join(there) or 'none'} "
            "(plug it in, name another one, or do without)"
        )
    if not os.access(device, os.R_OK):
        raise NotReadyError(
            f'gamepad {device}: not permitted: `sudo usermod -aG input "$USER"` and log in again'
        )
