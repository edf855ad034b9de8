"""Facts of Sito motors, as the twin knows them: its own literals, shared with nobody."""

import math
from dataclasses import dataclass
from typing import Final

COUNTS_PER_RADIAN: Final = 65536 / math.tau  # at the output (actuator documents)
_GEAR: Final = 51.0  # of the motor the units were measured on


@dataclass(frozen=True, slots=True, kw_only=True)
class SitoParameters:
    """One model. What the documents don't say is marked: assumed, confirm on hardware."""

    gear: float  # motor turns per output turn (actuator documents)
    torque_constant: float = 9e-5  # [Nm/mA] at the motor (actuator documents)
    # Effect at the output of one unit of the firmware's gains, measured on a TA40-50 (actuator
    # documents). The law is in counts and mA, so with another gear it scales: assumed.
    stiffness_unit: float = 688.58  # [Nm/rad]
    damping_unit: float = 1.125  # [Nm s/rad]
    current_limit: float = 5000.0  # [mA], 23 Nm at gear 51; assumed, confirm on hardware
    factory_stiffness: float = 0.05  # [units] after power-up; assumed, confirm on hardware
    factory_damping: float = 2.0  # [units] after power-up; assumed, confirm on hardware
    temperature_limit: float = 100.0  # [°C] above it the motor disables itself; assumed

    @property
    def torque_per_current(self) -> float:
        """Torque at the output for one mA [Nm/mA]."""
        return self.torque_constant * self.gear


SITO_MODELS: Final = {
    "TA40-50": SitoParameters(gear=_GEAR),
    "TA40-100": SitoParameters(
        gear=101.0, stiffness_unit=688.58 * 101 / _GEAR, damping_unit=1.125 * 101 / _GEAR
    ),
}
