"""Interface names as ros2_control lists them: `<joint>/<interface>`."""

from collections.abc import Iterable
from typing import Any

from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    STATE_INTERFACES,
    Capability,
)
from humanoid_controller_manager.hardware_component import CapabilityArray


def state_interfaces(joints: Iterable[str]) -> list[str]:
    """Return all state interfaces of `joints`: every controller reads them."""
    return [f"{joint}/{interface}" for joint in joints for interface in STATE_INTERFACES]


def command_interfaces(joints: Iterable[str]) -> list[str]:
    """Return all command interfaces of `joints`: every joint has the five."""
    return [f"{joint}/{interface}" for joint in joints for interface in COMMAND_INTERFACES]


def required_commands(plugin: Any, joints: Iterable[str]) -> list[str]:
    """Return the `needs` of a controller on every joint; none for a broadcaster."""
    needs = getattr(plugin, "needs", {})
    return [
        f"{joint}/{interface}"
        for joint in joints
        for interface in COMMAND_INTERFACES
        if interface in needs
    ]


def acting_commands(joints: Iterable[str], capabilities: CapabilityArray) -> list[str]:
    """Return the command interfaces an actuator acts on; the controller in charge claims them.

    `capabilities` has shape (5, n): see HardwareComponent.capabilities.
    """
    return [
        f"{joint}/{interface}"
        for joint, levels in zip(joints, capabilities.T, strict=True)
        for interface, level in zip(COMMAND_INTERFACES, levels, strict=True)
        if level > Capability.NEVER
    ]
