"""Classes and instances of controllers: import, check, configure."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import IndexArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_controller_manager.controller import (
    BROADCASTER_CONTRACT,
    CONTROLLER_CONTRACT,
    Broadcaster,
    Controller,
    ModeGains,
    RobotFacts,
)
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.result_checks import shown
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, repr_of
from humanoid_controller_manager.plugins import CONTROLLERS, ROS_SIDES, find_plugin, require_plugin
from humanoid_controller_manager.ros.parameters import parse
from humanoid_controller_manager.switching.claims import KEY

logger = logging.getLogger(__name__)


def import_controller(name: str, plugin_type: str) -> Any:
    """Return the class of controller `name`, and import its ROS side while there is time.

    Raises ConfigError for a plug-in that is unknown, cannot be imported or is no controller.
    """
    plugin = require_plugin(CONTROLLERS, plugin_type, f"controller '{name}'")
    _checked(plugin, f"controller '{name}': plugin '{plugin_type}'")
    find_plugin(ROS_SIDES, plugin_type)
    return plugin


def _checked(plugin: Any, where: str) -> None:
    """Raise ConfigError for a class that breaks its contract, see `duties`."""
    contract = _contract_of(plugin)
    duties = contract.taken_on(plugin, where)
    broadcasts = contract is BROADCASTER_CONTRACT
    expected = ["Parameters"] if broadcasts else ["Parameters", "mode", "needs"]
    lacking = [name for name in expected if not hasattr(plugin, name)]
    if lacking:
        raise ConfigError(f"{where} has no {', '.join(lacking)}")
    _check_parameters(plugin.Parameters, where, takes_joints=not broadcasts)
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
    elif plugin.mode in SAFE_MODES and plugin.needs:
        raise ConfigError(
            f"{where} needs {', '.join(plugin.needs)}: a controller of {plugin.mode.name} must "
            "begin at once on any hardware. Leave `needs` empty"
        )
    logger.debug("%s has the duties: %s", where, ", ".join(sorted(duties)))


def _check_parameters(model: Any, where: str, *, takes_joints: bool) -> None:
    """Raise ConfigError for a class `model` that the parameters file cannot fill."""
    if not (isinstance(model, type) and issubclass(model, StrictModel)):
        raise ConfigError(f"{where} has Parameters {model!r}, expected a subclass of StrictModel")
    if takes_joints and KEY in model.model_fields:
        raise ConfigError(
            f"{where} has a parameter '{KEY}': the manager takes that key and gives the controller "
            "its joints as `robot.joints`. Leave it out"
        )


def _refuse_own_facts(instance: object, where: str) -> None:
    """Raise ConfigError for an instance with another mode, or other needs, than its class.

    Those of the class are checked, and decide which mode the controller is loaded for.
    """
    for name in ("mode", "needs"):
        if name in getattr(instance, "__dict__", {}):
            raise ConfigError(
                f"{where}: attribute '{name}' hides that of the class: define it in the class; "
                "another mode needs a class of its own"
            )


def _contract_of(plugin: Any) -> Contract:
    broadcasts = isinstance(plugin, type) and issubclass(plugin, Broadcaster)
    return BROADCASTER_CONTRACT if broadcasts else CONTROLLER_CONTRACT


def _is_known(needs: Any) -> bool:
    return isinstance(needs, Mapping) and all(
        name in COMMAND_INTERFACES and isinstance(level, Capability)
        for name, level in needs.items()
    )


def configured_instance(
    name: str,
    plugin: Any,
    document: Document,
    robot: RobotFacts,
    hardware: HardwareGroup,
    rows: IndexArray | None = None,
) -> Any:
    """Return a configured controller of class `plugin`; `hardware` is configured already.

    `robot` has the joints that it claims: those at `rows`, or all of the robot's.

    Raises ConfigError naming the controller and the place in its parameters.
    """
    where = f"{document.where(())}: {name}"
    try:
        parameters = parse(plugin.Parameters, name, document)
    except ConfigError:
        raise
    except PLUGIN_ERRORS as error:  # of its own validators
        raise ConfigError(f"{where}: Parameters failed: {repr_of(error)}") from error
    duty = "__init__"
    try:
        instance = plugin()
        duty = "on_configure"
        instance.on_configure(parameters, robot)
        duty = "gains"
        gains = _checked_gains(instance)
        duty = "compensates_gravity"
        compensates = isinstance(instance, Controller) and bool(instance.compensates_gravity)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    except PLUGIN_ERRORS as error:
        raise ConfigError(f"{where}: {duty} failed: {repr_of(error)}") from error
    _contract_of(plugin).refuse_hidden(instance, where)
    _refuse_own_facts(instance, where)
    if compensates and robot.no_gravity:
        raise ConfigError(f"{where}: gravity cannot be compensated: {robot.no_gravity}")
    if gains is not None:
        hardware.check_gains(instance.mode, *gains, where, rows)
    return instance


def _checked_gains(instance: object) -> ModeGains | None:
    """Return the gains that a controller knows in advance. Raises what it raises; TypeError."""
    gains = instance.gains if isinstance(instance, Controller) else None
    if gains is not None and not (
        isinstance(gains, ModeGains)
        and all(isinstance(it, float | int | np.floating) for it in gains)
    ):
        raise TypeError(f"found {shown(gains)}, expected ModeGains of two numbers, or None")
    return gains
