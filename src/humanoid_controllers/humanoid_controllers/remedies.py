"""Remedies for messages of the mode manager and the controllers."""

from typing import Final

from humanoid_control_common.remedies import Remedy

REMEDIES: Final = (
    Remedy(
        "emergency stop",
        "An operator pressed a stop; it holds until it is released.",
        "Make sure that all persons are safe, then `hc clear-fault`.",
        r"emergency stop \(",
    ),
    Remedy(
        "heartbeat ended",
        "A required program fell silent; that is a stop.",
        "Restart it (`hc heartbeat NAME`), check the network, then `hc clear-fault`.",
        r"heartbeat of .+ ended",
    ),
    Remedy(
        "no heartbeat yet",
        "A program that stiff modes require has not sent a heartbeat yet.",
        "Start it on this ROS domain: `hc heartbeat NAME`.",
        r"no heartbeat of",
    ),
    Remedy(
        "stale commands",
        "The program that commands REMOTE fell silent or is too slow; the joints are damped, "
        "passive or hold their pose.",
        "Check that it runs, on this ROS domain, and faster than the controller's time-out.",
        r"stale commands",
    ),
    Remedy(
        "fell to safety",
        "A safety problem led to DAMPING; requests are refused until it is cleared.",
        "Solve the problem in the message, then `hc clear-fault`.",
        r"fell to safety",
    ),
    Remedy(
        "source silent (deadline)",
        "A program has stopped its safety reports; that counts as a fault.",
        "Restart it, then `hc clear-fault`.",
        r"silent for [\d.]+ s \(deadline",
    ),
    Remedy(
        "requires DAMPING",
        "The requested mode cannot be reached from the one in force.",
        "`hc mode damp`, then `hc mode load`; REMOTE is possible once STANDBY has finished.",
        r"requires (ZERO_TORQUE|DAMPING|STANDBY)",
    ),
    Remedy(
        "still moves",
        "Without damping a raised arm falls, so ZERO_TORQUE waits until the arms hang.",
        "Wait and repeat the request; `hc mode zero_torque --force` if the arm may fall.",
        r"Rejected ZERO_TORQUE: .+ still moves",
    ),
    Remedy(
        "no policy loaded",
        "LOCOMOTION needs a learned policy, which this version does not load.",
        "Use REMOTE.",
    ),
    Remedy(
        "stiff until armed",
        "The drives hold with their factory gains until the impedance manager has armed them.",
        "Wait; if it persists, see `the impedance manager is silent`.",
    ),
)
