"""Prime in one process without ROS and without threads: loop, controllers and mode manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from ament_index_python.packages import get_package_share_directory
from test_support.machine import TestMachine

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyMonitor
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup, load_hardware
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controller_manager.safety.measurement_check import ASSUMED_FRICTION, MeasurementCheck
from humanoid_controllers.mode_manager.mode_manager import ModeManager
from humanoid_controllers.passive_controllers import DampingController, ZeroTorqueController
from humanoid_controllers.remote import RemotePolicyController
from humanoid_controllers.standby import StandbyController

CONTROLLERS: dict[str, type[Any]] = {
    "zero_torque_controller": ZeroTorqueController,
    "damping_controller": DampingController,
    "standby_controller": StandbyController,
    "remote_policy_controller": RemotePolicyController,
}
SAFE_CHAIN = ("damping_controller", "zero_torque_controller")


@dataclass(frozen=True, slots=True)
class Robot:
    """The parts of a robot that benchmarks use."""

    description: RobotDescription
    hardware: HardwareGroup
    controllers: Mapping[str, Any]
    loop: ControlLoop
    modes: ModeManager


def robot(
    urdf: str,
    update_rate: float,
    monotonic: Callable[[], float],
    *,
    limits: type[LimitStage] = LimitStage,
    supervised: bool = True,
    more: Mapping[str, tuple[Controller, Mapping[str, Any]]] = MappingProxyType({}),
) -> Robot:
    """Return Prime as `urdf` describes it, with the controllers of the bring-up.

    `more`: further controllers by name, each with parameters beside those of the bring-up.
    """
    description = parse_robot_description(urdf, update_rate)
    hardware = load_hardware(description)
    facts = RobotFacts(description.joints, description.limits, update_rate, hardware.capabilities)
    own: dict[str, tuple[Controller, Mapping[str, Any]]] = {
        name: (kind(), {}) for name, kind in CONTROLLERS.items()
    }
    controllers = {
        name: _configured(name, controller, changes, facts)
        for name, (controller, changes) in {**own, **more}.items()
    }
    loop = ControlLoop(
        hardware,
        limits(description.limits),
        {name: ControllerSlot(name, instance) for name, instance in controllers.items()},
        safe_chain=SAFE_CHAIN,
        update_rate=update_rate,
        machine=TestMachine(monotonic),
    )
    if supervised:
        limit = description.limits.velocity * velocity_safety_factor()
        friction = description.limits.effort * ASSUMED_FRICTION
        loop.set_measurement_check(MeasurementCheck(facts.joints, limit, friction, update_rate))
    named = {Mode(instance.mode): name for name, instance in controllers.items()}
    modes = ModeManager(loop, named.get, SafetyMonitor())
    loop.start("damping_controller", 0.0)
    return Robot(description, hardware, controllers, loop, modes)


def velocity_safety_factor() -> float:
    """Return the factor of the bring-up."""
    return float(_parameters("controller_manager")["velocity_safety_factor"])


def _parameters(node: str) -> dict[str, Any]:
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    document = yaml.safe_load((share / "config" / "prime_controllers.yaml").read_text())
    found: dict[str, Any] = document.get(node, {}).get("ros__parameters", {})
    return found


def _configured(
    name: str, controller: Controller, changes: Mapping[str, Any], facts: RobotFacts
) -> Controller:
    parameters = controller.Parameters.model_validate({**_parameters(name), **changes})
    controller.on_configure(parameters, facts)
    return controller
