"""Says when the robot is up. A process of its own, so that `hc up` needs no ROS itself."""

from __future__ import annotations

import sys
import time
from typing import Final

from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.statements import Statement
from humanoid_control_cli.streams import Stream
from humanoid_control_common.modes import Mode

SPAN: Final = 0.5  # [s] over which the rate is measured at least
USUAL: Final = 10.0  # [s] after which it is worth a word that nothing has come
FALLEN: Final = "Fell to safety"  # how the mode manager begins
NEXT: Final = {Mode.ZERO_TORQUE: "hc mode damp", Mode.DAMPING: "hc mode load"}


def sentence(statement: Statement, rate: float, next_command: str = "") -> str:
    """What is said when joint states flow at `rate` [Hz]; `next_command` replaces the usual one."""
    text = f"Prime is up: {statement.mode.name}, joint states at {rate:.0f} Hz"
    if statement.message:
        text += f" ({statement.message})"
    usual = next_command or NEXT.get(statement.mode, "hc status")
    return f"{text}; next: {'hc status' if statement.message.startswith(FALLEN) else usual}"


def main() -> None:
    """Wait for joint states and the mode in force, however long it takes, and say so."""
    flow = Stream()
    with Client(USUAL) as client:
        modes = ModeClient(client)
        client.subscribe(JointState, "/prime/joint_states", lambda _: flow.arrive(time.monotonic()))
        while not client.wait(lambda: modes.latest and flow.span >= SPAN, USUAL):
            sys.stdout.write("still waiting for joint states and a mode\n")
            sys.stdout.flush()
        assert modes.latest is not None
        sys.stdout.write(f"{sentence(modes.latest, flow.rate, *sys.argv[1:])}\n")


if __name__ == "__main__":
    main()
