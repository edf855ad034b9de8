"""Topics with observations of a robot, and no requests. They are in the robot's namespace."""

from collections.abc import Iterable
from typing import Final

JOINT_STATES: Final = "prime/joint_states"
JOINT_COMMANDS: Final = "prime/joint_commands"  # what was written, after the limits
CONTROL_MODE: Final = "control_mode"  # statements; the requests on it are left out

# Recorded by default; no other topic is replayed.
OBSERVATIONS: Final = (
    JOINT_STATES,
    JOINT_COMMANDS,
    CONTROL_MODE,
    "safety_status",
    "standby_controller/state",
    "erob_impedance_manager/state",
    "diagnostics",
    "robot_description",
    "clock",
    "twin/joint_states",
)


def split_topic(topic: str, names: Iterable[str]) -> tuple[str, str] | None:
    """Return namespace and relative name of a recorded topic; None unless it is one of `names`.

    The namespace is empty for the root.
    """
    for name in names:
        if topic.endswith(f"/{name}"):
            return topic.removesuffix(f"/{name}"), name
    return None
