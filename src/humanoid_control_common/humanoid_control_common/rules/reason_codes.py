"""Reason codes of modes, requests and safety sources."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Modes and requests")

FELL_TO_SAFETY: Final = CODES.add(
    "FELL_TO_SAFETY",
    "A safety problem led to DAMPING; requests are refused until it is cleared.",
    "Solve the problem in the message, then `hc clear-fault`.",
)
RESET_SENT: Final = CODES.add(
    "RESET_SENT",
    "The drives were reset, but a fault is still reported: a reset takes a moment.",
    "Solve the problem in the message, then `hc clear-fault`; a source that ended counts until a "
    "restart.",
)
# A warning that belongs to the statement of the mode: a protection is missing.
NO_GUARD: Final = CODES.add(
    "NO_GUARD",
    "The process that disables these motors when the control process fails is not there.",
    "The robot works, with less safety; another one is started every 5 s at most. If the message "
    "stays, end the robot in order (`hc down`) and start it again.",
)

# By the name of the intent. The codes after it give the reason.
REFUSED: Final = {
    intent: CODES.add(
        f"{intent}_REFUSED",
        f"The request {intent} is refused.",
        "See the reason in the message and its code.",
    )
    for intent in (
        "ZERO_TORQUE",
        "FORCE_ZERO_TORQUE",
        "DAMP",
        "LOAD",
        "START_LOCOMOTION",
        "START_REMOTE",
        "QUIT",
    )
}
WAITS: Final = {
    intent: CODES.add(
        f"{intent}_WAITS",
        f"The request {intent} waits: only time is lacking.",
        "Wait: it is carried out, or refused with a reason.",
    )
    for intent in ("ZERO_TORQUE", "LOAD", "START_LOCOMOTION", "START_REMOTE")
}
REQUIRES_ANOTHER_MODE: Final = CODES.add(
    "REQUIRES_ANOTHER_MODE",
    "The requested mode cannot be reached from the one in force.",
    "`hc mode damp`, then `hc mode load`; REMOTE is possible once STANDBY has finished.",
)
STANDBY_UNFINISHED: Final = CODES.add(
    "STANDBY_UNFINISHED",
    "The pose sequence of STANDBY is still on its way.",
    "Wait until `hc status` shows that it is finished, then repeat the request.",
)
JOINTS_STILL_MOVE: Final = CODES.add(
    "JOINTS_STILL_MOVE",
    "Without damping a raised arm falls: ZERO_TORQUE is refused while a joint moves.",
    "Wait and repeat the request; `hc mode zero_torque --force` if the arm may fall.",
)
JOINTS_SETTLING: Final = CODES.add(
    "JOINTS_SETTLING",
    "The joints are slow, but may not be at rest yet.",
    "Wait: the request is decided when they are.",
)
NO_POLICY_LOADED: Final = CODES.add(
    "NO_POLICY_LOADED",
    "LOCOMOTION needs a learned policy, and none is loaded.",
    "`hc policy load FILE`; docs/policies.md describes the file.",
)
UNKNOWN_MODE: Final = CODES.add(
    "UNKNOWN_MODE",
    "A program requested a mode that does not exist.",
    "Correct the number of the mode in the request; the message lists all.",
)

IMPEDANCE_NOT_CONFIRMED: Final = CODES.add(
    "IMPEDANCE_NOT_CONFIRMED",
    "The drives' gains are not read back as the mode in force requires; targets follow the joints.",
    "Usual for a moment after a change of mode. If it stays: the message names the drive whose "
    "SDO fails; is it in OP?",
)

_RESTART: Final = "Start the bring-up again: the impedance manager comes with it."
IMPEDANCE_MANAGER_SILENT: Final = CODES.add(
    "IMPEDANCE_MANAGER_SILENT",
    "Its process ended or hangs. Armed drives were made soft; a drive that was never armed keeps "
    "its stiff factory gains. Stiff modes are refused.",
    _RESTART,
)
IMPEDANCE_MANAGER_UNHEARD: Final = CODES.add(
    "IMPEDANCE_MANAGER_UNHEARD",
    "No report of the impedance manager has arrived since the start: nothing stiff may begin.",
    f"Wait a moment after the start. If it stays: {_RESTART[0].lower()}{_RESTART[1:]} "
    "A robot that was started with --calibrate has none.",
)

SAFETY_SOURCE_FAULT: Final = CODES.add(
    "SAFETY_SOURCE_FAULT",
    "A safety source reports FAULT or CRITICAL.",
    "The message names it and its problem; solve that, then `hc clear-fault`.",
)
SAFETY_SOURCE_SILENT: Final = CODES.add(
    "SAFETY_SOURCE_SILENT",
    "A program has stopped its safety reports; that counts as a fault.",
    "Restart it, then `hc clear-fault`.",
)
TOO_MANY_SAFETY_SOURCES: Final = CODES.add(
    "TOO_MANY_SAFETY_SOURCES",
    "More programs report on /safety_status than the mode manager keeps.",
    "End the programs that report under changing names, then restart the control process.",
)
UNKNOWN_SAFETY_LEVEL: Final = CODES.add(
    "UNKNOWN_SAFETY_LEVEL",
    "A program reports a safety level that does not exist; it counts as CRITICAL.",
    "Correct the program that the message names, then `hc clear-fault`.",
)
