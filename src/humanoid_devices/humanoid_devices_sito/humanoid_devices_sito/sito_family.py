"""Codec of Sito motors: SI units at the output to raw fields and back."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_controller_manager.hardware.block_parameters import optional_positive
from humanoid_devices_can.bus.bus import LONGEST_FRAME, CanFrame
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.fields import saturate
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, Feedback, Judge, MotorFamily
from humanoid_devices_can.settings import CanSettings, Motor
from humanoid_devices_sito.codec import (
    RESET_PAYLOAD,
    Command,
    ControlMode,
    Feedback1,
    Feedback2,
    Gains,
    MessageType,
    SelectMode,
    identifier,
    parse_identifier,
)
from humanoid_devices_sito.units import MODELS, OUTPUT_COUNTS, TORQUE_CONSTANT

LONGEST_INTERVAL: Final = 10  # [ms] between two measurements, however slow the loop
FEEDBACK_FRAMES: Final = 2  # per motor and interval
FEEDBACK_SHARE: Final = 0.4  # of the bus, at most
QUIET: Final = 5 * LONGEST_INTERVAL * 1e-3  # [s] without feedback: the motor is disabled
NEAR_RAIL: Final = 0.97  # of the rail; a velocity beyond it may wrap to the other sign
_FEEDBACK: Final = (
    MessageType.FEEDBACK_0,
    MessageType.FEEDBACK_1,
    MessageType.FEEDBACK_2,
    MessageType.FEEDBACK_3,
)
# A wrong divisor scales a gain. Those measured, by gear for TA40-100: 689 and 1364 Nm/rad, 1.1 and
# 2.2 Nm s/rad; a slip of a decimal point, or an exchange of both, is a factor of 10 or more.
PLAUSIBLE: Final = {
    "stiffness_divisor": (200.0, 4000.0, "Nm/rad"),
    "damping_divisor": (0.3, 7.0, "Nm s/rad"),
}
_INT16: Final = np.iinfo(np.int16)
_INT32: Final = np.iinfo(np.int32)
_RAIL: Final = int(_INT16.max)  # of the velocity field, both ways
_FLOAT32: Final = float(np.finfo(np.float32).max)


class SitoFamily(MotorFamily):
    """See MotorFamily. The interval of the feedback follows from the loop's rate."""

    def __init__(self, settings: CanSettings) -> None:
        """Raises ConfigError for an unknown model or unknown divisors."""
        motors, models = settings.motors, settings.models(MODELS)
        self._ids = [motor.id for motor in motors]
        self._index = settings.motor_at()
        gear = np.array([MODELS[name].gear for name in models])
        self._torque_per_current = TORQUE_CONSTANT * gear  # [Nm/mA] at the output
        self._stiffness_divisor = _divisors(motors, models, "stiffness_divisor")
        self._damping_divisor = _divisors(motors, models, "damping_divisor")
        self._interval = _interval(settings)
        self._saturated = np.zeros(len(motors), dtype=np.bool_)
        self.feedback_rate = FEEDBACK_FRAMES * 1000.0 / self._interval
        # The documents give no torque limit; this is the wire's, and the URDF's is lower.
        self.effort_limit: FloatArray = self._torque_per_current * _INT16.max
        self.position_limit: FloatArray = np.full(
            len(motors), _INT32.max / OUTPUT_COUNTS.counts_per_radian
        )
        self.stiffness_limit: FloatArray = self._stiffness_divisor * _FLOAT32
        self.damping_limit: FloatArray = self._damping_divisor * _FLOAT32
        self.watchdog: FloatArray = np.full(len(motors), np.inf)  # none in the documents

    def commands(self, command: JointCommand) -> Sequence[CanFrame]:
        """See MotorFamily."""
        counts = OUTPUT_COUNTS.counts_per_radian
        wanted = (
            command.effort / self._torque_per_current,
            command.velocity * counts,
            command.position * counts,
        )
        fields, self._saturated = saturate(wanted, _LOW, _HIGH)
        return [
            (identifier(device, MessageType.COMMAND), Command(*row).encode())
            for device, row in zip(self._ids, fields, strict=True)
        ]

    def gains(self, command: JointCommand) -> Sequence[CanFrame]:
        """See MotorFamily."""
        stiffness = command.stiffness / self._stiffness_divisor
        damping = command.damping / self._damping_divisor
        return [
            (identifier(device, MessageType.GAINS), Gains(kp, kd).encode())
            for device, kp, kd in zip(self._ids, stiffness, damping, strict=True)
        ]

    def saturated(self) -> NDArray[np.bool_]:
        """See MotorFamily."""
        return self._saturated

    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        """See MotorFamily: a motor that is reset stops its feedback; it reports no faults."""
        request = (identifier(self._ids[motor], MessageType.RESET), RESET_PAYLOAD)
        return Exchange(motor, (request,), quiet=QUIET)

    def disabled_proof(self, motor: int) -> DisabledProof:
        """See MotorFamily: the feedback ends."""
        return DisabledProof(tuple(identifier(self._ids[motor], kind) for kind in _FEEDBACK))

    def preparing(self, motor: int) -> Sequence[Exchange]:
        """See MotorFamily: nothing."""
        return ()

    def enabling(self, motor: int) -> Exchange:
        """See MotorFamily. The motor then holds the position at which it was enabled."""
        device = self._ids[motor]
        mode = SelectMode(ControlMode.MIT, self._interval, self._interval, 0)
        request = (identifier(device, MessageType.SELECT_MODE), mode.encode())
        return Exchange(motor, (request,), self._both_feedbacks(device), again=QUIET)

    def decode(self, identifier: int, payload: bytes) -> Feedback:
        """See MotorFamily."""
        device, kind = parse_identifier(identifier)
        motor = self._index.get(device)
        if motor is None:
            raise ProtocolError(f"id {device} is no motor of this block")
        match kind:
            case MessageType.FEEDBACK_1:
                return self._feedback_1(motor, Feedback1.decode(payload))
            case MessageType.FEEDBACK_2:
                position = Feedback2.decode(payload).position / OUTPUT_COUNTS.counts_per_radian
                return Feedback(motor=motor, position=position)
            case MessageType.FEEDBACK_0 | MessageType.FEEDBACK_3:
                return Feedback(motor=motor)  # contents unknown
        raise ProtocolError(f"another sender of {kind.name} to id {device}: another host?")

    def _feedback_1(self, motor: int, raw: Feedback1) -> Feedback:
        return Feedback(
            motor=motor,
            velocity=raw.velocity / OUTPUT_COUNTS.counts_per_radian,
            effort=raw.current * float(self._torque_per_current[motor]),
            at_rail=abs(raw.velocity) >= NEAR_RAIL * _RAIL,
        )

    def _both_feedbacks(self, device: int) -> Judge:
        wanted = {
            identifier(device, MessageType.FEEDBACK_1),
            identifier(device, MessageType.FEEDBACK_2),
        }

        received = set()

        def judge(identifier: int, payload: bytes) -> str | None:
            if identifier not in wanted:
                return None
            received.add(identifier)
            return "" if received == wanted else None

        return judge


_LOW: Final = np.array([[-_INT16.max], [-_RAIL], [_INT32.min]], dtype=np.float64)
_HIGH: Final = np.array([[_INT16.max], [_RAIL], [_INT32.max]], dtype=np.float64)


def _interval(settings: CanSettings) -> int:
    """Return the feedback interval [ms]: the loop's period, if the bus has room for it."""
    period = int(1000.0 / settings.update_rate)
    bits = FEEDBACK_FRAMES * len(settings.motors) * LONGEST_FRAME
    shortest = math.ceil(1000.0 * bits / (FEEDBACK_SHARE * settings.bus.bitrate))
    return min(max(period, shortest), LONGEST_INTERVAL)


def _divisors(motors: Sequence[Motor], models: Sequence[str], name: str) -> FloatArray:
    return np.array([_divisor(m, model, name) for m, model in zip(motors, models, strict=True)])


def _divisor(motor: Motor, model: str, name: str) -> float:
    given = optional_positive(motor.parameters, name, motor.where)
    known: float | None = getattr(MODELS[model], name)
    if given is None and known is None:
        raise ConfigError(
            f"{motor.where}: no {name} of model {model} was ever measured: measure it and give it "
            f"as <param name='{name}'>"
        )
    least, most, unit = PLAUSIBLE[name]
    if given is not None and not least <= given <= most:
        raise ConfigError(
            f"{motor.where}: {name} is {given:g}, expected {least:g} to {most:g} {unit} per unit"
        )
    return given or known or 0.0


SITO: Final = FamilyKind(
    name="Sito",
    block_parameters={},
    joint_parameters={"stiffness_divisor": "", "damping_divisor": ""},
    build=SitoFamily,
)
