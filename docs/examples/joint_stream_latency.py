"""Measure the latency of the joint stream while the robot holds its pose: no ROS needed.

First `hc up mujoco --joint-stream`, `hc mode damp`, `hc mode standby --wait`.
Usage: joint_stream_latency.py [SECONDS]
"""

import sys
import time

from humanoid_joint_client import JointClient

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0

with JointClient() as client:
    states = client.states(keep=1000)
    pose = next(states).position
    with client.control() as control:
        ends = time.monotonic() + seconds
        for _ in states:  # a command for each state
            control.send(pose)
            if time.monotonic() > ends:
                break
    print(client.latency)
