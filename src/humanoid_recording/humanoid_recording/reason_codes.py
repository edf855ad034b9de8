"""Reason codes of the black box."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Black box")

NO_FILE: Final = CODES.add(
    "NO_FILE",
    "The black box could not write what led to the fault; it is kept in memory for a minute.",
    "Make room on the disk or correct the folder's permissions, then `hc blackbox save` at once.",
)
PROCESS_KILLED: Final = CODES.add(
    "PROCESS_KILLED",
    "The control process was killed, or crashed; the drives' own watchdogs and the guard act.",
    "Make sure that all joints are without torque, find out what ended it (its log, `dmesg`), then "
    "start the bring-up again.",
)
SAVED_ON_REQUEST: Final = CODES.add(
    "SAVED_ON_REQUEST",
    "An operator saved this file; there need not be a fault.",
    "Nothing.",
)
