"""Plugins are Python entry points, looked up by the names that URDF and YAML use.

Three groups: hardware components, controllers, and, under the same name as either, the function
that gives a plugin its topics and services (so that the plugin itself needs no ROS).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from humanoid_control_common.errors import ConfigError

HARDWARE: Final = "humanoid_control.hardware"
CONTROLLERS: Final = "humanoid_control.controllers"
ROS_SIDES: Final = "humanoid_control.ros"


@cache
def _installed() -> Any:
    """All entry points of the environment. Finding them takes many milliseconds: done once."""
    return entry_points()


def _group(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in _installed().select(group=group)}


def known_plugins(group: str) -> list[str]:
    """Names of the installed plugins of `group`, sorted."""
    return sorted(_group(group))


def find_plugin(group: str, name: str) -> Any | None:
    """The object registered under `name`, or None. Raises ConfigError if it can't be imported."""
    point = _group(group).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        # Somebody else's module: importing it may raise anything, a program's exit() included.
        where = f"plugin '{name}' ({point.value})"
        raise ConfigError(f"{where} cannot be imported: {error!r}") from error


def require_plugin(group: str, name: str, where: str) -> Any:
    """Like `find_plugin`; raises ConfigError listing the known names if there is none.

    `where` says in the message who asks.
    """
    plugin = find_plugin(group, name)
    if plugin is None:
        known = ", ".join(known_plugins(group)) or "none"
        raise ConfigError(
            f"{where}: unknown plugin '{name}'; known: {known}. Of other workspaces, those count "
            "that the shell has sourced in which the robot was started"
        )
    return plugin
