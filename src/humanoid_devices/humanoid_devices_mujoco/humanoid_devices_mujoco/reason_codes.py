"""Reason codes of the simulation."""

from typing import Final

from humanoid_control_common.rules.reasons import CodeTable

CODES: Final = CodeTable("Simulation")

SIMULATION_DIVERGED: Final = CODES.add(
    "SIMULATION_DIVERGED",
    "A value of the simulation became huge or not finite; the joints are put back, limp.",
    "Lower the gains or the commands that led there, then `hc clear-fault`.",
)
