"""One motor's end of the plant: angle, speed and torque, as the motor is mounted."""

from humanoid_twin.drive.parameters import Mounting
from humanoid_twin.drive.plant import Plant


class MotorShaft:
    """Joint angles as the motor sees them: raw = direction · joint + offset."""

    __slots__ = ("_mounting", "_offset", "_plant", "_scale", "_sign", "joint")

    def __init__(self, plant: Plant, joint: int, mounting: Mounting) -> None:
        self._plant = plant
        self.joint = joint  # index in the plant
        self._mounting = mounting
        self._sign = mounting.direction
        self.shift(0.0)

    def position(self) -> float:
        """Raw angle [rad]."""
        return self._scale * self._plant.position.item(self.joint) + self._offset

    def velocity(self) -> float:
        """Raw speed [rad/s]."""
        return self._scale * self._plant.velocity.item(self.joint)

    def stick(self) -> None:
        """The encoder says the same from now on, however the joint turns."""
        self._offset, self._scale = self.position(), 0

    def shift(self, angle: float) -> None:
        """The encoder is off by an angle [rad] of the joint; 0: it is right again, stuck or not."""
        self._scale = self._sign
        self._offset = self._mounting.offset + self._sign * angle

    def turn(self, torque: float) -> None:
        """Torque at the output [Nm], in the motor's direction."""
        self._plant.set_torque(self.joint, self._sign * torque)

    def truth(self) -> tuple[float, float]:
        """Angle [rad] and speed [rad/s] of the joint itself."""
        return self._plant.position.item(self.joint), self._plant.velocity.item(self.joint)
