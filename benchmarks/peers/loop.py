"""The control loop at 1 kHz with mock hardware, without ROS: python -m peers.loop FILE SECONDS."""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path

from control_cycle import RATE, loop_of

from humanoid_controller_manager.outbox import Outbox
from humanoid_controller_manager.realtime import calm_interpreter
from humanoid_controller_manager.runner import LoopRunner
from humanoid_controller_manager.snapshot import Snapshot
from peers.recording import Recording


def convert(snapshot: Snapshot) -> None:
    """About what a publisher of joint states does with the interpreter in its hands."""
    state = snapshot.state
    for row in (state.position, state.velocity, state.effort):
        array("d", row.tolist())


def main() -> None:
    """Run so long, then write the starts of all ticks to FILE."""
    outbox = Outbox([convert], 0.0)
    runner = LoopRunner(loop_of(14, 1), RATE, outbox.put)
    recording = Recording(runner)
    calm_interpreter()
    outbox.start()
    runner.start("damping")
    try:
        time.sleep(float(sys.argv[2]))
    finally:
        runner.stop()
        outbox.stop()
    recording.save(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
