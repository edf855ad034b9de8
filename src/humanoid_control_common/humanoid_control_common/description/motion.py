"""Check the figures of a description that decide how its links move."""

from typing import Final
from xml.etree.ElementTree import Element

from humanoid_control_common.description.numbers import numbers, placed
from humanoid_control_common.errors import ConfigError

_DYNAMICS: Final = ("damping", "friction")


def check_motion(robot: Element) -> None:
    """Check places and dynamics of the joints of `robot`, the root of a description, and gravity.

    Raises ConfigError, naming the joint, for a number that is not finite or missing, and for
    negative damping or friction. MuJoCo accepts these: its results are wrong, or not finite.
    """
    for joint in robot.findall("joint"):
        where = f"joint '{joint.get('name', '')}'"
        placed(joint, where)
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            _check_dynamics(dynamics, f"{where}: dynamics")
    option = robot.find("mujoco/option")
    if option is not None and "gravity" in option.attrib:
        numbers(option.get("gravity", ""), 3, "<mujoco><option gravity>")


def _check_dynamics(dynamics: Element, where: str) -> None:
    for name in _DYNAMICS:
        text = dynamics.get(name, "0")
        if numbers(text, 1, f"{where} {name}")[0] < 0.0:
            raise ConfigError(f"{where} {name} is {text}, expected 0 or more")
