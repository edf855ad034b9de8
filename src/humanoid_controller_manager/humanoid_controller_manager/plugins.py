"""Plug-ins: Python entry points, found by their names in URDF and YAML.

Three groups: hardware components, controllers, and, under the same name as either, the function
that creates the plug-in's topics and services (so that the plug-in itself needs no ROS).
"""

import importlib
import os
import stat
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
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
    importlib.invalidate_caches()


def search_too(folders: Iterable[str]) -> None:
    """Search `folders` of this computer for plug-ins after all others: none hides a module.

    Raises ConfigError for a folder that is not of this process's user or root, or that anyone may
    write to: the robot would run the code of another user.
    """
    missing = [it for it in folders if it not in sys.path and os.path.isabs(it)]
    new = [it for it in map(Path, missing) if it.is_dir()]
    for folder in new:
        found = folder.stat()
        if found.st_uid not in {0, os.getuid()} or found.st_mode & stat.S_IWOTH:
            raise ConfigError(
                f"{folder}: another user may change its code: expected a folder of the user of the "
                "control process, which nobody else may write to"
            )
    sys.path += map(str, new)
    forget_plugins()


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
            "workspace, source that workspace in the shell that starts the robot, or in that of "
            "`hc load`"
        )
    return plugin
