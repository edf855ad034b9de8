"""Entry point of `erob_impedance_manager`. Imports late, so that Ctrl-C works from the start."""

import sys

from humanoid_control_common.machine.stop_signals import ignore_stop_signals, stop_after_others


def main() -> int:
    """Run the impedance manager until SIGINT or SIGTERM. Return the exit code."""
    stop = stop_after_others()
    from humanoid_bringup_prime.impedance.node import run

    try:
        return run(sys.argv, stop)
    finally:
        ignore_stop_signals()
