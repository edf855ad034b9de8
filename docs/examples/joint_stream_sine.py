"""Move both elbows by a sine, over the joint stream: no ROS needed.

First `hc up mujoco --joint-stream`, `hc mode damp`, `hc mode standby --wait`.
Usage: joint_stream_sine.py [SECONDS]
"""

import math
import sys
import time

from humanoid_joint_client import JointClient

RATE = 200.0  # [Hz]
AMPLITUDE, FREQUENCY = 0.2, 0.5  # [rad], [Hz]
seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0

with JointClient() as client:
    elbows = [i for i, name in enumerate(client.config.names) if "elbow" in name]
    states = client.states()
    start = next(states).position
    with client.control() as control:
        begin = time.monotonic()
        while (elapsed := time.monotonic() - begin) < seconds:
            phase = 2.0 * math.pi * FREQUENCY * elapsed
            target, velocity = start.copy(), 0.0 * start
            target[elbows] += AMPLITUDE * (math.cos(phase) - 1.0)
            velocity[elbows] = -AMPLITUDE * 2.0 * math.pi * FREQUENCY * math.sin(phase)
            control.send(target, velocity, extrapolation=0.02, velocity_safety_limit=6.0)
            time.sleep(1.0 / RATE)
        end = control.finish()
print(f"{end.counters.accepted} commands, {end.counters.applied} executed")
