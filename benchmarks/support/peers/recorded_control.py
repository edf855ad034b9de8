"""The control process with a record of its ticks.

python -m benchmarks.support.peers.recorded_control FILE SECONDS --ros-args …
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from rclpy.clock import Clock, ClockType

from benchmarks.support.peers.recording import Recording
from humanoid_control_common.machine.start_permission import StartPermission
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.ros.process.companion import Companion
from humanoid_controller_manager.ros.process.control_process import run
from humanoid_controller_manager.ros.process.end_requests import end_on_signals
from humanoid_controller_manager.ros.process.ros_session import RosSession
from humanoid_controllers.mode_manager.mode_manager_node import ModeManagerNode


class Recorder(Companion):
    """A companion that ends the process after some seconds."""

    def __init__(
        self, manager: ControllerManagerNode, ros: RosSession, shut_down: Callable[[], None]
    ) -> None:
        self.recording = Recording(manager.loop_thread)
        self.node = ros.node("recorder", services=False)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(float(sys.argv[2]), shut_down, clock=steady)

    def changed(self) -> None:
        """See Companion."""


def main() -> int:
    """Run for SECONDS, then write the starts of all ticks to FILE."""
    recorders: list[Recorder] = []

    def make(
        manager: ControllerManagerNode, ros: RosSession, shut_down: Callable[[], None]
    ) -> Recorder:
        recorders.append(Recorder(manager, ros, shut_down))
        return recorders[0]

    code = run(
        [ModeManagerNode, make], [sys.argv[0], *sys.argv[3:]], end_on_signals(), StartPermission()
    )
    if code == 0:
        recorders[0].recording.save(Path(sys.argv[1]))
    return code


if __name__ == "__main__":
    sys.exit(main())
