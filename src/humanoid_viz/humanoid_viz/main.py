"""Entry point of `viewer`. It imports late, so that Ctrl-C works from the start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from humanoid_viz.waker import Waker

# Ctrl-C may come twice, from the terminal and from a launcher.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the robot until SIGINT or SIGTERM. Returns the exit code."""
    waker = Waker()
    for number in STOP_SIGNALS:
        signal.signal(number, waker.stop)

    from humanoid_viz.run_node import run

    try:
        return run(waker, arguments)
    finally:
        # Python gives signals back their deadly defaults while it ends, unless they are ignored.
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
