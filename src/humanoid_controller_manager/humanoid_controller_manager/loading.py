"""What is slow or somebody else's about a controller: its import and its `on_configure`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from humanoid_control_common.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability
from humanoid_controller_manager.controller import (
    BROADCASTER_CONTRACT,
    CONTROLLER_CONTRACT,
    Broadcaster,
    Controller,
    RobotFacts,
)
from humanoid_controller_manager.duties import Contract, refuse_hidden
from humanoid_controller_manager.parameters import parse
from humanoid_controller_manager.plugins import CONTROLLERS, ROS_SIDES, find_plugin, require_plugin

logger = logging.getLogger(__name__)


class ChecksGains(Protocol):
    """The hardware, asked whether its joints can have the gains of a mode."""

    def check_gains(self, mode: Mode, stiffness: float, damping: float, where: str) -> None:
        """See HardwareGroup. Raises ConfigError."""


def import_controller(name: str, plugin_type: str) -> Any:
    """The class of controller `name`; its ROS side is imported as well, while there is time.

    Raises ConfigError for an unknown plugin, one that can't be imported, and what is no controller.
    """
    plugin = require_plugin(CONTROLLERS, plugin_type, f"controller '{name}'")
    _checked(plugin, f"controller '{name}': plugin '{plugin_type}'")
    find_plugin(ROS_SIDES, plugin_type)
    return plugin


def _checked(plugin: Any, where: str) -> None:
    """Raises ConfigError for a class the loop can't rely on."""
    contract = _contract_of(plugin)
    duties = contract.taken_on(plugin, where)
    broadcasts = contract is BROADCASTER_CONTRACT
    expected = ["Parameters"] if broadcasts else ["Parameters", "mode", "needs"]
    lacking = [name for name in expected if not hasattr(plugin, name)]
    if lacking:
        raise ConfigError(f"{where} has no {', '.join(lacking)}")
    if broadcasts:
        if hasattr(plugin, "mode"):
            raise ConfigError(
                f"{where} has a mode, so it is no Broadcaster: derive from Controller"
            )
    elif not isinstance(plugin.mode, Mode):
        raise ConfigError(f"{where} is of mode {plugin.mode!r}, expected a Mode")
    elif not _is_known(plugin.needs):
        known = ", ".join(COMMAND_INTERFACES)
        raise ConfigError(f"{where} needs {plugin.needs!r}, expected {known}")
    logger.debug("%s takes on: %s", where, ", ".join(sorted(duties)))


def _contract_of(plugin: Any) -> Contract:
    broadcasts = isinstance(plugin, type) and issubclass(plugin, Broadcaster)
    return BROADCASTER_CONTRACT if broadcasts else CONTROLLER_CONTRACT


def _is_known(needs: Any) -> bool:
    return isinstance(needs, Mapping) and all(
        name in COMMAND_INTERFACES and isinstance(level, Capability)
        for name, level in needs.items()
    )


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
        gains = instance.gains if isinstance(instance, Controller) else None
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:  # plugin code: whatever it raises, it isn't configured
        raise ConfigError(f"{where}: on_configure failed: {error!r}") from error
    refuse_hidden(_contract_of(plugin), instance, where)
    if gains is not None:
        hardware.check_gains(instance.mode, *gains, where)
    return instance
