"""Entry point of `joint_stream`. Imports late, so that Ctrl-C works from the start."""

import sys

from humanoid_control_common.machine.stop_signals import ignore_stop_signals, stop_on_signals


def main() -> int:
    """Serve the joint stream of this ROS domain until SIGINT or SIGTERM. Return the code."""
    stop = stop_on_signals()
    from humanoid_joint_stream.server.node import run

    try:
        return run(sys.argv, stop)
    finally:
        ignore_stop_signals()
