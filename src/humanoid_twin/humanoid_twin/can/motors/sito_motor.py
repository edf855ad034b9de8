"""The firmware of a Sito motor: the MIT law, its frames, and its parameters."""

import logging
import math
from dataclasses import dataclass
from typing import Final

from humanoid_devices_sito.codec import (
    PAYLOAD_BYTES,
    PREFIX,
    Command,
    ControlMode,
    Feedback1,
    Feedback2,
    Gains,
    MessageType,
    ProtocolError,
    SelectMode,
    identifier,
    parse_identifier,
)
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.firmware import AMBIENT, TICK, FirmwareReport, Send

_log = logging.getLogger(__name__)

COUNTS_PER_RADIAN: Final = 65536 / math.tau  # at the output (actuator documents)
_GEAR: Final = 51.0  # of the motor the units were measured on


@dataclass(frozen=True, slots=True, kw_only=True)
class SitoParameters:
    """One model. Facts that no document states are marked: assumed, confirm on hardware."""

    gear: float  # motor turns per output turn (actuator documents)
    torque_constant: float = 9e-5  # [Nm/mA] at the motor (actuator documents)
    # Effect at the output of one unit of the firmware's gains, measured on a TA40-50 (actuator
    # documents). The law is in counts and mA, so with another gear it scales: assumed.
    stiffness_unit: float = 688.58  # [Nm/rad]
    damping_unit: float = 1.125  # [Nm s/rad]
    current_limit: float = 5000.0  # [mA], 23 Nm at gear 51; assumed, confirm on hardware
    factory_stiffness: float = 0.05  # [units] after power-up; assumed, confirm on hardware
    factory_damping: float = 2.0  # [units] after power-up; assumed, confirm on hardware
    temperature_limit: float = 100.0  # [°C] above it the motor disables itself; assumed

    @property
    def torque_per_current(self) -> float:
        """Torque at the output for one mA [Nm/mA]."""
        return self.torque_constant * self.gear


SITO_MODELS: Final = {
    "TA40-50": SitoParameters(gear=_GEAR),
    "TA40-100": SitoParameters(
        gear=101.0, stiffness_unit=688.58 * 101 / _GEAR, damping_unit=1.125 * 101 / _GEAR
    ),
}


_DISABLED: Final = SelectMode(0, 0, 0, 0)


class SitoFirmware:
    """A `Firmware`: the MIT law in counts and mA, feedback at the requested intervals.

    Gains survive RESET and SELECT_MODE, not a loss of power. After enabling the motor holds
    its position until the first command (assumed); without commands it keeps the last one: the
    documents name no watchdog. With a fault, over-temperature included, it disables itself and
    sends nothing, since no message for faults is documented (assumed).
    """

    extended = True

    def __init__(self, parameters: SitoParameters, device: int, send: Send) -> None:
        self._parameters, self._send = parameters, send
        self.device = device
        self.temperature = AMBIENT
        self.enable_time = 0.0
        self._wanted: SelectMode | None = None
        per_count = 1 / (COUNTS_PER_RADIAN * parameters.torque_per_current)
        self._stiffness_unit = parameters.stiffness_unit * per_count  # [mA/count]
        self._damping_unit = parameters.damping_unit * per_count  # [mA per count/s]
        self._torque_per_current = parameters.torque_per_current  # [Nm/mA]
        self.boot()

    def boot(self) -> None:
        """See Firmware."""
        parameters = self._parameters
        self._gains = Gains(parameters.factory_stiffness, parameters.factory_damping)
        self._use_gains()
        self._faults = 0
        self._disable()

    @property
    def enabled(self) -> bool:
        """True if the motor gives torque."""
        return self._mode is not _DISABLED

    def accepts(self, identifier: int) -> bool:
        """See Firmware."""
        return identifier >> 8 == PREFIX >> 8 | self.device

    def handle(self, frame: CanFrame) -> None:
        """See Firmware."""
        try:
            _, type = parse_identifier(frame.identifier)
            if len(frame.data) != PAYLOAD_BYTES:
                raise ProtocolError(f"{type.name} with {len(frame.data)} bytes")
            self._dispatch(type, frame.data)
        except ProtocolError as error:
            _log.debug("Sito %d ignores a frame: %s", self.device, error)

    def _dispatch(self, type: MessageType, payload: bytes) -> None:
        if type is MessageType.COMMAND:
            # Position mode has messages of its own, which the documents lack.
            if self._mode.mode == ControlMode.MIT:
                self._target = Command.decode(payload)
        elif type is MessageType.GAINS:
            gains = Gains.decode(payload)
            if math.isfinite(gains.stiffness) and math.isfinite(gains.damping):
                self._gains = gains
                self._use_gains()
        elif type is MessageType.SELECT_MODE:
            wanted = SelectMode.decode(payload)
            if wanted.mode in (ControlMode.POSITION, ControlMode.MIT) and not self._faults:
                self._wanted = wanted
                self._enable_delay = round(self.enable_time / TICK)
        elif type is MessageType.RESET:
            self._faults = 0
            self._disable()

    def tick(self, position: float, velocity: float) -> float:
        """See Firmware."""
        if self._wanted is None and self._mode is _DISABLED:
            return 0.0
        counts = round(position * COUNTS_PER_RADIAN)
        speed = round(velocity * COUNTS_PER_RADIAN)
        if self.temperature > self._parameters.temperature_limit:
            self.fault(1)
        if self._wanted is not None:
            self._enable(self._wanted, counts)
        if self._mode is _DISABLED:
            return 0.0
        target, limit = self._target, self._parameters.current_limit
        current = (
            self._stiffness * (target.position - counts)
            + self._damping * (target.velocity - speed)
            + target.current
        )
        if current > limit:
            current = limit
        elif current < -limit:
            current = -limit
        self._age += 1
        if self._interval and self._age % self._interval == 0:
            self._feed_back(round(current), speed, counts)
        return current * self._torque_per_current

    def fault(self, bits: int) -> None:
        """See Firmware. The bits are the twin's own; RESET clears them (assumed)."""
        self._faults |= bits
        if self._faults:
            self._disable()

    def spring(self) -> tuple[float, float]:
        """See Firmware."""
        if self._mode is _DISABLED:
            return 0.0, 0.0
        stiffness = self._gains.stiffness * self._parameters.stiffness_unit
        return stiffness, self._target.position / COUNTS_PER_RADIAN

    def report(self) -> FirmwareReport:
        """See Firmware."""
        parameters, target = self._parameters, self._target
        return FirmwareReport(
            enabled=self.enabled,
            stiffness=self._gains.stiffness * parameters.stiffness_unit,
            damping=self._gains.damping * parameters.damping_unit,
            target_position=target.position / COUNTS_PER_RADIAN,
            target_velocity=target.velocity / COUNTS_PER_RADIAN,
            feedforward=target.current * parameters.torque_per_current,
            faults=self._faults,
        )

    def _use_gains(self) -> None:
        self._stiffness = self._gains.stiffness * self._stiffness_unit  # [mA/count]
        self._damping = self._gains.damping * self._damping_unit  # [mA per count/s]

    def _disable(self) -> None:
        self._mode = _DISABLED
        self._wanted = None
        self._enable_delay = 0  # [ticks] until it is enabled
        self._target = Command(0, 0, 0)
        self._age = 0  # [ms] since it was enabled
        self._interval = 0  # [ms] that divides those of all feedback; 0: none is wanted

    def _enable(self, wanted: SelectMode, counts: int) -> None:
        if self._enable_delay:
            self._enable_delay -= 1
            return
        if self._mode.mode != wanted.mode:
            self._target = Command(0, 0, counts)
        self._mode, self._wanted = wanted, None
        self._age = 0
        self._interval = math.gcd(wanted.feedback_1, wanted.feedback_2, wanted.feedback_3)

    def _feed_back(self, current: int, speed: int, counts: int) -> None:
        mode, age = self._mode, self._age
        if mode.feedback_1 and age % mode.feedback_1 == 0:
            # Values beyond a field wrap, as a cast in the firmware does (assumed).
            moving = Feedback1(_wrapped(current, 16), _wrapped(speed, 16))
            self._send(identifier(self.device, MessageType.FEEDBACK_1), moving.encode())
        if mode.feedback_2 and age % mode.feedback_2 == 0:
            place = Feedback2(_wrapped(counts, 32))
            self._send(identifier(self.device, MessageType.FEEDBACK_2), place.encode())
        if mode.feedback_3 and age % mode.feedback_3 == 0:
            self._send(identifier(self.device, MessageType.FEEDBACK_3), bytes(8))  # not documented


def _wrapped(value: int, bits: int) -> int:
    half = 1 << bits - 1
    return (value + half) % (2 * half) - half
