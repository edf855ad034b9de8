"""Controllers from their parameters: plugin, parameters, fallbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from humanoid_control_common.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.active_controller import ControllerSlot
from humanoid_controller_manager.controller import HasGains, RobotFacts
from humanoid_controller_manager.hardware import ChecksGains
from humanoid_controller_manager.parameters import ControllerEntry, parse
from humanoid_controller_manager.plugins import CONTROLLERS, require_plugin


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A configured controller or broadcaster, and the plugin name it was found by."""

    name: str
    plugin_type: str
    instance: Any
    slot: ControllerSlot | None  # None for a broadcaster


def load_controllers(
    entries: Mapping[str, ControllerEntry],
    document_of: Callable[[str], Document],
    robot: RobotFacts,
    hardware: ChecksGains,
) -> list[LoadedPlugin]:
    """Configure every controller of `entries`, in their order.

    `document_of` gives the parameters of a controller by its name; `hardware` is configured.

    Raises ConfigError naming the controller.
    """
    loaded = []
    for name, entry in entries.items():
        document = document_of(name)
        plugin = require_plugin(CONTROLLERS, entry.type, f"controller '{name}'")
        parameters = parse(plugin.Parameters, name, document)
        instance = plugin()
        try:
            instance.on_configure(parameters, robot)
        except ConfigError as error:
            raise ConfigError(f"{document.where(())}: {name}: {error}") from error
        if isinstance(instance, HasGains):
            hardware.check_gains(*instance.gains, f"{document.where(())}: {name}")
        is_controller = hasattr(plugin, "mode")
        slot = (
            ControllerSlot(name, instance, tuple(entry.fallback_controllers))
            if is_controller
            else None
        )
        loaded.append(LoadedPlugin(name, entry.type, instance, slot))
    return loaded
