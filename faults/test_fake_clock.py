"""A clock that is set while a node waits: with the real middleware, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from faults.fake_clock import FakeClock

# Set forward for the process alone: the kernel, whose clock stays, would end a wait an hour late.
# A clock that really is set back does the same.
NODE = """
import struct, sys
from rclpy.clock import Clock, ClockType
from humanoid_controller_manager.ros_node import configured_node, ros_session, spin_until

ticks = []

def tick():
    ticks.append(None)
    if len(ticks) == 3:
        with open(sys.argv[1], "r+b", buffering=0) as offset:
            offset.write(struct.pack("=q", 3600))

with ros_session([]):
    node = configured_node("waits", services=False)
    node.create_timer(0.02, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))
    spin_until(node, lambda: len(ticks) > 6)
"""


def test_timers_go_on_when_the_systems_clock_is_set(tmp_path: Path) -> None:
    clock = FakeClock(tmp_path)
    command = [sys.executable, "-c", NODE, clock.environment["FAKE_CLOCK"]]
    subprocess.run(command, env={**os.environ, **clock.environment}, check=True, timeout=60.0)
