"""What is slow or somebody else's about a controller: its import and its `on_configure`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humanoid_control_common.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability
from humanoid_controller_manager.controller import HasGains, RobotFacts
from humanoid_controller_manager.hardware import ChecksGains
from humanoid_controller_manager.parameters import parse
from humanoid_controller_manager.plugins import CONTROLLERS, ROS_SIDES, find_plugin, require_plugin


def import_controller(name: str, plugin_type: str) -> Any:
    """The class of controller `name`; its ROS side is imported as well, while there is time.

    Raises ConfigError for an unknown plugin, one that can't be imported, and what is no controller.
    """
    plugin = require_plugin(CONTROLLERS, plugin_type, f"controller '{name}'")
    problem = _problem_of(plugin)
    if problem:
        raise ConfigError(f"controller '{name}': plugin '{plugin_type}' {problem}")
    find_plugin(ROS_SIDES, plugin_type)
    return plugin


def _problem_of(plugin: Any) -> str:
    """Why a class is no controller, which the loop would find out too late; empty if it is one."""
    expected = ["Parameters", "on_configure"]
    if hasattr(plugin, "mode"):
        expected += ["needs", "on_activate", "update", "on_deactivate"]
    lacking = [name for name in expected if not hasattr(plugin, name)]
    if lacking:
        return f"has no {', '.join(lacking)}"
    mode, needs = getattr(plugin, "mode", None), getattr(plugin, "needs", {})
    if not isinstance(mode, Mode | None):
        return f"is of mode {mode!r}, expected a Mode"
    known = isinstance(needs, Mapping) and all(
        name in COMMAND_INTERFACES and isinstance(level, Capability)
        for name, level in needs.items()
    )
    return "" if known else f"needs {needs!r}, expected {', '.join(COMMAND_INTERFACES)}"


def configured_instance(
    name: str, plugin: Any, document: Document, robot: RobotFacts, hardware: ChecksGains
) -> Any:
    """A controller of class `plugin`, configured; `hardware` is configured already.

    Raises ConfigError naming the controller and the place in its parameters.
    """
    where = f"{document.where(())}: {name}"
    parameters = parse(plugin.Parameters, name, document)
    try:
        instance = plugin()
        instance.on_configure(parameters, robot)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:  # plugin code: whatever it raises, it isn't configured
        raise ConfigError(f"{where}: on_configure failed: {error!r}") from error
    if isinstance(instance, HasGains):
        hardware.check_gains(*instance.gains, where)
    return instance
