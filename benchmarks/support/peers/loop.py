"""The control loop at 1 kHz with mock hardware, without ROS.

python -m benchmarks.support.peers.loop FILE SECONDS
"""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path

from benchmarks.control.control_cycle import RATE, loop_of
from benchmarks.support.peers.recording import Recording
from humanoid_control_common.machine.realtime import calm_interpreter
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.topics.snapshot_publisher import SnapshotPublisher


def convert(snapshot: Snapshot) -> None:
    """Work as long as a publisher of joint states that holds the interpreter lock."""
    state = snapshot.state
    for row in (state.position, state.velocity, state.effort):
        array("d", row.tolist())


def main() -> None:
    """Run for SECONDS, then write the starts of all ticks to FILE."""
    outbox = SnapshotPublisher(0.0)
    outbox.listen([convert])
    runner = LoopThread(loop_of(14, 1), RATE, outbox.put)
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
