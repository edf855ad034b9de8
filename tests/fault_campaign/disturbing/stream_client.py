"""A program that moves the robot by its joint stream, until it is killed or frozen.

Usage: python -m fault_campaign.disturbing.stream_client HORIZON. It prints `follows` once the robot
follows. After SIGUSR1 it sends one invalid update and no more.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from typing import Final

from humanoid_joint_client import Execution, JointClient, NoAnswerError, UnavailableError
from humanoid_joint_client import joint_stream_pb2 as pb

PERIOD: Final = 0.01  # [s]
UP: Final = 20.0  # [s] until the server serves the robot
AMPLITUDE, FREQUENCY = 0.1, 0.4  # [rad], [Hz]


def connected() -> JointClient:
    """Return a client of the server once that serves the robot. Raises the last error."""
    gives_up = time.monotonic() + UP
    while True:
        try:
            client = JointClient()
            assert client.config
        except (NoAnswerError, UnavailableError):
            if time.monotonic() > gives_up:
                raise
            time.sleep(0.1)
        else:
            return client


def main() -> None:
    """Move all joints by a sine around their present positions."""
    horizon, wrong = float(sys.argv[1]), []
    signal.signal(signal.SIGUSR1, lambda *_: wrong.append(True))
    with connected() as client:
        states = client.states()
        start = next(states).position
        with client.control() as control:
            begin, told = time.monotonic(), False
            while not wrong:
                elapsed = time.monotonic() - begin
                target = start + AMPLITUDE * math.sin(math.tau * FREQUENCY * elapsed)
                control.send(target, horizon=horizon)
                if not told and next(states).execution is Execution.FOLLOWING:
                    told = True
                    sys.stdout.write("follows\n")
                    sys.stdout.flush()
                time.sleep(PERIOD)
            control.send_update(pb.Update(position=start[:3]))
            signal.pause()


if __name__ == "__main__":
    main()
