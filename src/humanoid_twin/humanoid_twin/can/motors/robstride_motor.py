"""The firmware of a Robstride motor."""

import logging
from typing import Final

from humanoid_devices_robstride.codec import (
    DEFAULT_HOST,
    PAYLOAD_BYTES,
    CommunicationType,
    Fault,
    FaultReport,
    FaultWarning,
    Mode,
    OperationControl,
    ProtocolError,
    ReadParameter,
    Status,
    StatusFault,
    WriteParameter,
    identifier,
    parse_identifier,
)
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.firmware import AMBIENT, TICK, FirmwareReport, Send
from humanoid_twin.can.motors.robstride_parameters import (
    TIMEOUT_UNIT,
    WARNS_BELOW,
    Memory,
    RobstrideParameters,
    SetPoint,
    decode_set_point,
    signed_to_raw,
)

_log = logging.getLogger(__name__)
_LIMP: Final = SetPoint(0.0, 0.0, 0.0, 0.0, 0.0)
_OPERATION_CONTROL: Final = 0  # run mode 0x7005; the others have commands of their own
_ANY_HOST: Final = 0xFE  # receiver of the answer to "get id" (public documentation)
_IN_STATUS: Final = {
    Fault.UNDERVOLTAGE: StatusFault.UNDERVOLTAGE,
    Fault.GATE_DRIVER: StatusFault.GATE_DRIVER,
    Fault.OVER_TEMPERATURE: StatusFault.OVER_TEMPERATURE,
    Fault.STALL: StatusFault.STALL_OVERLOAD,
    Fault.UNCALIBRATED: StatusFault.UNCALIBRATED,
}  # the status frame has no bit for overvoltage, the report none for the encoder
_NO_FAULT: Final = StatusFault(0)


def _in_status(faults: int) -> StatusFault:
    """Return the bits of a status frame for those of the fault report."""
    found = _NO_FAULT
    for bit, shown in _IN_STATUS.items():
        if faults & bit:
            found |= shown
    return found


class RobstrideFirmware:
    """A `Firmware`: enable, disable, operation control (MIT), parameters, faults.

    Each request is answered with a status frame, at once (assumed). After enabling the motor is
    limp until the first command (assumed). Faults disable it and last until a disable request that
    clears them finds their cause gone.
    """

    extended = True

    def __init__(self, parameters: RobstrideParameters, device: int, send: Send) -> None:
        self._parameters, self._send = parameters, send
        self.device = device
        self.temperature = AMBIENT
        self.enable_time = 0.0
        self._memory = Memory(parameters)
        self._position = self._velocity = 0.0  # [rad], [rad/s] of the last tick, before the zero
        self._host = DEFAULT_HOST
        self.boot()

    def boot(self) -> None:
        """See Firmware. Saved values stay."""
        self._memory.restore()
        self._turns: float | None = None  # [rad] forgotten as it woke up; None until a tick
        self._origin = 0.0  # [rad]: the angle that counts as 0
        self._report_age = 0  # [ticks] since it reported by itself
        self._faults = self._warnings = 0
        self._reset()

    @property
    def enabled(self) -> bool:
        """True if it is in run mode."""
        return self._mode is Mode.RUN

    # Frames.

    def accepts(self, identifier: int) -> bool:
        """See Firmware."""
        return identifier & 0xFF == self.device

    def handle(self, frame: CanFrame) -> None:
        """See Firmware."""
        try:
            type, extra, _ = parse_identifier(frame.identifier)
            if len(frame.data) != PAYLOAD_BYTES:
                raise ProtocolError(f"{type.name} with {len(frame.data)} bytes")
            self._silence = 0
            self._dispatch(type, extra, frame)
        except ProtocolError as error:
            _log.debug("Robstride %d ignores a frame: %s", self.device, error)

    def _dispatch(self, type: CommunicationType, extra: int, frame: CanFrame) -> None:
        if type is CommunicationType.OPERATION_CONTROL:
            request = OperationControl.decode(frame.identifier, frame.data)
            if self.enabled and self._memory.values.run_mode == _OPERATION_CONTROL:
                self._target = decode_set_point(request, self._parameters)
            self._answer()
            return
        self._host = extra & 0xFF
        if type is CommunicationType.ENABLE:
            self._enable_delay = round(self.enable_time / TICK)
            self._enabling = not self._faults
            self._enable_if_time()
        elif type is CommunicationType.DISABLE:
            if frame.data[0]:
                self._clear_faults()
            self._reset()
            self._answer()
        else:
            self._parameter_request(type, frame)

    def _parameter_request(self, type: CommunicationType, frame: CanFrame) -> None:
        memory = self._memory
        if type is CommunicationType.SET_ZERO:
            memory.change(zero=self._position)
            self._turns = 0.0
            self._find_origin()
            self._answer()
        elif type is CommunicationType.WRITE_PARAMETER:
            request = WriteParameter.decode(frame.identifier, frame.data)
            memory.write(request.parameter, request.value)
            self._find_origin()
            self._answer()
        elif type is CommunicationType.READ_PARAMETER:
            read = ReadParameter.decode(frame.identifier, frame.data)
            value = memory.read(read.parameter)
            sender = self.device | (value is None) << 8
            answer = ReadParameter(sender, self._host, read.parameter, value or bytes(4))
            self._send(*answer.encode())
        elif type is CommunicationType.SAVE:
            memory.save()
            self._answer()
        elif type is CommunicationType.ACTIVE_REPORT:  # without an answer (assumed)
            memory.change(reports=frame.data[6] == 1)
        elif type is CommunicationType.GET_ID:
            serial = b"TWIN" + self.device.to_bytes(4, "big")
            self._send(identifier(CommunicationType.GET_ID, self.device, _ANY_HOST), serial)

    def _answer(self) -> None:
        limits = self._parameters
        status = Status(
            self.device,
            self._host,
            _in_status(self._faults) if self._faults else _NO_FAULT,
            self._mode,
            signed_to_raw(self._position - self._origin, limits.position),
            signed_to_raw(self._velocity, limits.velocity),
            signed_to_raw(self._torque, limits.torque),
            max(0, min(0xFFFF, round(10 * self.temperature))),
        )
        self._send(*status.encode())

    # The loop.

    def tick(self, position: float, velocity: float) -> float:
        """See Firmware."""
        self._position, self._velocity = position, velocity
        if self._turns is None:
            self._turns = self._memory.turns_at(position)
            self._find_origin()
        self._silence += 1
        if self._memory.values.reports:
            self._report_age += 1
            if self._report_age >= 5 + 5 * self._memory.values.report_period:
                self._report_age = 0
                self._answer()
        self._check_temperature()
        if self._enabling:
            self._enable_delay -= 1
            self._enable_if_time()
        if not self.enabled:
            self._torque = 0.0
            return 0.0
        timeout = self._memory.values.timeout * TIMEOUT_UNIT / TICK
        if timeout and self._silence > timeout:
            self._reset()
            return 0.0
        target, limit = self._target, self._memory.torque
        torque = (
            target.stiffness * (target.position - (position - self._origin))
            + target.damping * (target.velocity - velocity)
            + target.torque
        )
        self._torque = max(-limit, min(limit, torque))
        return self._torque

    def _find_origin(self) -> None:
        values = self._memory.values
        self._origin = values.zero + (self._turns or 0.0) - values.added_offset

    def _check_temperature(self) -> None:
        hottest = self._parameters.hottest
        if self.temperature > hottest:
            self.fault(Fault.OVER_TEMPERATURE)
        warnings = FaultWarning.OVER_TEMPERATURE if self.temperature > hottest - WARNS_BELOW else 0
        if warnings != self._warnings:
            self._warnings = int(warnings)
            self._report_faults()

    def fault(self, bits: int) -> None:
        """See Firmware. Bits are those of the fault report."""
        if bits & ~self._faults:
            self._faults |= bits
            self._reset()
            self._report_faults()

    def _clear_faults(self) -> None:
        if self._faults:
            self._faults = 0
            self._check_temperature()
            if not self._faults:
                self._report_faults()

    def _report_faults(self) -> None:
        report = FaultReport(self.device, self._host, self._faults, self._warnings)
        self._send(*report.encode())

    def _enable_if_time(self) -> None:
        if not self._enabling:
            self._answer()  # not while a fault lasts, by the mode bits
        elif self._enable_delay <= 0:
            self._enabling = False
            if not self.enabled:
                self._mode, self._target = Mode.RUN, _LIMP
            self._answer()

    def _reset(self) -> None:
        self._mode = Mode.RESET
        self._target = _LIMP
        self._torque = 0.0  # [Nm]
        self._enabling = False
        self._enable_delay = 0  # [ticks] until it is enabled
        self._silence = 0  # [ticks] since the last frame for it

    def spring(self) -> tuple[float, float]:
        """See Firmware."""
        if not self.enabled:
            return 0.0, 0.0
        return self._target.stiffness, self._target.position + self._origin

    def report(self) -> FirmwareReport:
        """See Firmware."""
        target = self._target
        return FirmwareReport(
            enabled=self.enabled,
            stiffness=target.stiffness,
            damping=target.damping,
            target_position=target.position + self._origin,
            target_velocity=target.velocity,
            feedforward=target.torque,
            faults=self._faults,
        )
