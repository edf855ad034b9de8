"""Plug-ins: Python entry points, found by their names in URDF and YAML.

Three groups: hardware components, controllers, and, under the same name as either, the function
that creates the plug-in's topics and services (so that the plug-in itself needs no ROS).
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, repr_of

HARDWARE: Final = "humanoid_control.hardware"
CONTROLLERS: Final = "humanoid_control.controllers"
ROS_SIDES: Final = "humanoid_control.ros"


@cache
def _installed() -> Any:
    """Return all entry points of the environment, found once: it takes many milliseconds."""
    return entry_points()


def forget_plugins() -> None:
    """Search entry points again at the next call: packages may have been installed meanwhile."""
    _installed.cache_clear()


def _group(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in _installed().select(group=group)}


def known_plugins(group: str) -> list[str]:
    """Return the names of the installed plug-ins of `group`, sorted."""
    return sorted(_group(group))


def find_plugin(group: str, name: str) -> Any | None:
    """Return the object registered as `name`, or None. Raises ConfigError if its import fails."""
    point = _group(group).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except PLUGIN_ERRORS as error:
        where = f"plugin '{name}' ({point.value})"
        raise ConfigError(f"{where} cannot be imported: {repr_of(error)}") from error


def require_plugin(group: str, name: str, where: str) -> Any:
    """Return the object registered as `name`.

    Raises ConfigError that begins with `where` and lists the known names if there is none.
    """
    plugin = find_plugin(group, name)
    if plugin is None:
        known = ", ".join(known_plugins(group)) or "none"
        raise ConfigError(
            f"{where}: unknown plugin '{name}'; known: {known}. For a plug-in of another "
            "workspace, source that workspace in the shell that starts the robot"
        )
    return plugin
