"""One drive's end of the plant: encoder, torque and brake, as the drive is mounted."""

from humanoid_twin.drive.parameters import COUNTS_PER_RADIAN, Mounting
from humanoid_twin.drive.plant import Plant


class Shaft:
    """Turns joint angles into encoder counts and torque at the output into torque at the joint."""

    __slots__ = ("_brake", "_joint", "_mounting", "_offset", "_plant", "_scale", "_sign")

    def __init__(self, plant: Plant, joint: int, mounting: Mounting) -> None:
        self._plant = plant
        self._joint = joint
        self._mounting = mounting
        self._sign = mounting.direction
        self._brake = False
        self.shift(0.0)

    def position(self) -> int:
        """Encoder position [counts]."""
        return round(self._plant.position.item(self._joint) * self._scale + self._offset)

    def velocity(self) -> int:
        """Speed [counts/s], in whole counts (the motor's own encoder is finer; assumed)."""
        return round(self._plant.velocity.item(self._joint) * self._scale)

    def stick(self) -> None:
        """The encoder says the same from now on, however the joint turns."""
        self._offset, self._scale = float(self.position()), 0.0

    def shift(self, angle: float) -> None:
        """The encoder is off by an angle [rad] of the joint; 0: it is right again, stuck or not."""
        mounting = self._mounting
        self._scale = mounting.direction * COUNTS_PER_RADIAN
        self._offset = mounting.offset * COUNTS_PER_RADIAN + self._scale * angle

    def forget_turns(self) -> None:
        """From now on the encoder knows the angle within a turn only (assumed: from 0 up)."""
        turn = 524288  # [counts] 19 bit at the output
        self._offset -= self.position() // turn * turn

    def turn(self, torque: float) -> None:
        """Torque at the output [Nm], in the drive's direction."""
        self._plant.set_torque(self._joint, self._sign * torque)

    def brake(self, *, engaged: bool) -> None:
        """Engage or release the holding brake."""
        if engaged != self._brake:
            self._brake = engaged
            self._plant.set_brake(self._joint, engaged=engaged)
