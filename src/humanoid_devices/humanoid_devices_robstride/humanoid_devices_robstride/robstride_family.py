"""Codec of Robstride motors: SI units at the output to raw fields and back."""

import logging
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.hardware.block_parameters import integer
from humanoid_devices_can.bus.bus import CanFrame
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.fields import saturate
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, Feedback, Judge, MotorFamily
from humanoid_devices_can.reason_codes import (
    MOTOR_DEFECT,
    MOTOR_FAULT,
    OVERVOLTAGE,
    STALL_OVERLOAD,
    TEMPERATURE_LIMIT,
    UNDERVOLTAGE,
)
from humanoid_devices_can.settings import CanSettings, Motor
from humanoid_devices_robstride.codec import (
    DEFAULT_HOST,
    CommunicationType,
    Fault,
    FaultReport,
    FaultWarning,
    Mode,
    OperationControl,
    ParameterId,
    ReadParameter,
    Status,
    StatusFault,
    disable,
    enable,
    parse_identifier,
    reset_status,
    unpack_float,
)
from humanoid_devices_robstride.firmware_limits import (
    JOINT_PARAMETERS,
    parse_limits,
    setting,
    watchdog_time,
)
from humanoid_devices_robstride.models import MODELS, POSITION

logger = logging.getLogger(__name__)

_CENTRE: Final = 32767.0  # of a signed field: (x / limit + 1) * 32767
_FULL: Final = 65535.0  # of an unsigned field: x / limit * 65535
_SHIFT: Final = np.array([[1.0], [1.0], [1.0], [0.0], [0.0]])  # of a command's five fields
_FACTOR: Final = np.array([[_CENTRE], [_CENTRE], [_CENTRE], [_FULL], [_FULL]])
_DEGREES: Final = 0.1  # [°C] per unit of temperature
_HOT: Final = StatusFault.OVER_TEMPERATURE


class RobstrideFamily(MotorFamily):
    """See MotorFamily. A motor answers each command with its status; commands carry the gains."""

    feedback_rate = 0.0

    def __init__(self, settings: CanSettings) -> None:
        """Raises ConfigError for an impossible model, host id or limit."""
        models = [MODELS[name] for name in settings.models(MODELS)]
        self._ids = [motor.id for motor in settings.motors]
        self._names = [str(motor) for motor in settings.motors]
        self._offsets = [0.0] * len(models)  # [rad] that the motors add by themselves
        self._index = settings.motor_at()
        self._host = integer(settings.parameters, "host_id", settings.where, 0xFF)
        _refuse_host(settings.motors, self._host)
        self._limits = [
            parse_limits(motor, model.torque, settings.update_rate)
            for motor, model in zip(settings.motors, models, strict=True)
        ]
        self._velocity = np.array([model.velocity for model in models])
        self._torque = np.array([model.torque for model in models])
        self.position_limit: FloatArray = np.full(len(models), POSITION)
        self.stiffness_limit: FloatArray = np.array([model.stiffness for model in models])
        self.damping_limit: FloatArray = np.array([model.damping for model in models])
        self.effort_limit: FloatArray = np.array(
            [
                limits.get(ParameterId.TORQUE_LIMIT, model.torque)
                for limits, model in zip(self._limits, models, strict=True)
            ]
        )
        self.watchdog: FloatArray = np.array([watchdog_time(limits) for limits in self._limits])
        self._ranges: FloatArray = np.array(  # of a command's fields, (5, motors)
            [
                self.position_limit,
                self._velocity,
                self._torque,
                self.stiffness_limit,
                self.damping_limit,
            ]
        )
        self._largest = [(float(m.velocity), float(m.torque)) for m in models]
        self._saturated = np.zeros(len(models), dtype=np.bool_)

    def commands(self, command: JointCommand) -> Sequence[CanFrame]:
        """See MotorFamily."""
        wanted = (command.array / self._ranges + _SHIFT) * _FACTOR
        fields, self._saturated = saturate(wanted, 0.0, _FULL)
        return [
            OperationControl(*row).encode(device)
            for device, row in zip(self._ids, fields, strict=True)
        ]

    def gains(self, command: JointCommand) -> Sequence[CanFrame]:
        """See MotorFamily: none, the commands carry them."""
        return ()

    def saturated(self) -> NDArray[np.bool_]:
        """See MotorFamily."""
        return self._saturated

    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        """See MotorFamily."""
        request = disable(self._host, self._ids[motor], clear_faults=clear_faults)
        return Exchange(motor, (request,), self._reaches(motor, Mode.RESET))

    def disabled_proof(self, motor: int) -> DisabledProof:
        """See MotorFamily: the identifier of a status states that the motor is reset."""
        return DisabledProof(answer=reset_status(self._host, self._ids[motor]))

    def preparing(self, motor: int) -> Sequence[Exchange]:
        """See MotorFamily: run mode and firmware limits."""
        return setting(motor, self._ids[motor], self._host, self._limits[motor])

    def enabling(self, motor: int) -> Exchange:
        """See MotorFamily."""
        if self._offsets[motor]:
            logger.warning(
                "%s: another program has set its add_offset (0x702B) to %g rad: its calibration "
                "is right only if it was made with that",
                self._names[motor],
                self._offsets[motor],
            )
        request = (enable(self._host, self._ids[motor]),)
        return Exchange(motor, request, self._reaches(motor, Mode.RUN))

    def decode(self, identifier: int, payload: bytes) -> Feedback:
        """See MotorFamily."""
        kind, _, device = parse_identifier(identifier)
        match kind:
            case CommunicationType.STATUS:
                status = Status.decode(identifier, payload)
                if status.host != self._host:
                    raise ProtocolError(f"a status for host {status.host}: another host?")
                return self._status(status)
            case CommunicationType.FAULT_REPORT:
                return self._fault_report(FaultReport.decode(identifier, payload))
            case CommunicationType.READ_PARAMETER if device == self._host:
                answer = ReadParameter.decode(identifier, payload)
                motor = self._motor(answer.sender & 0xFF)
                if answer.parameter == ParameterId.ADD_OFFSET and not answer.refused:
                    self._offsets[motor] = unpack_float(answer.value)
                return Feedback(motor=motor)
        raise ProtocolError(f"another sender of {kind.name} to id {device}: another host?")

    def _motor(self, device: int) -> int:
        motor = self._index.get(device)
        if motor is None:
            raise ProtocolError(f"id {device} is no motor of this block")
        return motor

    def _status(self, raw: Status) -> Feedback:
        motor = self._motor(raw.device)
        velocity, torque = self._largest[motor]
        return Feedback(
            motor=motor,
            position=(raw.position / _CENTRE - 1.0) * POSITION,
            velocity=(raw.velocity / _CENTRE - 1.0) * velocity,
            effort=(raw.torque / _CENTRE - 1.0) * torque,
            enabled=raw.mode == Mode.RUN,
            fault=_reason(raw.faults) if raw.faults else NO_REASON,
            hot=bool(raw.faults & _HOT),
            temperature_celsius=raw.temperature * _DEGREES,
        )

    def _fault_report(self, raw: FaultReport) -> Feedback:
        return Feedback(
            motor=self._motor(raw.device),
            report=_reason(Fault(raw.faults)),
            warned=bool(raw.warnings & FaultWarning.OVER_TEMPERATURE),
        )

    def _reaches(self, motor: int, mode: Mode) -> Judge:
        def judge(identifier: int, payload: bytes) -> str | None:
            if parse_identifier(identifier)[0] is not CommunicationType.STATUS:
                return None
            status = Status.decode(identifier, payload)
            if (status.device, status.host) != (self._ids[motor], self._host):
                return None
            if mode is Mode.RUN and status.faults:
                return f"can't be enabled: {_in_words(status.faults)}"
            return "" if status.mode == mode else None

        return judge


def _refuse_host(motors: Sequence[Motor], host: int) -> None:
    """Raise ConfigError for a motor with the host's id: it would take answers for requests."""
    for motor in motors:
        if motor.id == host:
            raise ConfigError(
                f"{motor.where}: can_id {host} is the host_id of the block: give one of them "
                "another number"
            )


_CODES: Final = {
    StatusFault.UNDERVOLTAGE: UNDERVOLTAGE,
    StatusFault.GATE_DRIVER: MOTOR_DEFECT,
    StatusFault.OVER_TEMPERATURE: TEMPERATURE_LIMIT,
    StatusFault.MAGNETIC_ENCODER: MOTOR_DEFECT,
    StatusFault.STALL_OVERLOAD: STALL_OVERLOAD,
    StatusFault.UNCALIBRATED: MOTOR_DEFECT,
}
_REPORT_CODES: Final = {
    Fault.OVER_TEMPERATURE: TEMPERATURE_LIMIT,
    Fault.GATE_DRIVER: MOTOR_DEFECT,
    Fault.UNDERVOLTAGE: UNDERVOLTAGE,
    Fault.OVERVOLTAGE: OVERVOLTAGE,
    Fault.UNCALIBRATED: MOTOR_DEFECT,
    Fault.STALL: STALL_OVERLOAD,
}


def _reason(faults: StatusFault | Fault) -> Reason:
    """Return the set bits as a reason; a bit without a name is a MOTOR_FAULT."""
    if not faults:
        return NO_REASON
    table = _CODES if isinstance(faults, StatusFault) else _REPORT_CODES
    found = {int(flag): code for flag, code in table.items()}
    bits = [1 << bit for bit in range(32) if faults >> bit & 1]
    codes = dict.fromkeys(found.get(bit, MOTOR_FAULT).name for bit in bits)
    return Reason(_in_words(faults), tuple(codes))


def _in_words(faults: StatusFault | Fault) -> str:
    """Return the names of the set bits; a number for bits without a name."""
    return ", ".join(
        flag.name.lower().replace("_", " ") if flag.name else f"fault 0x{flag.value:X}"
        for flag in (type(faults)(1 << bit) for bit in range(32) if faults >> bit & 1)
    )


ROBSTRIDE: Final = FamilyKind(
    name="Robstride",
    block_parameters={"host_id": f"0x{DEFAULT_HOST:02X}"},
    joint_parameters=JOINT_PARAMETERS,
    build=RobstrideFamily,
)
