"""Reason codes of the control loop."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Control loop")

OVERRUNS: Final = CODES.add(
    "OVERRUNS",
    "Ticks began at least a period late: the machine was busy, or a callback blocked Python.",
    "Check `hc doctor` (real-time priority, CPU governor); run no heavy programs beside it, and "
    "viewers and recordings on another machine.",
)
LOOP_STANDS_STILL: Final = CODES.add(
    "LOOP_STANDS_STILL",
    "No tick for more than a second: a controller hangs, or the process was suspended.",
    "Press the emergency stop. `hc stop`, `hc down` or Ctrl-C ends the process and disables all "
    "joints after 2 to 3 s (`hc mode quit` is refused in a stiff mode). Then find the controller "
    "that does not return.",
)
ROS_SIDE_SILENT: Final = CODES.add(
    "ROS_SIDE_SILENT",
    "ROS callbacks of the control process did not run for 200 ms; the loop went to DAMPING.",
    "Find what takes too long in the process: a plug-in's callback, a flood of messages. Then "
    "`hc clear-fault`.",
)
ROS_CALLBACK_RAISED: Final = CODES.add(
    "ROS_CALLBACK_RAISED",
    "An error in a program's code; the loop went to DAMPING. A controller's topics and services "
    "are closed. If the callback is the control process's own, the process leads the robot down "
    "and ends. In the `ros2 control` services it is a warning: no motion depends on them.",
    "The log of the control process has the traceback. Correct the plug-in, configure it anew "
    "(`ros2 control`) or restart; `hc clear-fault` continues without it.",
)
PROCESS_HELD_UP: Final = CODES.add(
    "PROCESS_HELD_UP",
    "The whole process stood still for more than 200 ms: the machine was busy with a more urgent "
    "program, or the process was suspended. The loop went to DAMPING.",
    "Check `hc doctor` (real-time priority, CPU governor); run no heavy programs beside it. Then "
    "`hc clear-fault`.",
)

_CORRECT: Final = (
    "The log of the control process has the traceback, if there is one. Correct the controller, "
    "then `hc clear-fault`."
)
CONTROLLER_FAILED: Final = CODES.add(
    "CONTROLLER_FAILED",
    "A controller raised an error; its fallback took over in the same tick, or it was not "
    "activated.",
    _CORRECT,
)
CONTROLLER_LATE: Final = CODES.add(
    "CONTROLLER_LATE",
    "A controller took longer than a period (above 200 Hz: than 5 ms); its fallback took over in "
    "the same tick.",
    "Make the controller faster, or check `hc doctor` if the machine held it up; then "
    "`hc clear-fault`.",
)
INVALID_COMMAND: Final = CODES.add(
    "INVALID_COMMAND",
    "A controller gave a command that is not finite, a negative gain, or a stiffness in DAMPING or "
    "ZERO_TORQUE; its fallback took over in the same tick.",
    _CORRECT,
)
NO_FALLBACK_LEFT: Final = CODES.add(
    "NO_FALLBACK_LEFT",
    "All fallbacks of a controller failed, too: every joint is limp.",
    "Support the arms. Correct the controllers, then start the bring-up again.",
)
CONTROLLER_REFUSED: Final = CODES.add(
    "CONTROLLER_REFUSED",
    "A controller cannot be activated: it is unknown, or needs what the hardware cannot do.",
    "See the message: load the controller, or choose one that this robot can run.",
)
CONTROLLER_REMARK: Final = CODES.add(
    "CONTROLLER_REMARK",
    "The controller in charge warns. REMOTE does while its commands are stale: the program that "
    "commands it fell silent or is too slow; the joints are damped, passive or hold their pose.",
    "REMOTE: check that the program that commands it runs, on this ROS domain, and faster than the "
    "controller's time-out. Another controller: see its message.",
)
COMMANDS_LIMITED: Final = CODES.add(
    "COMMANDS_LIMITED",
    "A controller or remote program commands more than the joint may do; the joint gets the limit.",
    "`hc status --all` counts limits by joint and kind. The usual reason is a target further than "
    "effort limit / stiffness from the joint: move the target more slowly.",
)
LINKS_TOO_NEAR: Final = CODES.add(
    "LINKS_TOO_NEAR",
    "A controller or remote program moves two links towards each other; their targets are slowed "
    "down and stop before they touch.",
    "The message names the links. Command another way; a pair that may touch belongs in the SRDF.",
)
GRAVITY_NOT_HELD: Final = CODES.add(
    "GRAVITY_NOT_HELD",
    "A joint needs more torque or bias against gravity than it may have, or its weight is unknown "
    "because joints of its chain are mocked, so it sinks.",
    "Take a lighter payload or another pose, and all buses; `hc status --all` counts the ticks by "
    "joint, and docs/gravity.md has the limits.",
)
COMMANDS_WITHOUT_EFFECT: Final = CODES.add(
    "COMMANDS_WITHOUT_EFFECT",
    "A controller commands an interface on which a joint does not act.",
    "`hc status --all` counts these commands by joint and interface; docs/modes.md lists what "
    "each joint can do.",
)
JOINT_TOO_FAST: Final = CODES.add(
    "JOINT_TOO_FAST",
    "A joint moved faster than it may in any mode, or its encoder jumped; the loop went to "
    "DAMPING.",
    "Find what moved it (gains, load, a collision), or whether its measurement is wrong, then "
    "`hc clear-fault`.",
)
JOINT_DOES_NOT_FOLLOW: Final = CODES.add(
    "JOINT_DOES_NOT_FOLLOW",
    "A joint's measurement stands still although the joint is pulled: an obstacle, a closed "
    "brake, a stuck encoder, or a motor that ignores its commands.",
    "Remove the obstacle; turn the joint by hand in DAMPING and watch `hc status`; then `hc "
    "clear-fault`. If its friction holds it, set the parameter `static_frictions`. If it is still "
    "stiff, its motor ignores its commands: remove its power.",
)
JOINT_BEYOND_STOP: Final = CODES.add(
    "JOINT_BEYOND_STOP",
    "A joint is measured more than 0.1 rad beyond its limits, where its stops do not let it go. "
    "Beyond a quarter turn, no stiff mode begins.",
    "Its calibration is wrong (`hc calibrate`), or its limits in the description are. Mend it "
    "before the next stiff mode, which moves the joint by a wrong angle.",
)
NO_WATCHDOG: Final = CODES.add(
    "NO_WATCHDOG",
    "If this computer fails, these joints continue with their last set point and gains.",
    "Make sure that the emergency stop cuts their power, too.",
)
COMPONENT_FAILED: Final = CODES.add(
    "COMPONENT_FAILED",
    "A call of a hardware component failed, or returned a wrong value, such as a measurement that "
    "is not a number: its bus or adapter is disturbed, or its code is wrong.",
    "See the component's own message, and the log of the control process; then `hc clear-fault`.",
)
DIAGNOSE_FAILED: Final = CODES.add(
    "DIAGNOSE_FAILED",
    "An error in a hardware component's diagnostics; the joints are not affected.",
    "Report it with the message.",
)
