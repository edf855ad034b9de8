"""The servo controllers as plug-ins of the control loop."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.clamping import clamp
from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, RobotFacts
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_servo_controllers.coupled_joints import CoupledJoints
from humanoid_servo_controllers.friction_file import load_friction_maps
from humanoid_servo_controllers.parameters import (
    Curve,
    DeadbandParameters,
    Gains,
    MixedParameters,
    PerJoint,
    ServoParameters,
    with_gains,
)
from humanoid_servo_controllers.servo.deadband import AverageDeadband, Deadband, SignDeadband
from humanoid_servo_controllers.servo.friction_compensation import FrictionCompensation
from humanoid_servo_controllers.servo.friction_map import FrictionTable, flat
from humanoid_servo_controllers.servo.pid import Pid, PidGains
from humanoid_servo_controllers.servo.servo_law import OutputStage, VelocityCurve
from humanoid_servo_controllers.servo.servos import (
    EffortServo,
    MixedServo,
    PositionServo,
    Servo,
    VelocityServo,
)

logger = logging.getLogger(__name__)

REPORTED: Final = 10  # every so many ticks
STALE: Final = "stale commands: the joints are left as they are until the next one"


@dataclass(frozen=True, slots=True, eq=False)
class ServoReport:
    """The report of a servo in one tick; arrays (n,)."""

    number: int  # of the report since the activation
    set_point: FloatArray
    process_value: FloatArray
    process_value_dot: FloatArray  # of a position: the measured velocity; else 0
    error: FloatArray
    effort: FloatArray  # [Nm]
    friction: FloatArray  # [Nm], part of `effort` before the last limit
    holds: NDArray[np.bool_]
    factor: float  # of the largest effort
    period: float  # [s]
    gains: PidGains | None  # in force; None without a PID loop
    antiwindup: bool  # of the PID loop


class ServoController(Controller):
    """Follows commands of one number per joint by effort alone: no stiffness, no damping.

    At activation the joints are left as they are until the first command. `receive`, `set_gains`
    and `set_force_factor` may be called by any thread; they act from the next tick on.
    """

    Parameters: ClassVar[type[ServoParameters]]
    mode: ClassVar[Mode] = Mode.REMOTE
    needs: ClassVar[Mapping[str, Capability]] = {
        "effort": Capability.PER_TICK,
        "stiffness": Capability.PER_TICK,
        "damping": Capability.PER_TICK,
    }

    def on_configure(self, parameters: Any, robot: RobotFacts) -> None:
        """See Controller. Raises ConfigError for a wrong file of friction maps or joint."""
        coupled = parameters.coupled_joints
        self._coupled = CoupledJoints(coupled, robot) if coupled else None
        if self._coupled is not None:
            robot = self._coupled.facts
        self.joints, self._limits = robot.joints, robot.limits
        self._compensates_gravity = parameters.gravity_compensation
        self._timeout = parameters.command_timeout or np.inf
        self._stale_damping = np.full(len(robot.joints), parameters.stale_damping)
        own = PerJoint(parameters.joint_parameters, robot.joints)
        self._servo = self._make_servo(parameters, own, _output(parameters, own, robot), robot)
        self._servo.output.set_factor(parameters.max_force_factor)
        self._commands: LatestValue[tuple[FloatArray, float]] = LatestValue()
        self._factors: LatestValue[float] = LatestValue()
        self._new_gains: LatestValue[PidGains] = LatestValue()
        self._configured_gains = own.gains(parameters.gains) if self._servo.pid else None
        self.gains_in_force = self._configured_gains  # None without a PID loop
        self.report: ServoReport | None = None  # the latest one; read by any thread
        self._stale = False  # the latest command was dropped after its time-out

    @abstractmethod
    def _make_servo(
        self, parameters: Any, own: PerJoint, output: OutputStage, robot: RobotFacts
    ) -> Servo:
        """Return the servo law."""

    @abstractmethod
    def _clamped(self, command: FloatArray) -> FloatArray:
        """Return `command` (n,) within the limits of the joints."""

    def receive(self, command: FloatArray, arrival: float) -> None:
        """Take a command (n,) that arrived at the loop's time `arrival` [s].

        Raises ControllerError for a wrong size or a number that is not finite; the command in force
        stays.
        """
        if command.shape != (len(self.joints),):
            names = ", ".join(self.joints.names)
            raise ControllerError(
                f"{command.size} values, expected {len(self.joints)}: one for each of {names}"
            )
        wrong = np.flatnonzero(~np.isfinite(command))
        if wrong.size:
            name, value = self.joints.names[wrong[0]], command[wrong[0]]
            raise ControllerError(f"{name}: command {value}, expected a finite number")
        self._commands.put((self._clamped(command), arrival))

    def set_gains(self, joint: str, gains: Gains) -> None:
        """Change the gains of one joint. Called by one thread.

        Raises ControllerError for an unknown joint, and without a PID loop.
        """
        if self.gains_in_force is None:
            raise ControllerError("this controller has no PID loop, so no gains")
        self._use_gains(with_gains(self.gains_in_force, self._row(joint), gains))

    def reset_gains(self) -> None:
        """Return to the configured gains. Called by one thread. Raises ControllerError."""
        if self._configured_gains is None:
            raise ControllerError("this controller has no PID loop, so no gains")
        self._use_gains(self._configured_gains)

    def set_force_factor(self, factor: float) -> None:
        """Use this part of the largest effort. Raises ControllerError unless it is 0 to 1."""
        if not 0.0 <= factor <= 1.0:
            raise ControllerError(f"max_force_factor is {factor}, expected 0 to 1")
        self._factors.put(factor)

    @property
    def compensates_gravity(self) -> bool:
        """See Controller: what is added comes after `max_force`."""
        return bool(self._compensates_gravity)

    @property
    def remark(self) -> str:
        """See Controller: set while commands are stale."""
        return STALE if self._stale else ""

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        state = self._own(state)
        self._stale = False
        self._commands.take()
        self._command = self._servo.start(state)
        self._arrival = np.inf  # [s] of the command; inf: it is not one of `receive`
        self._ticks = 0

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        own = self._own(state)
        self._take_news(own, now)
        effort = self._servo.step(self._command, own, period)
        command.array.fill(0.0)
        command.position[:] = state.position
        self._distribute(effort, command.effort)
        if self._arrival == np.inf:  # no command counts
            self._distribute(self._stale_damping, command.damping)
        if self._ticks % REPORTED == 0:
            self._report(effort, period)
        self._ticks += 1

    # Inside.

    def _distribute(self, values: FloatArray, out: FloatArray) -> None:
        """Write the values of the controller's joints to those of the loop, which are 0 before."""
        if self._coupled is None:
            out[:] = values
        else:
            self._coupled.distribute(values, out)

    def _own(self, state: JointState) -> JointState:
        return state if self._coupled is None else self._coupled.measured(state)

    def _row(self, joint: str) -> int:
        if joint not in self.joints.names:
            names = ", ".join(self.joints.names)
            raise ControllerError(f"unknown joint '{joint}', expected one of {names}")
        return self.joints.names.index(joint)

    def _use_gains(self, gains: PidGains) -> None:
        self.gains_in_force = gains
        self._new_gains.put(gains)

    def _take_news(self, state: JointState, now: float) -> None:
        received = self._commands.take()
        if received is not None and now - received[1] <= self._timeout:
            (self._command, self._arrival), self._stale = received, False
        elif now - self._arrival > self._timeout:
            self._command, self._arrival = self._servo.start(state), np.inf
            self._stale = True
        elif received is not None and self._arrival == np.inf:
            self._stale = True  # a late command has no effect
        gains = self._new_gains.take()
        if gains is not None and self._servo.pid is not None:
            self._servo.pid.set_gains(gains)
        factor = self._factors.take()
        if factor is not None:
            self._servo.output.set_factor(factor)

    def _report(self, effort: FloatArray, period: float) -> None:
        servo = self._servo
        self.report = ServoReport(
            self._ticks // REPORTED,
            servo.set_point.copy(),
            servo.process_value.copy(),
            servo.process_value_dot.copy(),
            servo.error.copy(),
            effort.copy(),
            servo.output.friction_part.copy(),
            servo.holds.copy(),
            servo.output.factor,
            period,
            servo.pid.gains if servo.pid else None,
            servo.pid.antiwindup if servo.pid else False,
        )


class EffortController(ServoController):
    """The command is an effort [Nm]."""

    Parameters = ServoParameters

    def _make_servo(
        self, parameters: Any, own: PerJoint, output: OutputStage, robot: RobotFacts
    ) -> Servo:
        return EffortServo(output)

    def _clamped(self, command: FloatArray) -> FloatArray:
        return command  # the output stage limits it


class VelocityController(ServoController):
    """The command is a velocity [rad/s]."""

    Parameters = DeadbandParameters

    def _make_servo(
        self, parameters: Any, own: PerJoint, output: OutputStage, robot: RobotFacts
    ) -> Servo:
        return VelocityServo(output, _pid(parameters, own), _deadband(parameters, own, robot))

    def _clamped(self, command: FloatArray) -> FloatArray:
        return clamp(command, -self._limits.velocity, self._limits.velocity)


class PositionController(ServoController):
    """The command is a position [rad]."""

    Parameters = DeadbandParameters

    def _make_servo(
        self, parameters: Any, own: PerJoint, output: OutputStage, robot: RobotFacts
    ) -> Servo:
        return PositionServo(output, _pid(parameters, own), _deadband(parameters, own, robot))

    def _clamped(self, command: FloatArray) -> FloatArray:
        return clamp(command, self._limits.target_lower, self._limits.target_upper)


class MixedPositionVelocityController(PositionController):
    """The command is a position [rad], to which the joint travels at a given speed."""

    Parameters = MixedParameters
    _curve: VelocityCurve

    def set_velocity_curve(self, joint: str, given: Curve) -> None:
        """Change how one joint travels, or all with an empty name. Called by one thread.

        Velocities beyond the limit of a joint become that limit. Raises ControllerError for an
        unknown joint.
        """
        rows = [self._row(joint)] if joint else slice(None)
        self._curve = self._curve.with_rows(rows, _curve(given, self._limits.velocity))
        self._new_curves.put(self._curve)

    def _make_servo(
        self, parameters: Any, own: PerJoint, output: OutputStage, robot: RobotFacts
    ) -> Servo:
        self._curve = _curve(parameters, robot.limits.velocity)
        self._new_curves: LatestValue[VelocityCurve] = LatestValue()
        self._mixed = MixedServo(
            output,
            _pid(parameters, own),
            _deadband(parameters, own, robot),
            self._curve,
            holds_measured=parameters.override_to_current_effort,
        )
        return self._mixed

    def _take_news(self, state: JointState, now: float) -> None:
        super()._take_news(state, now)
        curve = self._new_curves.take()
        if curve is not None:
            self._mixed.curve = curve


def _curve(given: Curve, limit: FloatArray) -> VelocityCurve:
    return VelocityCurve(
        np.full_like(limit, given.velocity_slope),
        np.maximum(given.min_velocity, -limit),
        np.minimum(given.max_velocity, limit),
    )


def _output(parameters: ServoParameters, own: PerJoint, robot: RobotFacts) -> OutputStage:
    limit = robot.limits.effort
    wanted = own.values("max_force", parameters.max_force or np.inf)
    friction = FrictionCompensation(
        _table(parameters.friction_map, robot),
        own.values("friction_deadband", parameters.friction_deadband),
        parameters.friction_velocity_threshold,
        parameters.friction_velocity_decay,
    )
    threshold = own.values("motor_min_force_threshold", parameters.motor_min_force_threshold)
    return OutputStage(np.minimum(wanted, limit), friction, threshold)


def _table(file: str, robot: RobotFacts) -> FrictionTable:
    if not file:
        return FrictionTable([flat()] * len(robot.joints))
    path = Path(file)
    if not path.is_absolute():
        raise ConfigError(f"friction_map: '{file}', expected an absolute path")
    maps = load_friction_maps(path).maps
    if not maps.keys() & set(robot.joints.names):
        raise ConfigError(
            f"{path}: maps of {', '.join(maps)}, expected one of {', '.join(robot.joints.names)}"
        )
    missing = [name for name in robot.joints.names if name not in maps]
    if missing:  # intended, or a misspelt name
        logger.warning("%s: no map of %s: no friction is added there", path, ", ".join(missing))
    table = [maps.get(name) or flat() for name in robot.joints.names]
    for name, found, limit in zip(robot.joints.names, table, robot.limits.effort, strict=True):
        if found.largest > limit:  # in another unit, it would drive the joint with all its effort
            raise ConfigError(
                f"{path}: {name}: a friction of {found.largest:g} Nm, expected at most its effort "
                f"limit, {limit:g} Nm"
            )
    return FrictionTable(table)


def _pid(parameters: DeadbandParameters, own: PerJoint) -> Pid:
    return Pid(
        own.gains(parameters.gains),
        antiwindup=parameters.antiwindup,
        derivative_on_measurement=parameters.derivative_on_measurement,
    )


def _deadband(parameters: DeadbandParameters, own: PerJoint, robot: RobotFacts) -> Deadband:
    inner = own.values("deadband", parameters.deadband)
    step = np.full_like(inner, parameters.command_step)
    if parameters.deadband_mode == "sign":
        return SignDeadband(inner, parameters.deadband_multiplier, step)
    window = max(round(parameters.deadband_window * robot.update_rate), 1)
    return AverageDeadband(inner, parameters.deadband_multiplier, step, window)
