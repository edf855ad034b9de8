"""The controller that a recording needs: its parameters, for one joint."""

from __future__ import annotations

from typing import Any, Final, Literal

import yaml

RecordingMethod = Literal["breakaway", "sweep"]
CONTROLLER: Final = "friction_recorder"
# A recorder that ends by force leaves its last command behind; the controller drops it after this.
COMMAND_TIMEOUT: Final = 0.2  # [s]
# Damping of a joint whose recorder has ended: this part of the largest effort at the largest speed.
STALE_DAMPING: Final = 0.4
# Of the velocity controller. p follows the inertia, which goes with the effort over the velocity of
# a joint: stable at 50 Hz on the wrists of Prime (9 Nm, 3.1 rad/s, 0.02 kg m2 with rotor), and at
# 250 Hz on Hand (0.5 Nm, 10 rad/s, 0.0003 kg m2). By i, a friction of 5 % of the largest effort is
# reached within 2 s.
P_PER_RATIO: Final = 0.186  # [1], over largest effort / largest velocity
I_PER_EFFORT: Final = 1.2  # [1/rad], over the largest effort


def recorder_parameters(method: RecordingMethod, joint: str, limit: float, velocity: float) -> str:
    """Return the parameters file of the controller that records `joint` by `method`.

    `limit`: of the joint's effort [Nm]; `velocity`: its limit [rad/s].
    """
    own: dict[str, Any] = {
        "type": "humanoid_control/EffortController",
        "fallback_controllers": ["damping_controller", "zero_torque_controller"],
        "joints": [joint],
        "command_timeout": COMMAND_TIMEOUT,
        "stale_damping": STALE_DAMPING * limit / velocity,
    }
    if method == "sweep":
        gains = {"p": P_PER_RATIO * limit / velocity, "i": I_PER_EFFORT * limit}
        own["type"] = "humanoid_control/VelocityController"
        own["gains"] = {**gains, "i_clamp": limit}
        own["deadband"] = 0.0  # a speed of 0.02 rad/s must not count as none
    return yaml.safe_dump({CONTROLLER: {"ros__parameters": own}}, sort_keys=False)
