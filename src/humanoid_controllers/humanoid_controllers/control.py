"""The control process of a robot: controller manager and mode manager.

Imports late, so that Ctrl-C ends it in order from the first moment on.
"""

from __future__ import annotations

import sys

from humanoid_controller_manager.stopping import end_on_signals, ignore_stop_signals


def main() -> int:
    """Entry point of the executable `control`."""
    end = end_on_signals()
    from humanoid_controller_manager.process import run
    from humanoid_controllers.mode_manager_node import ModeManagerNode

    try:
        return run([ModeManagerNode], sys.argv, end)
    finally:
        ignore_stop_signals()


def main_without_mode_manager() -> int:
    """Entry point of `control_without_mode_manager`: for benches and mode managers of one's own."""
    end = end_on_signals()
    from humanoid_controller_manager.process import run

    try:
        return run([], sys.argv, end)
    finally:
        ignore_stop_signals()
