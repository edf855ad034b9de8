"""Physical constants of Sito motors, kept only here.

The unit of the firmware's gains is not documented. The divisors below were measured at the joint
(TA40-50); confirm them with a torque measurement where precision matters. An earlier calibration
assumed 500 Nm/rad for one unit of Kp and 0.5 Nm s/rad for one of Kd: the wrists were 1.38 times too
stiff and 2.25 times over-damped.
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
