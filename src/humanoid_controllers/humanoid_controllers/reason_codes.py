"""Reason codes of the mode manager: operators, heartbeats and the impedance manager."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Operators and mode manager")

EMERGENCY_STOP: Final = CODES.add(
    "EMERGENCY_STOP",
    "An operator pressed a stop; it holds until it is released.",
    "Make sure that all persons are safe, then `hc clear-fault`.",
)
HEARTBEAT_ENDED: Final = CODES.add(
    "HEARTBEAT_ENDED",
    "A required program fell silent; that is a stop.",
    "Restart it (`hc heartbeat NAME`), check the network, then `hc clear-fault`.",
)
HEARTBEAT_MISSING: Final = CODES.add(
    "HEARTBEAT_MISSING",
    "A program that stiff modes require has not sent a heartbeat yet.",
    "Start it on this ROS domain: `hc heartbeat NAME`.",
)
STIFF_UNTIL_ARMED: Final = CODES.add(
    "STIFF_UNTIL_ARMED",
    "The drives hold with their factory gains until the impedance manager has armed them.",
    "Wait; if it persists, see IMPEDANCE_MANAGER_SILENT.",
)
DRIVES_NOT_ARMED: Final = CODES.add(
    "DRIVES_NOT_ARMED",
    "Drives are not known to be armed any more: one that is out of operation has no torque, one "
    "that was restarted is stiff with its factory gains once it is in operation.",
    "Keep away from the arms. `hc status` names the drives; remove the cause, then "
    "`hc clear-fault`.",
)
REQUEST_OVERTAKEN: Final = CODES.add(
    "REQUEST_OVERTAKEN",
    "A later request, or another mode, came before a request that waited.",
    "Repeat the request if it is still needed.",
)
REQUEST_LATE: Final = CODES.add(
    "REQUEST_LATE",
    "A request came long after it was made, or after another switch: its connection was "
    "interrupted, or a clock was set.",
    "Release the gamepad's buttons, and repeat the request if it is still needed. A program of "
    "your own leaves stamp and switch number 0, or copies those of the latest statement.",
)
POWERING_DOWN: Final = CODES.add(
    "POWERING_DOWN",
    "The robot is led down and the control process ends: no request is taken any more.",
    "Start the bring-up again.",
)
CONTROLLER_NOT_LOADED: Final = CODES.add(
    "CONTROLLER_NOT_LOADED",
    "No controller that implements the requested mode is loaded.",
    "Load a controller for it: see the controllers YAML, and `hc status`.",
)
CONTROLLER_IN_CHARGE: Final = CODES.add(
    "CONTROLLER_IN_CHARGE",
    "Another controller is in charge of the requested mode.",
    "Leave that mode first: `hc mode damp`.",
)
SWITCH_FAILED: Final = CODES.add(
    "SWITCH_FAILED",
    "The loop could not activate the requested controller; the one before stays in charge.",
    "See the message, correct the controller, and repeat the request.",
)
REQUIRES_SAFE_MODE: Final = CODES.add(
    "REQUIRES_SAFE_MODE",
    "Faults are cleared in ZERO_TORQUE and DAMPING only.",
    "`hc mode damp`, then `hc clear-fault`.",
)
COMMAND_REFUSED: Final = CODES.add(
    "COMMAND_REFUSED",
    "A command for REMOTE was refused: wrong joints, a wrong number of values, or values that are "
    "not finite.",
    "Correct the program that sends it; the message names what is wrong.",
)
SEVERAL_COMMANDERS: Final = CODES.add(
    "SEVERAL_COMMANDERS",
    "Several programs send commands to REMOTE at once: the targets alternate between theirs.",
    "End all of them but one; `ros2 topic info -v` of the controller's topic `command` lists them.",
)
