"""Gains that are set per mode, as in the robot description: by mode number."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.block_parameters import number

# In a block: the configured gains of its joints with gains per mode. In a simulated joint: the
# gains of its drive; a joint without them takes gains in every tick.
STIFFNESS: Final = "mode_stiffness"  # [Nm/rad], one number for each mode
DAMPING: Final = "mode_damping"  # [Nm s/rad]
MODE_GAINS: Final = (STIFFNESS, DAMPING)
# Of a joint with gains per mode: realized / nominal torque of its drive and transmission.
EFFICIENCY: Final = "torque_efficiency"
# About 0.7 was measured. A slip of the decimal point would multiply what is divided by it.
LEAST_EFFICIENCY: Final = 0.3


def mode_gains(parameters: Mapping[str, str], where: str) -> FloatArray | None:
    """Return stiffness and damping, shape (modes, 2), of a block or a joint; None if it has none.

    Raises ConfigError that begins with `where` unless both have a number from 0 on for each mode.
    """
    found = {name: parameters.get(name, "").split() for name in MODE_GAINS}
    if not any(found.values()):
        return None
    columns = []
    for name, words in found.items():
        try:
            values = np.array([float(word) for word in words])
        except ValueError:
            values = np.full(len(Mode), np.nan)
        if len(values) != len(Mode) or not ((values >= 0.0) & np.isfinite(values)).all():
            raise ConfigError(
                f"{where}: {name} is '{' '.join(words)}', expected {len(Mode)} numbers from 0 on: "
                f"of {', '.join(mode.name for mode in Mode)}"
            )
        columns.append(values)
    return np.stack(columns, axis=1)


def torque_efficiency(parameters: Mapping[str, str], where: str) -> float:
    """Return the efficiency of a joint, 1 if it gives none.

    Raises ConfigError that begins with `where` unless it is LEAST_EFFICIENCY to 1.
    """
    text = parameters.get(EFFICIENCY, "") or "1"
    value = number(text, f"{where}: {EFFICIENCY}")
    if not LEAST_EFFICIENCY <= value <= 1.0:
        raise ConfigError(f"{where}: {EFFICIENCY} is {value:g}, expected {LEAST_EFFICIENCY:g} to 1")
    return value
