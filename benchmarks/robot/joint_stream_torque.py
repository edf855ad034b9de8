"""Measure the time from a command of the joint stream to torque on the virtual robot, at 50 Hz.

`hc up twin --joint-stream`, then a client whose command changes at random phases: a load on a
wrist, a position on an elbow, whose drive only follows positions. The latency is the time from
`send` until the torque at the joint changes, by the virtual robot's truth. It includes up to one
period of the loop. Needs root.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np

from benchmarks.robot.whole_robot import ANGLE, ARM, EFFORT, STREAM, WRIST, delays
from benchmarks.support.figures import Figure, arguments, figure, report, single
from benchmarks.support.processes import running
from benchmarks.support.program_runner import isolated
from humanoid_bringup.virtual_robot import control_socket
from humanoid_joint_client import JointClient
from humanoid_twin.robot.control import RobotControl

CHANGES = 100
STEPS = (25, 35)  # commands between two changes


def main() -> int:
    """Measure and print."""
    options = arguments(__doc__).parse_args()
    with isolated(), running(["hc", "up", "twin", "--no-viewer", "--joint-stream"]) as up:
        up.wait_for("joint stream of")
        for mode in (["damp"], ["standby", "--wait"]):
            with running(["hc", "mode", *mode]) as asked:
                asked.finish()
        with RobotControl(control_socket()) as twin, JointClient() as client:
            found = torque(twin, client, 10 if options.quick else CHANGES)
    report("joint stream on the virtual robot, 50 Hz", found, options.json)
    return 0


def torque(twin: RobotControl, client: JointClient, count: int) -> dict[str, Figure]:
    """Measure `count` changes of the command."""
    pose = next(client.states()).position
    wrist, arm = client.config.names.index(WRIST), client.config.names.index(ARM)
    load, sent, sign = np.zeros(len(pose)), [], 1.0
    with client.control() as control:
        twin.record(count * 0.5 + 5.0)
        for _ in range(count):
            sign = -sign
            for step in range(random.randrange(*STEPS)):
                if step == 0:
                    load[wrist] += sign * EFFORT
                    pose[arm] += sign * ANGLE
                    time.sleep(random.uniform(0.0, STREAM))
                    sent.append(time.monotonic())
                control.send(pose, load=load, horizon=0.5)
                time.sleep(STREAM)
        control.finish()
        truth, epoch = twin.recorded(), twin.epoch()
    found = {}
    for kind, name in (("wrist (CAN)", WRIST), ("arm (EtherCAT)", ARM)):
        times = delays(truth, epoch, name, sent)
        found[f"command to torque, {kind}"] = figure(times, "ms", 1e3)
        missed = single(len(sent) - len(times), f"of {len(sent)}")
        found[f"commands without a change of torque, {kind}"] = missed
    return found


if __name__ == "__main__":
    sys.exit(main())
