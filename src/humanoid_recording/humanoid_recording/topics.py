"""What a robot says of itself. Nothing here is an order to anybody."""

from __future__ import annotations

from typing import Final

JOINT_STATES: Final = "/prime/joint_states"
CONTROL_MODE: Final = "/control_mode"  # statements; the requests on it are orders

# Recorded unless somebody chooses otherwise; all that is ever replayed.
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
