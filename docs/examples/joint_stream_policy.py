"""Run an ONNX policy over the joint stream: no ROS needed.

Its input is (1, 2 n): position minus start [rad], velocity [rad/s]; its output (1, n): an offset of
the target from the start, in units of SCALE. First `hc up mujoco --joint-stream`, `hc mode damp`,
`hc mode standby --wait`. Usage: joint_stream_policy.py SECONDS POLICY.onnx
"""

import os
import sys

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read by the import of onnxruntime
import numpy as np
import onnxruntime

from humanoid_joint_client import JointClient

SCALE, RATE = 0.1, 50.0  # [rad], [Hz] of the policy
seconds, model = float(sys.argv[1]), sys.argv[2]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
(given,) = (it.name for it in session.get_inputs())

with JointClient() as client:
    every = max(1, round(client.config.update_rate / RATE))  # ticks of the loop for each step
    states = client.states(decimation=every)
    start = next(states).position
    gains = client.config.mode_gains()
    with client.control() as control:
        for step, state in enumerate(states):
            if step > seconds * RATE:
                break
            observed = np.concatenate((state.position - start, state.velocity))
            (action,) = session.run(None, {given: observed[None].astype(np.float32)})
            control.send(start + SCALE * np.tanh(action[0]), gains=gains, horizon=0.2)
        end = control.finish()
print(f"{end.counters.accepted} steps, {end.counters.applied} executed")
