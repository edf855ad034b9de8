"""The control process of a robot: controller manager and mode manager."""

from __future__ import annotations

import sys

from humanoid_controller_manager.process import run
from humanoid_controllers.mode_manager_node import ModeManagerNode


def main() -> int:
    """Entry point of the executable `control`."""
    return run([ModeManagerNode], sys.argv)


def main_without_mode_manager() -> int:
    """Entry point of `control_without_mode_manager`: for benches and mode managers of one's own."""
    return run([], sys.argv)
