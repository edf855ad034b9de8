"""One motor's end of the plant: angle, speed and torque, as the motor is mounted."""

from humanoid_twin.drive.parameters import Mounting
from humanoid_twin.drive.plant import Plant


class MotorShaft:
    """Joint angles as the motor sees them: raw = direction · joint + offset."""

    __slots__ = ("_offset", "_plant", "_sign", "joint")

    def __init__(self, plant: Plant, joint: int, mounting: Mounting) -> None:
        self._plant = plant
        self.joint = joint  # index in the plant
        self._sign = mounting.direction
        self._offset = mounting.offset

    def position(self) -> float:
        """Raw angle [rad]."""
        return self._sign * self._plant.position.item(self.joint) + self._offset

    def velocity(self) -> float:
        """Raw speed [rad/s]."""
        return self._sign * self._plant.velocity.item(self.joint)

    def turn(self, torque: float) -> None:
        """Torque at the output [Nm], in the motor's direction."""
        self._plant.set_torque(self.joint, self._sign * torque)

    def truth(self) -> tuple[float, float]:
        """Angle [rad] and speed [rad/s] of the joint itself."""
        return self._plant.position.item(self.joint), self._plant.velocity.item(self.joint)
