"""Entry points. They import late, so that Ctrl-C works from the start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence

from humanoid_viz.waker import Waker

# Ctrl-C may come twice, from the terminal and from a launcher.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the robot in the browser until SIGINT or SIGTERM. Returns the exit code."""

    def run(waker: Waker) -> int:
        from humanoid_viz.run_node import run

        return run(waker, arguments)

    return _until_stopped(run)


def status_marker(arguments: Sequence[str] | None = None) -> int:
    """Publish mode and safety as a marker until SIGINT or SIGTERM. Returns the exit code."""

    def run(waker: Waker) -> int:
        from humanoid_viz.run_periodic import run_periodic
        from humanoid_viz.status_marker import StatusMarkerNode

        return run_periodic(StatusMarkerNode, waker, arguments)

    return _until_stopped(run)


def still_model(arguments: Sequence[str] | None = None) -> int:
    """Publish a robot that stands still until SIGINT or SIGTERM. Returns the exit code."""

    def run(waker: Waker) -> int:
        from humanoid_viz.run_periodic import run_periodic
        from humanoid_viz.still_model import StillModelNode

        return run_periodic(StillModelNode, waker, arguments)

    return _until_stopped(run)


def _until_stopped(run: Callable[[Waker], int]) -> int:
    waker = Waker()
    for number in STOP_SIGNALS:
        signal.signal(number, waker.stop)
    try:
        return run(waker)
    finally:
        # Python gives signals back their deadly defaults while it ends, unless they are ignored.
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
