"""Servos of one joint for tests, without units."""

from __future__ import annotations

import numpy as np

from humanoid_control_common.robot.mit_interface import JointState
from humanoid_servo_controllers.servo.deadband import AverageDeadband, Deadband, SignDeadband
from humanoid_servo_controllers.servo.friction_compensation import FrictionCompensation
from humanoid_servo_controllers.servo.friction_map import (
    FrictionCurve,
    FrictionMap,
    FrictionTable,
    flat,
)
from humanoid_servo_controllers.servo.pid import Pid, PidGains
from humanoid_servo_controllers.servo.servo_law import OutputStage, VelocityCurve
from humanoid_servo_controllers.servo.servos import (
    EffortServo,
    MixedServo,
    PositionServo,
    Servo,
    VelocityServo,
)


def one(value: float) -> np.ndarray:
    return np.array([float(value)])


def curve(*points: tuple[float, float]) -> FrictionCurve:
    positions, efforts = zip(*points, strict=True)
    sign = -1 if min(efforts) < 0.0 else 1
    return FrictionCurve(np.array(positions, float), np.array(efforts, float), sign)


MAP = FrictionMap(
    curve((0, 100), (0.5, 140), (1, 120), (1.5, 200)),
    curve((0, -80), (0.5, -110), (1, -150), (1.5, -130)),
)


def output(
    max_force: float = 1023.0,
    *,
    friction: bool = False,
    factor: float = 1.0,
    threshold: float = 0.0,
) -> OutputStage:
    table = FrictionTable([MAP if friction else flat()])
    compensation = FrictionCompensation(table, one(5.0))
    found = OutputStage(one(max_force), compensation, one(threshold))
    found.set_factor(factor)
    return found


def pid(p: float, i: float = 0.0, d: float = 0.0, clamp: float = 0.0) -> Pid:
    gains = PidGains(*(one(value) for value in (p, i, d, -clamp, clamp)))
    return Pid(gains, antiwindup=False)


def sign(inner: float = 0.015) -> Deadband:
    return SignDeadband(one(inner), 5.0, one(0.0))


def average(inner: float = 0.015, window: int = 50) -> Deadband:
    return AverageDeadband(one(inner), 5.0, one(0.0), window)


def effort_servo(**more: object) -> EffortServo:
    return EffortServo(output(200.0, **more))  # type: ignore[arg-type]


def velocity_servo(control: Pid, deadband: Deadband, stage: OutputStage) -> VelocityServo:
    return VelocityServo(stage, control, deadband)


def position_servo(control: Pid, deadband: Deadband, stage: OutputStage) -> PositionServo:
    return PositionServo(stage, control, deadband)


def mixed_servo(
    control: Pid,
    deadband: Deadband,
    stage: OutputStage,
    *,
    slope: float = 10.0,
    holds_measured: bool = False,
) -> MixedServo:
    velocities = VelocityCurve(one(slope), one(-1.0), one(1.0))
    return MixedServo(stage, control, deadband, velocities, holds_measured=holds_measured)


def tick(
    servo: Servo, command: float, q: float, v: float, period: float = 0.001, effort: float = 0.0
) -> float:
    state = JointState(1)
    state.array[:] = [[q], [v], [effort]]
    return float(servo.step(one(command), state, period)[0])
