"""What to do about what the mode manager and the controllers say."""

from __future__ import annotations

from typing import Final

from humanoid_control_common.remedies import Remedy

REMEDIES: Final = (
    Remedy(
        "emergency stop",
        "Somebody asked for a stop; it holds until it is released.",
        "See that everybody is safe, then `hc clear-fault`.",
        r"emergency stop \(",
    ),
    Remedy(
        "heartbeat ended",
        "A program that has to be there fell silent; that is a stop.",
        "Start it again (`hc heartbeat NAME`), look at the network between, then `hc clear-fault`.",
        r"heartbeat of .+ ended",
    ),
    Remedy(
        "no heartbeat yet",
        "A program that has to be there before anything stiff begins was never heard.",
        "Start it: `hc heartbeat NAME`, on this ROS domain.",
        r"no heartbeat of",
    ),
    Remedy(
        "stale commands",
        "The program that commands REMOTE fell silent or is too slow; the joints are damped, "
        "go passive or hold.",
        "Is it running, on this ROS domain, and faster than the controller's time-out?",
        r"stale commands",
    ),
    Remedy(
        "fell to safety",
        "Something led to DAMPING; every request is refused until that is cleared.",
        "Mend what the message names, then `hc clear-fault`.",
        r"fell to safety",
    ),
    Remedy(
        "source silent (deadline)",
        "A program that reports on safety has stopped reporting; that counts as a fault.",
        "Start it again, then `hc clear-fault`.",
        r"silent for [\d.]+ s \(deadline",
    ),
    Remedy(
        "requires DAMPING",
        "The mode asked for can't be reached from the one in force.",
        "`hc mode damp`, then `hc mode load`; REMOTE follows when STANDBY is finished.",
        r"requires (ZERO_TORQUE|DAMPING|STANDBY)",
    ),
    Remedy(
        "still moves",
        "Without damping a raised arm falls, so ZERO_TORQUE waits until the arms hang.",
        "Wait and ask again; `hc mode zero_torque --force` where the arm may fall.",
        r"Rejected ZERO_TORQUE: .+ still moves",
    ),
    Remedy(
        "no policy loaded",
        "LOCOMOTION needs a learned policy, which this version doesn't load.",
        "Use REMOTE.",
    ),
    Remedy(
        "stiff until armed",
        "The drives hold with their factory gains until the impedance manager has armed them.",
        "Wait; if it stays, see `the impedance manager is silent`.",
    ),
)
