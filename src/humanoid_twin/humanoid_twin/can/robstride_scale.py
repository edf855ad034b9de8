"""What the 16-bit fields of a Robstride motor's frames mean (actuator documents)."""

from dataclasses import dataclass
from typing import Final

from humanoid_devices_robstride.wire import OperationControl
from humanoid_twin.can.robstride_parameters import RobstrideParameters

_MIDDLE: Final = 32767
_FULL: Final = 65535


@dataclass(frozen=True, slots=True)
class SetPoint:
    """A command of operation control."""

    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [Nm]
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]


def decode_set_point(order: OperationControl, limits: RobstrideParameters) -> SetPoint:
    """The command that raw fields mean to a motor with these ranges."""
    return SetPoint(
        position=(order.position / _MIDDLE - 1) * limits.position,
        velocity=(order.velocity / _MIDDLE - 1) * limits.velocity,
        torque=(order.torque / _MIDDLE - 1) * limits.torque,
        stiffness=order.stiffness / _FULL * limits.stiffness,
        damping=order.damping / _FULL * limits.damping,
    )


def signed_to_raw(value: float, limit: float) -> int:
    """A field of a status frame; what the wire can't carry stays at its rail."""
    return max(0, min(_FULL, round((value / limit + 1) * _MIDDLE)))
