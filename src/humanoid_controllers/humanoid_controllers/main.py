"""Entry points of the control process: controller manager and mode manager.

Modules are imported late, so that Ctrl-C ends the process in order from the start.
"""

import sys

from humanoid_control_common.machine.start_permission import StartPermission
from humanoid_control_common.machine.stop_signals import ignore_stop_signals
from humanoid_controller_manager.ros.process.end_requests import end_on_signals


def main() -> int:
    """Entry point of the executable `control`."""
    end, permission = end_on_signals(), StartPermission()
    from humanoid_controller_manager.ros.process.control_process import run
    from humanoid_controllers.mode_manager.mode_manager_node import ModeManagerNode
    from humanoid_policy.model import load_runtime

    load_runtime()
    try:
        return run([ModeManagerNode], sys.argv, end, permission)
    finally:
        ignore_stop_signals()


def main_without_mode_manager() -> int:
    """Entry point of `control_without_mode_manager`: for test benches and other mode managers."""
    end, permission = end_on_signals(), StartPermission()
    from humanoid_controller_manager.ros.process.control_process import run
    from humanoid_policy.model import load_runtime

    load_runtime()
    try:
        return run([], sys.argv, end, permission)
    finally:
        ignore_stop_signals()
