"""Entry point of `black_box`. Imports late, so that Ctrl-C works from the start."""

import os
import sys
from typing import Final

from humanoid_control_common.machine.stop_signals import ignore_stop_signals, stop_after_others

NICE: Final = 10  # the robot has priority, while it starts and while a file is written


def main() -> int:
    """Monitor the control processes of this ROS domain until SIGINT or SIGTERM. Return the code."""
    stop = stop_after_others()
    os.nice(NICE)
    from humanoid_recording.black_box.node import run

    try:
        return run(sys.argv, stop)
    finally:
        ignore_stop_signals()
