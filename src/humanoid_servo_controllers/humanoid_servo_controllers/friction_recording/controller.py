"""The controller that a recording needs: its parameters, for one joint."""

from __future__ import annotations

from typing import Any, Final, Literal

import yaml

RecordingMethod = Literal["breakaway", "sweep"]
CONTROLLER: Final = "friction_recorder"
# A recorder that ends by force leaves its last command behind; the controller drops it after this.
COMMAND_TIMEOUT: Final = 0.2  # [s]
# Of the velocity controller, over the joint's effort limit: stable at 50 Hz on the wrists of Prime
# (9 Nm, 0.02 kg m2 with the rotor); a friction of 5 % of the limit is reached within 2 s.
P_PER_EFFORT: Final = 0.06  # [s/rad]
I_PER_P: Final = 20.0  # [1/s]


def recorder_parameters(method: RecordingMethod, joint: str, limit: float) -> str:
    """Return the parameters file of the controller that records `joint` by `method`.

    `limit`: of the joint's effort [Nm].
    """
    own: dict[str, Any] = {
        "type": "humanoid_control/EffortController",
        "fallback_controllers": ["damping_controller", "zero_torque_controller"],
        "joints": [joint],
        "command_timeout": COMMAND_TIMEOUT,
    }
    if method == "sweep":
        p = P_PER_EFFORT * limit
        own["type"] = "humanoid_control/VelocityController"
        own["gains"] = {"p": p, "i": I_PER_P * p, "i_clamp": limit}
        own["deadband"] = 0.0  # a speed of 0.02 rad/s must not count as none
    return yaml.safe_dump({CONTROLLER: {"ros__parameters": own}}, sort_keys=False)
