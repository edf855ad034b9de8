"""Motor boards: their firmware, which controls the force of a tendon, and their shafts.

A board speaks the Robstride protocol and computes the same MIT law; its result is the demand of the
inner force loop. The protocol of a real board is not known.
"""

import math
from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import Final, TypedDict

from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.firmware import Send
from humanoid_twin.can.motors.force_loop import STEP, BoardFigures, ForceLoop
from humanoid_twin.can.motors.robstride_motor import RobstrideFirmware
from humanoid_twin.can.motors.robstride_parameters import RobstrideParameters
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.mounting import MountedEncoder, Mounting
from humanoid_twin.physics.plant import Plant

NEAR: Final = 0.1  # part of a change of the demand that may be missing when the force has arrived
_SMALLEST_CHANGE: Final = 0.01  # of the demand whose delay counts, in parts of the motor's torque
_MOST_DELAYS: Final = 10_000


class BoardReport(TypedDict):
    """Rate and latency of one board's inner loop.

    A delay lasts from the arrival of a frame that changes the demand until the force at the joint
    is within a tenth of the change. The delays are those of the last 10 000 changes; NaN without.
    """

    id: int
    steps: int  # of the inner loop
    rate: float  # [1/s] of them, in simulated time since the board was built
    changes: int  # of the demand, by frames
    superseded: int  # of these: the next change came before the force arrived
    delay_median: float  # [s]
    delay_p99: float  # [s]
    delay_max: float  # [s]
    demand: float  # [Nm]
    force: float  # [Nm] measured


class TendonShaft(MountedEncoder):
    """The shaft of a motor whose tendon runs over the joint of its encoder, and over others."""

    __slots__ = ("_over",)

    def __init__(self, plant: Plant, joint: int, mounting: Mounting, others: Sequence[int]) -> None:
        """`others`: indices in the plant."""
        super().__init__(plant, joint, mounting)
        self._over = (joint, *others)

    def travel(self) -> tuple[float, float]:
        """Return travel [rad] and speed [rad/s] of the tendon; faults of the encoder don't count.

        All joints have the same lever (assumed), so their angles add up.
        """
        angle = speed = 0.0
        for joint in self._over:
            angle += self._angles[joint]
            speed += self._speeds[joint]
        return self._sign * angle, self._sign * speed

    def turn(self, torque: float) -> None:
        """See MountedEncoder: the tendon turns all joints with the same torque."""
        for joint in self._over:
            self._torques[joint] = self._sign * torque


class EncoderShaft(MountedEncoder):
    """The shaft of a board without a motor, on a joint that the tendon of another board turns."""

    __slots__ = ()

    def turn(self, torque: float) -> None:
        """See MountedEncoder: nothing turns."""


class EncoderFirmware(RobstrideFirmware):
    """A board without a motor: it answers and measures."""

    def tick(self, position: float, velocity: float) -> float:
        """See Firmware: the torque is 0."""
        super().tick(position, velocity)
        self._torque = 0.0
        return 0.0

    def spring(self) -> tuple[float, float]:
        """See Firmware."""
        return 0.0, 0.0


class MotorBoardFirmware(RobstrideFirmware):
    """A board with an inner force loop. Its status reports the measured force as torque.

    While it is disabled, the bridge is off, and the joint drags the motor along. Without power, or
    with a firmware that hangs, motor and tendon are not simulated (see CanMotor).
    """

    def __init__(
        self,
        parameters: RobstrideParameters,
        device: int,
        send: Send,
        figures: BoardFigures,
        shaft: TendonShaft,
        simulated_time: SimulatedTime,
    ) -> None:
        self._loop = ForceLoop(figures)
        self._shaft, self._simulated_time = shaft, simulated_time
        self._smallest = _SMALLEST_CHANGE * figures.motor_torque  # [Nm]
        self._built = simulated_time.now  # [ns]
        self._demand = 0.0  # [Nm]
        self._frame_came: int | None = None  # [ns], since the last tick
        self._changing: tuple[int, float] | None = None  # arrival [ns], distance that is near [Nm]
        self._changes = self._superseded = 0
        self._delays: deque[float] = deque(maxlen=_MOST_DELAYS)  # [s]
        super().__init__(parameters, device, send)

    def boot(self) -> None:
        """See Firmware."""
        super().boot()
        self._loop.reset()
        self._frame_came = self._changing = None

    def handle(self, frame: CanFrame) -> None:
        """See Firmware."""
        before = self._target
        super().handle(frame)
        if self._frame_came is None and self._target != before:
            self._frame_came = self._simulated_time.now

    def tick(self, position: float, velocity: float) -> float:
        """See Firmware."""
        demand = super().tick(position, velocity)
        travel, speed = self._shaft.travel()
        if not self.enabled:
            torque, _ = self._loop.run(None, travel, speed)
            self._frame_came = self._changing = None
        else:
            if self._frame_came is not None:
                self._note_change(self._frame_came, abs(demand - self._demand))
            near = 0.0 if self._changing is None else self._changing[1]
            torque, reached = self._loop.run(demand, travel, speed, near)
            if self._changing is not None and reached:
                waited = (self._simulated_time.now - self._changing[0]) / 1e9
                self._delays.append(waited + reached * STEP)
                self._changing = None
        self._demand, self._torque = demand, self._loop.force
        return torque

    def board_report(self) -> BoardReport:
        """Return rate and latency for the control channel."""
        time = (self._simulated_time.now - self._built) / 1e9
        delays = sorted(self._delays) or [math.nan]
        return BoardReport(
            id=self.device,
            steps=self._loop.steps,
            rate=self._loop.steps / time if time else 0.0,
            changes=self._changes,
            superseded=self._superseded,
            delay_median=median(delays),
            delay_p99=delays[math.ceil(0.99 * len(delays)) - 1],
            delay_max=delays[-1],
            demand=self._demand,
            force=self._loop.force,
        )

    def _note_change(self, arrival: int, change: float) -> None:
        self._frame_came = None
        if change < self._smallest:
            return
        self._changes += 1
        self._superseded += self._changing is not None
        self._changing = arrival, NEAR * change
