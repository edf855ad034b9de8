"""Physical constants of Sito motors, kept only here.

History: the gains of the firmware have no documented unit. The first calibration took one unit of
Kp for 500 Nm/rad and one of Kd for 0.5 Nm s/rad; measured at the joint, the wrists then ran 1.38
times too stiff and 2.25 times over-damped. The divisors below are the measured ones (TA40-50);
confirm them with a torque measurement where precision matters.
"""

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.robot.units import Encoder

# The documents give counts at the motor, the public driver applies the same factor at the output.
# Only the output is plausible: the i16 velocity field then spans 3.14 rad/s at the joint, not 0.06.
# Hence 16 bits per turn of the output.
OUTPUT_COUNTS: Final = Encoder(65536)
TORQUE_CONSTANT: Final = 9e-5  # [Nm/mA] at the motor (actuator documents)


@dataclass(frozen=True, slots=True)
class Model:
    """Constants of one model. A divisor that was never measured is None."""

    gear: float  # motor turns per output turn
    stiffness_divisor: float | None  # [Nm/rad] per unit of Kp
    damping_divisor: float | None  # [Nm s/rad] per unit of Kd


MODELS: Final = {
    "TA40-50": Model(51.0, 688.58, 1.125),
    "TA40-100": Model(101.0, None, None),
}
