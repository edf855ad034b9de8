"""Report when the robot is up. A separate process, so that `hc up` needs no ROS itself."""

import sys
import time
from typing import Final

from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import robot_namespace
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.robot.message_rate import Stream
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_recording.topics import JOINT_STATES

SPAN: Final = 0.5  # [s] over which the rate is measured at least
USUAL: Final = 10.0  # [s] without a message until it prints a line
CHECK: Final = 0.1  # [s] between two questions whether the joint stream works
NEXT: Final = {Mode.ZERO_TORQUE: "hc mode damp", Mode.DAMPING: "hc mode load"}


def sentence(title: str, statement: StampedStatement, rate: float, next_command: str = "") -> str:
    """Return the line for a robot that is up, with joint states at `rate` [Hz]."""
    text = f"{title} is up: {statement.mode.name}, joint states at {rate:.0f} Hz"
    if statement.reason:
        text += f" ({statement.reason})"
    usual = next_command or NEXT.get(statement.mode, "hc status")
    return f"{text}; next: {'hc status' if FELL_TO_SAFETY in statement.reason else usual}"


def joint_stream_obstacle() -> str:
    """Return why the joint stream of this robot does not work yet; empty: it does."""
    from humanoid_joint_client import JointClient, JointStreamError  # gRPC: few robots need it
    from humanoid_joint_client.address import local_address

    try:
        with JointClient(local_address(namespace=robot_namespace())) as stream:
            _ = stream.config
    except JointStreamError as error:
        return str(error)
    return ""


def main() -> None:
    """Wait for joint states, the mode in force and, where it is asked for, the joint stream.

    Arguments: the robot's title, whether it has a joint stream, a next command.
    """
    title, has_stream, *next_command = sys.argv[1:]
    flow = Stream()
    with Client(USUAL) as client:
        modes = ModeClient(client)
        client.subscribe(JointState, JOINT_STATES, lambda _: flow.arrive(time.monotonic()))
        while not client.wait(lambda: modes.latest and flow.span >= SPAN, USUAL):
            _print("still waiting for joint states and a mode")
        checks = 0
        while has_stream and (obstacle := joint_stream_obstacle()):
            client.wait(lambda: False, CHECK)
            checks += 1
            if checks % round(USUAL / CHECK) == 0:
                _print(f"still waiting for the joint stream: {obstacle}")
        assert modes.latest is not None
        _print(sentence(title, modes.latest, flow.rate, *next_command))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
