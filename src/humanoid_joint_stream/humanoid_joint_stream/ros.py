"""The ROS side of the controller: the path of its shared memory."""

import atexit
from contextlib import suppress

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_joint_stream.controller import JointStreamController
from humanoid_joint_stream.shared.stream_file import create, path_of


def attach_joint_stream(context: PluginContext, controller: JointStreamController) -> None:
    """Make the shared memory of the robot's joint stream.

    The robot's clock is the monotonic one, also in simulation, where the loop has another.

    Raises ConfigError if there is no memory.
    """
    path = path_of(checked_namespace(context.node.get_namespace()))
    try:
        file = create(path, controller.facts)
    except OSError as error:
        raise ConfigError(f"{path}: no shared memory for the joint stream: {error}") from error
    inode = path.stat().st_ino

    def remove() -> None:
        with suppress(OSError):
            if path.stat().st_ino == inode:
                path.unlink()

    atexit.register(remove)
    controller.connect(file, context.machine.clock_ns if context.simulated else None)
