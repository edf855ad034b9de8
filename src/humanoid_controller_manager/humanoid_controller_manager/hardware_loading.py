"""Hardware components from a robot description."""

from __future__ import annotations

from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.hardware import HARDWARE_CONTRACT
from humanoid_controller_manager.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware_member import Member, block_named
from humanoid_controller_manager.plugins import HARDWARE, require_plugin
from humanoid_controller_manager.urdf import RobotDescription


def load_hardware(description: RobotDescription) -> HardwareGroup:
    """The components of `description`, configured.

    Raises ConfigError for unknown plugins and for whatever a component refuses.
    """
    members = []
    for info in description.blocks:
        where = f"<ros2_control name='{info.name}'>"
        plugin = require_plugin(HARDWARE, info.plugin, where)
        HARDWARE_CONTRACT.taken_on(plugin, block_named(info))
        component = plugin()
        count = len(info.joints)
        rows = description.joints.indices(joint.name for joint in info.joints)
        members.append(Member(info, component, rows, JointState(count), JointCommand(count)))
    group = HardwareGroup(description.joints, members)
    group.configure()
    return group
