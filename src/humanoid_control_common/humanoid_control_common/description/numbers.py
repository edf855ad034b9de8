"""Numbers in the attributes of a description."""

from xml.etree.ElementTree import Element

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray


def numbers(text: str, count: int, where: str) -> FloatArray:
    """Return `count` finite numbers. Raises ConfigError that begins with `where`."""
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if len(values) != count or not np.isfinite(values).all():
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        raise ConfigError(f"{where}: expected {expected}, found '{text}'")
    return values


def placed(element: Element, where: str) -> tuple[FloatArray, FloatArray]:
    """Return position [m] and roll, pitch, yaw [rad] of the `<origin>` in `element`.

    Raises ConfigError that begins with `where`.
    """
    origin = element.find("origin")
    attributes = {} if origin is None else origin.attrib
    position = numbers(attributes.get("xyz", "0 0 0"), 3, f"{where}: origin xyz")
    return position, numbers(attributes.get("rpy", "0 0 0"), 3, f"{where}: origin rpy")
