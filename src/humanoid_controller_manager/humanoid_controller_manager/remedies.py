"""Remedies for messages of the control loop."""

from typing import Final

from humanoid_control_common.remedies import Remedy

REMEDIES: Final = (
    Remedy(
        "overruns since the last report",
        "Ticks began at least a period late: the machine was busy, or a callback blocked Python.",
        "Check `hc doctor` (real-time priority, CPU governor); run no heavy programs beside it, "
        "and viewers and recordings on another machine.",
        r"[1-9]\d* overruns? since",
    ),
    Remedy(
        "the loop stands still",
        "No tick for more than a second: a controller hangs, or the process was suspended.",
        "Press the emergency stop. `hc stop`, `hc down` or Ctrl-C ends the process and disables "
        "all joints after 2 to 3 s (`hc mode quit` is refused in a stiff mode). Then find the "
        "controller that does not return.",
        r"loop stands still|control loop hangs|control loop died",
    ),
    Remedy(
        "ROS side silent",
        "ROS callbacks of the control process did not run for 200 ms; the loop went to DAMPING.",
        "Find what takes too long in the process: a plug-in's callback, a flood of messages. Then "
        "`hc clear-fault`.",
    ),
    Remedy(
        "a ROS callback raised",
        "An error in a program's code; the loop went to DAMPING. A controller's topics and "
        "services are closed. If the callback is the control process's own, the process leads "
        "the robot down and ends. In the `ros2 control` services it is a warning: no motion "
        "depends on them.",
        "The log of the control process has the traceback. Correct the plug-in, configure it anew "
        "(`ros2 control`) or restart; `hc clear-fault` continues without it.",
        r"ROS callback .+ raised",
    ),
    Remedy(
        "the control process was held up",
        "The whole process stood still for more than 200 ms: the machine was busy with a more "
        "urgent program, or the process was suspended. The loop went to DAMPING.",
        "Check `hc doctor` (real-time priority, CPU governor); run no heavy programs beside it. "
        "Then `hc clear-fault`.",
    ),
    Remedy(
        "a controller failed or took too long",
        "It raised an error, gave an invalid command, or took longer than a period; its fallback "
        "took over in the same tick.",
        "The log of the control process has the traceback. Correct the controller, then "
        "`hc clear-fault`.",
        r"\bfailed: |took [\d.]+ ms \(period|not finite|negative gain",
    ),
    Remedy(
        "commands are being limited",
        "A controller or remote program commands more than the joint may do; the joint gets the "
        "limit.",
        "`hc status --all` counts limits by joint and kind. The usual reason is a target further "
        "than effort limit / stiffness from the joint: move the target more slowly.",
    ),
    Remedy(
        "velocity safety limit",
        "A joint moved faster than it may in any mode, or its encoder jumped; the loop went to "
        "DAMPING.",
        "Find what moved it (gains, load, a collision), or whether its measurement is wrong, then "
        "`hc clear-fault`.",
        r"velocity (safety )?limit|runaway|encoder jump",
    ),
    Remedy(
        "does not follow",
        "A joint's measurement stands still although the joint is pulled: an obstacle, a closed "
        "brake, or a stuck encoder.",
        "Clear its way; turn it by hand in DAMPING and watch `hc status`; then `hc clear-fault`.",
        r"does(n't| not) follow",
    ),
    Remedy(
        "no finite state of its joints",
        "A component gave a measurement that is not a number.",
        "Its bus or adapter is disturbed: see the component's own message.",
        r"no finite state|no measured state",
    ),
    Remedy(
        "without a watchdog of their own",
        "If this computer fails, these joints continue with their last set point and gains.",
        "Make sure that the emergency stop cuts their power, too.",
        r"without (a )?watchdog",
    ),
    Remedy(
        "diagnose failed",
        "An error in a hardware component's diagnostics; the joints are not affected.",
        "Report it with the message.",
    ),
)
