"""Carry a motion out, and stop it when this program is told to end."""

import signal
from collections.abc import Callable

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.motion.trajectory_client import TrajectoryClient


def carry_out(
    trajectories: TrajectoryClient,
    begin: Callable[[], float],
    text: str,
    say: Callable[[str], None],
) -> int:
    """Begin a motion, and wait for its end; return the exit code.

    A stop signal (Ctrl-C, a closed terminal) stops it along its path; more of them meanwhile do not
    interrupt that. So does a failure of `say`: nothing would watch the motion then.

    Args:
        trajectories: of the robot.
        begin: begins the motion; returns how long it takes [s].
        text: for `say` at the beginning, a format of `duration` [s].
        say: gets what the operator should read.

    Raises what `begin` and `wait_until_done` raise.
    """
    with StopSignals() as signals:
        unwatched = False
        try:
            duration = begin()
            unwatched = True
            say(text.format(duration=duration))
            unwatched = False
            trajectories.wait_until_done(duration, lambda: signals.count > 0)
        finally:
            if unwatched or signals.count:
                trajectories.stop()
        if signals.count:
            say("stopped")
            return 128 + signal.Signals[signals.latest]
    say("done")
    return 0
