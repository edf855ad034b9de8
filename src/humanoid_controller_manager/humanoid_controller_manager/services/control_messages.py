"""Controllers and hardware as controller_manager_msgs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from controller_manager_msgs.msg import (
    ControllerManagerActivity,
    ControllerState,
    HardwareComponentState,
    HardwareInterface,
    NamedLifecycleState,
)
from lifecycle_msgs.msg import State as LifecycleState

from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.services.interfaces import (
    acting_commands,
    command_interfaces,
    required_commands,
    state_interfaces,
)
from humanoid_controller_manager.switching.registry import Record, State, claimed_joints

ACTIVE: Final = LifecycleState(id=LifecycleState.PRIMARY_STATE_ACTIVE, label="active")
DATA_TYPE: Final = "double"
_ID_OF: Final = {
    State.UNCONFIGURED: LifecycleState.PRIMARY_STATE_UNCONFIGURED,
    State.INACTIVE: LifecycleState.PRIMARY_STATE_INACTIVE,
    State.ACTIVE: LifecycleState.PRIMARY_STATE_ACTIVE,
}


def controllers(manager: ControllerManagerNode) -> list[ControllerState]:
    """Return the state of every loaded controller."""
    return [_controller(manager, record) for record in manager.registry.records.values()]


def _controller(manager: ControllerManagerNode, record: Record) -> ControllerState:
    joints = claimed_joints(record, manager.robot.joints)
    state = manager.registry.state(record)
    message = ControllerState(
        name=record.name,
        state=state.value,
        type=record.entry.type,
        update_rate=round(manager.robot.update_rate),
    )
    if state is not State.UNCONFIGURED:
        message.required_command_interfaces = required_commands(record.plugin, joints)
        message.required_state_interfaces = state_interfaces(joints)
    if state is State.ACTIVE and record.mode is not None:
        message.claimed_interfaces = _acting(manager, joints)
    return message


def components(manager: ControllerManagerNode) -> list[HardwareComponentState]:
    """Return the state of every hardware component: active as long as the process runs."""
    command_of = {interface.name: interface for interface in commands(manager)}
    state_of = {interface.name: interface for interface in states(manager)}
    listed = []
    for block in manager.description.blocks:
        joints = block.joint_set.names
        listed.append(
            HardwareComponentState(
                name=block.name,
                type="system",
                plugin_name=block.plugin,
                rw_rate=round(block.update_rate),
                state=ACTIVE,
                command_interfaces=[command_of[name] for name in command_interfaces(joints)],
                state_interfaces=[state_of[name] for name in state_interfaces(joints)],
            )
        )
    return listed


def commands(manager: ControllerManagerNode) -> list[HardwareInterface]:
    """Return every command interface; those an actuator acts on are available.

    Claimed are those of the controllers in charge: no controller claims a joint that is held.
    """
    acting = set(_acting(manager, manager.robot.joints.names))
    records = manager.registry.records
    active = [records[name] for name in manager.registry.in_charge() if name in records]
    joints = {joint for it in active for joint in claimed_joints(it, manager.robot.joints)}
    return [
        HardwareInterface(
            name=name,
            data_type=DATA_TYPE,
            is_available=name in acting,
            is_claimed=name in acting and name.partition("/")[0] in joints,
        )
        for name in command_interfaces(manager.robot.joints.names)
    ]


def states(manager: ControllerManagerNode) -> list[HardwareInterface]:
    """Return every state interface."""
    return [
        HardwareInterface(name=name, data_type=DATA_TYPE, is_available=True)
        for name in state_interfaces(manager.robot.joints.names)
    ]


def activity(
    manager: ControllerManagerNode, shown: Sequence[tuple[str, State]]
) -> ControllerManagerActivity:
    """Return the states of all controllers, as in `shown`, and of all components."""
    message = ControllerManagerActivity(
        controllers=[
            NamedLifecycleState(
                name=name, state=LifecycleState(id=_ID_OF[state], label=state.value)
            )
            for name, state in shown
        ],
        hardware_components=[
            NamedLifecycleState(name=block.name, state=ACTIVE)
            for block in manager.description.blocks
        ],
    )
    message.header.stamp = manager.stamp(manager.loop.snapshot)
    return message


def _acting(manager: ControllerManagerNode, joints: Sequence[str]) -> list[str]:
    columns = manager.robot.joints.indices(joints)
    return acting_commands(joints, manager.loop.hardware.capabilities[:, columns])
