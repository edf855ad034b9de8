"""What to do about what the control loop says."""

from __future__ import annotations

from typing import Final

from humanoid_control_common.remedies import Remedy

REMEDIES: Final = (
    Remedy(
        "overruns since the last report",
        "Ticks began a whole period late: the machine was busy, or Python was held by a callback.",
        "`hc doctor` (real-time priority, CPU governor); no heavy programs beside it; viewers and "
        "recordings on another machine.",
        r"[1-9]\d* overruns? since",
    ),
    Remedy(
        "the loop stands still",
        "No tick for more than a second: a controller hangs, or the process was stopped.",
        "Emergency stop. `hc stop`, `hc down` or Ctrl-C ends the process and disables all joints, "
        "2 to 3 s later (`hc mode quit` is refused in a stiff mode). Then find the controller that "
        "doesn't return.",
        r"loop stands still|control loop hangs|control loop died",
    ),
    Remedy(
        "ROS side silent",
        "ROS callbacks of the control process did not run for 200 ms; the loop went to DAMPING.",
        "Something in the process computes too long: a plug-in's callback, a flood of messages. "
        "Then `hc clear-fault`.",
    ),
    Remedy(
        "a ROS callback raised",
        "A mistake in a program's code: the loop went to DAMPING. Of a controller, its topics and "
        "services are closed; if the callback was the control process's own, it leads the robot "
        "down and ends. Of the `ros2 control` services it is a warning: nothing moves for it.",
        "The log of the control process has the traceback. Mend the plug-in, configure it anew "
        "(`ros2 control`) or start again; `hc clear-fault` goes on without it.",
        r"ROS callback .+ raised",
    ),
    Remedy(
        "the control process was held up",
        "All of it, the loop included, stood still for more than 200 ms: the machine was busy with "
        "something more urgent, or it was stopped. The loop went to DAMPING.",
        "`hc doctor` (real-time priority, CPU governor); no heavy programs beside it. Then "
        "`hc clear-fault`.",
    ),
    Remedy(
        "a controller failed or took too long",
        "It raised an error, gave a command that is no number, or was later than a period; its "
        "fallback took over in the same tick.",
        "The log of the control process has the traceback. Mend the controller, `hc clear-fault`.",
        r"\bfailed: |took [\d.]+ ms \(period|not finite|negative gain",
    ),
    Remedy(
        "commands are being limited",
        "A controller or remote program asks for more than the joint may do; it gets the limit.",
        "`hc status --all` counts what was limited where. Targets further than effort limit / "
        "stiffness from the joint are the usual reason: move the target more slowly.",
    ),
    Remedy(
        "velocity safety limit",
        "A joint moved faster than it may in any mode, or its encoder jumped; the loop went to "
        "DAMPING.",
        "Look what moved it (gains, load, a collision) and whether its measurement is plausible, "
        "then `hc clear-fault`.",
        r"velocity (safety )?limit|runaway|encoder jump",
    ),
    Remedy(
        "does not follow",
        "A joint's measurement stands still although it is pulled: blocked, a brake that "
        "is closed, or a stuck encoder.",
        "Clear its way; turn it by hand in DAMPING and watch `hc status`; then `hc clear-fault`.",
        r"does(n't| not) follow",
    ),
    Remedy(
        "no finite state of its joints",
        "A component gave a measurement that is no number.",
        "Its bus or adapter is disturbed; the component's own message tells more.",
        r"no finite state|no measured state",
    ),
    Remedy(
        "without a watchdog of their own",
        "If this computer dies, these joints go on with their last set point and gains.",
        "The emergency stop must cut their power too.",
        r"without (a )?watchdog",
    ),
    Remedy(
        "diagnose failed",
        "A mistake in a hardware component's diagnostics; the joints are not concerned.",
        "Report it with the message.",
    ),
)
