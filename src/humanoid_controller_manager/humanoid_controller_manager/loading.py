"""What is slow or somebody else's about a controller: its import and its `on_configure`."""

from __future__ import annotations

from typing import Any

from humanoid_control_common.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.controller import HasGains, RobotFacts
from humanoid_controller_manager.hardware import ChecksGains
from humanoid_controller_manager.parameters import parse
from humanoid_controller_manager.plugins import CONTROLLERS, ROS_SIDES, find_plugin, require_plugin


def import_controller(name: str, plugin_type: str) -> Any:
    """The class of controller `name`; its ROS side is imported as well, while there is time.

    Raises ConfigError for an unknown plugin and one that can't be imported.
    """
    plugin = require_plugin(CONTROLLERS, plugin_type, f"controller '{name}'")
    find_plugin(ROS_SIDES, plugin_type)
    return plugin


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
    except Exception as error:  # plugin code: whatever it raises, it is not configured
        raise ConfigError(f"{where}: on_configure failed: {error!r}") from error
    if isinstance(instance, HasGains):
        hardware.check_gains(*instance.gains, where)
    return instance
