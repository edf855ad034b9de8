"""The four servo laws: effort, velocity, position, and position by velocity (mixed)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_servo_controllers.servo.deadband import Deadband
from humanoid_servo_controllers.servo.pid import Pid
from humanoid_servo_controllers.servo.servo_law import OutputStage, VelocityCurve


class Servo(ABC):
    """Turns commands into efforts for n joints.

    Attributes:
        pid: its loop; None if it has none.
        set_point, process_value, error: of the latest step, (n,), in the unit of the command.
        process_value_dot: the velocity [rad/s], (n,), where the command is a position; else 0.
        holds: which joints held in it, (n,).
    """

    def __init__(self, output: OutputStage, pid: Pid | None = None) -> None:
        self.output, self.pid = output, pid
        count = len(output.friction_part)
        self.set_point, self.process_value, self.error = (np.zeros(count) for _ in range(3))
        self.process_value_dot = np.zeros(count)
        self.holds: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)

    @abstractmethod
    def start(self, state: JointState) -> FloatArray:
        """Clear the state. Return the command (n,) that has no effect on the joints."""

    @abstractmethod
    def step(self, command: FloatArray, state: JointState, period: float) -> FloatArray:
        """Return the efforts [Nm] (n,) of this tick, valid until the next; `period` in [s]."""

    def _note(self, command: FloatArray, measured: FloatArray) -> FloatArray:
        """Keep the values of this step. Return the error."""
        self.set_point, self.process_value = command, measured
        self.error = command - measured
        return self.error


class EffortServo(Servo):
    """The command is an effort: limited, with friction."""

    def __init__(self, output: OutputStage) -> None:
        super().__init__(output)
        self._demand = np.zeros_like(output.friction_part)

    def start(self, state: JointState) -> FloatArray:
        """See Servo."""
        return np.zeros_like(self._demand)

    def step(self, command: FloatArray, state: JointState, period: float) -> FloatArray:
        """See Servo."""
        self._note(command, state.effort)
        self._demand[:] = command
        return self.output.effort(self._demand, state.position, state.velocity, None)


class VelocityServo(Servo):
    """PID control of the velocity.

    Of a joint that holds only the integral part acts: it bears the load, and follows it.
    """

    def __init__(self, output: OutputStage, pid: Pid, deadband: Deadband) -> None:
        super().__init__(output, pid)
        self._pid, self._deadband = pid, deadband

    def start(self, state: JointState) -> FloatArray:
        """See Servo."""
        self._pid.reset()
        self._deadband.reset()
        return np.zeros_like(self.set_point)

    def step(self, command: FloatArray, state: JointState, period: float) -> FloatArray:
        """See Servo."""
        velocity = state.velocity
        error = self._note(command, velocity)
        self.holds = holds = self._deadband.step(command, error)
        demand = self._pid.step(error, velocity, period)
        if np.count_nonzero(holds):
            # A frozen integral would let a joint without friction creep at the outer band's speed.
            np.copyto(demand, self._pid.integral_part, where=holds)
        return self.output.effort(demand, state.position, velocity, holds)


class PositionServo(Servo):
    """PID control of the position."""

    def __init__(self, output: OutputStage, pid: Pid, deadband: Deadband) -> None:
        super().__init__(output, pid)
        self._pid, self._deadband = pid, deadband

    def start(self, state: JointState) -> FloatArray:
        """See Servo."""
        self._pid.reset()
        self._deadband.reset()
        return state.position.copy()

    def step(self, command: FloatArray, state: JointState, period: float) -> FloatArray:
        """See Servo."""
        position = state.position
        error = self._note(command, position)
        self.process_value_dot = state.velocity
        self.holds = holds = self._deadband.step(command, error)
        if np.count_nonzero(holds):
            error = np.where(holds, 0.0, error)
        demand = self._pid.step(error, position, period)
        return self.output.effort(demand, position, state.velocity, holds)


class MixedServo(Servo):
    """Position by velocity: travels at a given speed and slows down onto the target.

    A joint that holds keeps the effort with which it began to hold, without friction, and without
    the derivative part: that of the tick in which its error became 0 is a kick.

    Args:
        output: see OutputStage.
        pid: of the velocity.
        deadband: of the position.
        curve: the velocity at each distance; another one may take its place at any time.
        holds_measured: hold the measured effort instead of the demanded one.
    """

    def __init__(
        self,
        output: OutputStage,
        pid: Pid,
        deadband: Deadband,
        curve: VelocityCurve,
        *,
        holds_measured: bool,
    ) -> None:
        super().__init__(output, pid)
        self._pid, self._deadband = pid, deadband
        self.curve, self._holds_measured = curve, holds_measured
        self._held = np.zeros_like(self.set_point)  # [Nm]
        self._held_before = np.zeros(len(self._held), dtype=np.bool_)

    def start(self, state: JointState) -> FloatArray:
        """See Servo."""
        self._pid.reset()
        self._deadband.reset()
        self._held_before.fill(False)
        return state.position.copy()

    def step(self, command: FloatArray, state: JointState, period: float) -> FloatArray:
        """See Servo."""
        velocity = state.velocity
        error = self._note(command, state.position)
        self.process_value_dot = state.velocity
        self.holds = holds = self._deadband.step(command, error)
        velocity_error = self.curve.velocity(error) - velocity
        any_holds = np.count_nonzero(holds)
        if any_holds:
            velocity_error[holds] = 0.0
        demand = self._pid.step(velocity_error, velocity, period)
        if any_holds:
            entering = holds & ~self._held_before
            own = demand - self._pid.derivative_part
            source = state.effort if self._holds_measured else own
            np.copyto(self._held, source, where=entering)
            np.copyto(demand, self._held, where=holds)
        self._held_before[:] = holds
        return self.output.effort(demand, state.position, velocity, holds)
