"""Hold the present pose for a while, over the joint stream: no ROS needed.

First `hc up mujoco --joint-stream`, `hc mode damp`, `hc mode standby --wait`.
Usage: joint_stream_hold.py [SECONDS]
"""

import sys
import time

from humanoid_joint_client import JointClient

RATE = 100.0  # [Hz]
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0

with JointClient() as client:
    states = client.states()
    pose = next(states).position
    with client.control() as control:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            control.send(pose)
            time.sleep(1.0 / RATE)
        moved = abs(next(states).position - pose).max()
        end = control.finish()
print(f"held for {seconds:g} s: {end.counters.accepted} commands, moved by {moved:.3f} rad")
