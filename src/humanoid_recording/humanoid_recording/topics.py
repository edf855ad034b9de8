"""Topics with observations of a robot, and no requests."""

from typing import Final

JOINT_STATES: Final = "/prime/joint_states"
CONTROL_MODE: Final = "/control_mode"  # statements; the requests on it are left out

# Recorded by default; no other topic is replayed.
OBSERVATIONS: Final = (
    JOINT_STATES,
    "/prime/joint_commands",  # what was written, after the limits
    CONTROL_MODE,
    "/safety_status",
    "/standby_controller/state",
    "/erob_impedance_manager/state",
    "/diagnostics",
    "/robot_description",
    "/clock",
    "/twin/joint_states",
)
