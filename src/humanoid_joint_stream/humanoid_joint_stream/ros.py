"""The ROS side of the controller: its shared memory, and the report of a server that has ended."""

import atexit
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from humanoid_control_msgs.msg import SafetyStatus

from humanoid_control_common.errors import ConfigError, RobotError
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.message_template import time_of
from humanoid_controller_manager.ros.topics.safety_messages import safety_message
from humanoid_joint_client.address import socket_path
from humanoid_joint_stream.controller import JointStreamController
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.shared.stream_file import StreamFile, Word, attach, create, path_of

SOURCE: Final = "joint_stream"
SILENT: Final = SECOND  # [ns] without a heartbeat: 100 periods of it
ENDED: Final = (
    "the server of the joint stream has ended or stands still, no program can command: `hc down`, "
    "then `hc up … --joint-stream`"
)


def attach_joint_stream(context: PluginContext, controller: JointStreamController) -> None:
    """Make the shared memory of the robot's joint stream, and watch its server.

    The robot's clock is the monotonic one, also in simulation, where the loop has another.

    Raises ConfigError if there is no memory.
    """
    namespace = checked_namespace(context.node.get_namespace())
    path = path_of(namespace)
    try:
        file = create(path, controller.facts)
    except OSError as error:
        raise ConfigError(f"{path}: no shared memory for the joint stream: {error}") from error
    inode = path.stat().st_ino

    def remove() -> None:
        with suppress(OSError, RobotError):
            if path.stat().st_ino == inode:
                attach(path)  # a server that lives has its lock, and removes its own socket
                socket_path(namespace=namespace).unlink(missing_ok=True)
        with suppress(OSError):
            if path.stat().st_ino == inode:
                path.unlink()

    atexit.register(remove)
    clock = context.machine.clock_ns
    controller.connect(file, clock if context.simulated else None)
    watch = ServerWatch(context.node, file, clock)
    create_steady_timer(context.node, SILENT / SECOND, watch.check)


class ServerWatch:
    """Reports a server that was there and is silent, and that it is there again."""

    def __init__(self, node: Any, file: StreamFile, clock: Callable[[], int]) -> None:
        self._node, self._file, self._clock = node, file, clock
        self._reports = node.create_publisher(SafetyStatus, "safety_status", LATCHED)
        self._is_silent = False

    def check(self) -> None:
        """Publish a change."""
        beat = self._file.words[Word.HEARTBEAT]
        is_silent = beat > 0 and self._clock() - beat > SILENT
        if is_silent != self._is_silent:
            self._is_silent = is_silent
            level = SafetyLevel.WARNING if is_silent else SafetyLevel.OK
            report = SafetyReport(SOURCE, level, message=ENDED if is_silent else "")
            stamp = time_of(self._node.get_clock().now().nanoseconds)
            self._reports.publish(safety_message(report, stamp))
