"""A motor family of the tests: 11-bit identifiers, commands of six bytes, no watchdog.

An identifier is `kind << 8 | id`. An enabled motor sends its feedback every 10 ms, a disabled one
nothing. The tests of humanoid_devices_can import the virtual robot from here only: it depends on
the families, so their base package cannot declare it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can import motor_protocol
from humanoid_devices_can.bus.bus import CanFrame
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.fields import pack, saturate, unpack
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, Feedback
from humanoid_devices_can.settings import CanSettings
from humanoid_twin.can.frame import CanFrame as TwinFrame
from humanoid_twin.can.motors.families import MOTOR_FAMILIES, MotorFamily
from humanoid_twin.can.motors.firmware import AMBIENT, FirmwareReport, Send

COMMAND, GAINS, ENABLE, FEEDBACK = range(1, 5)
UNIT: Final = 0.001  # rad, rad/s, Nm per count of a field
STIFFNESS_UNIT: Final = 0.1  # [Nm/rad] per count
DAMPING_UNIT: Final = 0.01  # [Nm s/rad] per count
THREE: Final = Struct(">hhh")  # position, velocity, effort
TWO: Final = Struct(">HH")  # stiffness, damping
INTERVAL: Final = 10  # [ms]
_MOST: Final = np.iinfo(np.int16).max


class ShortFamily(motor_protocol.MotorFamily):
    """See MotorFamily."""

    feedback_rate = 1000.0 / INTERVAL

    def __init__(self, settings: CanSettings) -> None:
        self._ids = [motor.id for motor in settings.motors]
        self._index = settings.motor_at()
        count = len(self._ids)
        self._saturated = np.zeros(count, dtype=np.bool_)
        self.position_limit: FloatArray = np.full(count, _MOST * UNIT)
        self.effort_limit: FloatArray = np.full(count, 32.0)
        self.stiffness_limit: FloatArray = np.full(count, 6000.0)
        self.damping_limit: FloatArray = np.full(count, 600.0)
        self.watchdog: FloatArray = np.full(count, np.inf)

    def commands(self, command: JointCommand) -> Sequence[CanFrame]:
        wanted = np.array((command.position, command.velocity, command.effort)) / UNIT
        fields, self._saturated = saturate(wanted, -_MOST, _MOST)
        return [
            (COMMAND << 8 | id_, pack(THREE, "command", *row))
            for id_, row in zip(self._ids, fields, strict=True)
        ]

    def gains(self, command: JointCommand) -> Sequence[CanFrame]:
        units = STIFFNESS_UNIT, DAMPING_UNIT
        return [
            (GAINS << 8 | id_, TWO.pack(*(round(x / u) for x, u in zip(row, units, strict=True))))
            for id_, *row in zip(self._ids, command.stiffness, command.damping, strict=True)
        ]

    def saturated(self) -> NDArray[np.bool_]:
        return self._saturated

    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        return Exchange(motor, ((ENABLE << 8 | self._ids[motor], b"\0"),), quiet=0.05)

    def disabled_proof(self, motor: int) -> DisabledProof:
        return DisabledProof((FEEDBACK << 8 | self._ids[motor],))

    def preparing(self, motor: int) -> Sequence[Exchange]:
        return ()

    def enabling(self, motor: int) -> Exchange:
        answer = FEEDBACK << 8 | self._ids[motor]
        request = ((ENABLE << 8 | self._ids[motor], b"\1"),)
        return Exchange(motor, request, lambda found, _: "" if found == answer else None)

    def decode(self, identifier: int, payload: bytes) -> Feedback:
        kind, id_ = divmod(identifier, 256)
        if kind != FEEDBACK or id_ not in self._index:
            raise ProtocolError(f"identifier 0x{identifier:03X} is not of a motor of this block")
        position, velocity, effort = (UNIT * x for x in unpack(THREE, "feedback", payload))
        return Feedback(motor=self._index[id_], position=position, velocity=velocity, effort=effort)


SHORT: Final = FamilyKind("Short", {}, {}, ShortFamily, extended=False)


class ShortSystem(CanSystem):
    kind = SHORT


@dataclass(frozen=True, slots=True)
class ShortParameters:
    torque: float = 20.0  # [Nm]


class ShortFirmware:
    """See Firmware."""

    extended = False

    def __init__(self, parameters: ShortParameters, device: int, send: Send) -> None:
        self._parameters, self._send = parameters, send
        self.device = device
        self.temperature = AMBIENT
        self.enable_time = 0.0
        self.boot()

    def boot(self) -> None:
        self.enabled, self._age = False, 0
        self._target = (0.0, 0.0, 0.0)
        self._gains = (0.0, 0.0)

    def accepts(self, identifier: int) -> bool:
        return identifier & 0xFF == self.device

    def handle(self, frame: TwinFrame) -> None:
        kind, data = frame.identifier >> 8, frame.data
        if kind == COMMAND and len(data) == THREE.size:
            position, velocity, effort = THREE.unpack(data)
            self._target = (UNIT * position, UNIT * velocity, UNIT * effort)
        elif kind == GAINS and len(data) == TWO.size:
            stiffness, damping = TWO.unpack(data)
            self._gains = (STIFFNESS_UNIT * stiffness, DAMPING_UNIT * damping)
        elif kind == ENABLE:  # also without a byte
            self.enabled = data == b"\1"

    def tick(self, position: float, velocity: float) -> float:
        if not self.enabled:
            return 0.0
        target, (stiffness, damping) = self._target, self._gains
        torque = stiffness * (target[0] - position) + damping * (target[1] - velocity) + target[2]
        torque = max(-self._parameters.torque, min(self._parameters.torque, torque))
        self._age += 1
        if self._age % INTERVAL == 0:
            fields = (round(value / UNIT) for value in (position, velocity, torque))
            self._send(FEEDBACK << 8 | self.device, THREE.pack(*fields))
        return torque

    def fault(self, bits: int) -> None:
        self.enabled = False

    def spring(self) -> tuple[float, float]:
        return self._gains[0] if self.enabled else 0.0, self._target[0]

    def report(self) -> FirmwareReport:
        return FirmwareReport(
            enabled=self.enabled,
            stiffness=self._gains[0],
            damping=self._gains[1],
            target_position=self._target[0],
            target_velocity=self._target[1],
            feedforward=self._target[2],
            faults=0,
        )


SHORT_MOTORS: Final = MotorFamily(ShortFirmware, {"short": ShortParameters()}, "short")


def remote_frame(identifier: int) -> TwinFrame:
    """Return a request for the data of an 11-bit identifier."""
    return TwinFrame(identifier, extended=False, requested=0)


def offer_short_motors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the family to the virtual robot's, for one test."""
    monkeypatch.setitem(MOTOR_FAMILIES, "short", SHORT_MOTORS)
