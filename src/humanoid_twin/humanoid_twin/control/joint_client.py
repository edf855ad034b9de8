"""The client for the true motion of a virtual robot's joints. It loads no physics."""

from humanoid_twin.control.client import TimedControl, remote_decoded
from humanoid_twin.control.commands import JointCommands, JointTruth


def _by_name(joints: list[JointTruth]) -> dict[str, JointTruth]:
    return {joint["name"]: joint for joint in joints}


class JointClient(TimedControl):
    """A connection to a virtual robot. All methods raise TwinError if it is gone."""

    joints = remote_decoded(JointCommands.joints, _by_name)
