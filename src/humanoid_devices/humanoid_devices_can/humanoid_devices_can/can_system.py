"""The motors of one CAN bus as a hardware component, for any motor family."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.hardware_component import (
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
    uniform_capabilities,
)
from humanoid_devices_can.bus.bus import EMPTY_EXTENDED_FRAME, EMPTY_FRAME, CanFrame
from humanoid_devices_can.diagnostics import COUNTED, CanDiagnostics, ComponentValues, counts
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.joint_frame import JointFrame
from humanoid_devices_can.motor_monitor import MotorMonitor
from humanoid_devices_can.motor_protocol import FamilyKind
from humanoid_devices_can.session.bus_lifecycle import BusLifecycle
from humanoid_devices_can.session.session import Session
from humanoid_devices_can.session.transmit_queue import GainsItem, Item, Kind, SentGains
from humanoid_devices_can.settings import SHORTEST_TIMEOUT, parse_settings
from humanoid_devices_can.timing import Timing

# [Hz] of a loop that receives and sends itself. The time of a measurement is that of `read` then,
# so it is late by up to a period.
FAST: Final = 240.0
# An effort whose measurement is older is not compared with the commands.
OLD: Final = 0.05  # [s]
OLD_PERIODS: Final = 2.0  # of a slow loop


class CanSystem(HardwareComponent):
    """The joints of one <ros2_control> block, each a motor that runs the MIT law itself.

    Two threads do the I/O, and the loop's `read` and `write` exchange values with them; of a fast
    loop they do it themselves. They never wait, and a lost adapter is reported, not raised.
    """

    kind: ClassVar[FamilyKind]  # of all motors: what a subclass names

    def __init__(self, timing: Timing | None = None, host: CanHost | None = None) -> None:
        self._host = host or CanHost()
        self._timing, self._clock = timing or Timing(), self._host.machine.clock

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError."""
        kind = self.kind
        self._settings = settings = parse_settings(
            info, kind.block_parameters, kind.joint_parameters, extended=kind.extended
        )
        self._family = kind.build(settings)
        self._check_load()
        self._check_watchdogs(1.0 / info.update_rate)
        self._check_positions()
        self._check_limits()
        self._all = range(len(settings.motors))
        self._capabilities = uniform_capabilities(len(self._all), Capability.PER_TICK)
        self._effort_limit = np.minimum(settings.limits.effort, self._family.effort_limit)
        self._frame = JointFrame(settings.calibration)
        self._monitor = self._new_monitor()
        self._lifecycle = BusLifecycle(
            settings, self._family, self._frame, self._timing, self._host
        )
        self._diagnostics = CanDiagnostics(settings, self._timing, self._clock)
        self._lower = JointCommand(len(self._all))  # the lower of old and new gains
        self.saturations = np.zeros(len(self._all), dtype=np.int64)  # commands, by motor
        self._saturated_at = np.full(len(self._all), -np.inf)
        self._measured_at = np.full(len(self._all), -np.inf)
        self._sample_age = 0.0
        self._oldest = max(OLD, OLD_PERIODS / info.update_rate)  # [s]
        self._serves_itself = info.update_rate >= FAST

    def _check_load(self) -> None:
        """Raise ConfigError for a bus that can't carry commands and feedback, or answers.

        Frames count without stuff bits, those of the motors without data: an accepted bus may
        still be full.
        """
        settings, family = self._settings, self._family
        empty = EMPTY_EXTENDED_FRAME if settings.bus.extended else EMPTY_FRAME
        commands = family.commands(JointCommand(len(settings.motors)))
        answers = 0 if family.feedback_rate else len(commands)
        bits = empty * (len(commands) + answers) + 8 * sum(len(data) for _, data in commands)
        feedback = empty * family.feedback_rate * len(commands)  # [bit/s]
        highest = max(settings.bus.bitrate - feedback, 0.0) / bits
        if settings.update_rate > highest:
            beside = f", beside {feedback:.0f} bit/s of their feedback," if feedback else ""
            raise ConfigError(
                f"{settings.where}: {settings.bus} at {settings.bus.bitrate} bit/s has room for "
                f"the commands of {len(commands)} motors{beside} {highest:.0f} times a second at "
                f"most, but the update rate is {settings.update_rate:g} Hz: lower it, or use more "
                "buses"
            )

    def _check_watchdogs(self, period: float) -> None:
        """Raise ConfigError for a motor whose watchdog would expire between two commands."""
        least = max(2.0 * self._timing.keep_alive, SHORTEST_TIMEOUT * period)
        for motor, watchdog in zip(self._settings.motors, self._family.watchdog, strict=True):
            if not watchdog >= least:  # NaN, too
                raise ConfigError(
                    f"{motor.where}: the watchdog of model {motor.model} expires after "
                    f"{watchdog:g} s without a command, expected {least:g} s or more: raise the "
                    "update rate or the motor's own time"
                )

    def _check_positions(self) -> None:
        """Raise ConfigError for a joint whose range the wire can't carry.

        The measured position would saturate while the joint moves.
        """
        settings, most = self._settings, self._family.position_limit
        calibration, limits = settings.calibration, settings.limits
        ends = [calibration.position_to_raw(end) for end in (limits.lower, limits.upper)]
        for i in np.flatnonzero(np.abs(ends).max(axis=0) > most).tolist():
            raise ConfigError(
                f"{settings.motors[i].where}: homing_offset is {calibration.homing_offset[i]:g} "
                f"rad, which puts a part of the joint's range beyond the ±{most[i]:.2f} rad that "
                "the motor can tell: calibrate it again"
            )

    def _check_limits(self) -> None:
        """Raise ConfigError for a joint whose limits the wire can't carry.

        Commands would be cut, and the checks that are shares of these limits would never act.
        """
        settings = self._settings
        for name, unit, limits in (
            ("velocity", "rad/s", settings.limits.velocity),
            ("effort", "Nm", settings.limits.effort),
        ):
            command = JointCommand(len(limits))
            getattr(command, name)[:] = limits
            self._family.commands(command)
            for i in np.flatnonzero(self._family.saturated()).tolist():
                motor = settings.motors[i]
                raise ConfigError(
                    f"{motor.where}: its {name} limit in the description is {limits[i]:g}, more "
                    f"than a frame of {motor.model} can carry: is it in {unit}? Lower it to what "
                    "the motor can do"
                )

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        """See HardwareComponent. Raises ConfigError."""
        for name, unit, value, limits in (
            ("stiffness", "Nm/rad", stiffness, self._family.stiffness_limit),
            ("damping", "Nm s/rad", damping, self._family.damping_limit),
        ):
            for i in np.flatnonzero(value > limits).tolist():
                motor = self._settings.motors[i]
                raise ConfigError(
                    f"{where}: {name} is {value:g} {unit}, but {motor.joint} ({motor.model}) "
                    f"takes at most {limits[i]:g}"
                )

    def on_activate(self, state: JointState) -> None:
        """See HardwareComponent: returns with all motors enabled, gains 0.

        Raises InterfaceError, AdapterLostError or MotorError, which names the motors that may be
        enabled nevertheless.
        """
        self._monitor = self._new_monitor()
        session = self._lifecycle.start()
        self._frame.measure(session.states, state)
        self._measured_at[:] = self._clock()  # an enabled motor has sent its state

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent. A silent motor keeps its last state."""
        session, lifecycle = self._active(), self._lifecycle
        session.receive_here(alone=self._serves_itself)
        self._monitor.guard = lifecycle.check_guard(session, self._monitor.silent)
        self._frame.measure(session.states, state)
        self._monitor.unguarded = lifecycle.keep_guard()
        time = self._clock()
        measured_at = np.array([it.measured_at for it in session.states])
        np.maximum(self._measured_at, measured_at, out=self._measured_at)  # across sessions
        self._sample_age = time - float(self._measured_at.min(initial=time))
        efforts = self._monitor.efforts
        if efforts.is_due(time):
            efforts.compare(state, self._doubtful(session, time - measured_at), time)
        recent = np.flatnonzero(self._saturated_at > time - self._timing.recent)
        self._monitor.update(session, time, recent.tolist())

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent. Gains fall before the command and rise after it.

        Otherwise a motor would multiply a new gain by an old error, or an old gain by a new one.
        """
        session, time = self._active(), self._clock()
        self._monitor.efforts.commanded(command)
        raw = self._frame.to_motors(command)
        commands = self._family.commands(raw)
        self._count_saturation(time)
        if session.idle:  # the loop begins: the queue holds keep-alive frames only
            session.idle = False
            session.transmit_queue.clear()
        falling, rising = self._due_gains(session.gains, raw, time)
        items = [
            item
            for item in (
                *falling,
                *(Item(Kind.COMMAND, i, frame, time) for i, frame in enumerate(commands)),
                *rising,
            )
            if item.motor not in self._lifecycle.paused
        ]
        if self._serves_itself:
            session.send_here(items)
        else:
            session.transmit_queue.put(items)
        if session.sends:
            self._lifecycle.guard.feed()

    def on_deactivate(self) -> None:
        """See HardwareComponent. Raises HardwareError naming what may still be enabled."""
        self._lifecycle.stop(self._monitor.silent)

    @property
    def exit_check(self) -> str:
        """See HardwareComponent."""
        return "every motor confirmed that it is disabled"

    def capabilities(self) -> CapabilityArray:
        """See HardwareComponent: all five interfaces act per tick."""
        return self._capabilities

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """See HardwareComponent: the lower of the URDF's, the model's and the firmware's limit."""
        return self._effort_limit

    def safety(self) -> SafetyReport:
        """See HardwareComponent."""
        return self._monitor.report

    def diagnose(self) -> Sequence[Diagnosis]:
        """See HardwareComponent."""
        values = ComponentValues(self._monitor, self.saturations)
        return self._diagnostics.take(self._lifecycle.session, values)

    @property
    def teleports(self) -> int:
        """See HardwareComponent: turns found anew shift the measured position, not the joint."""
        return self._frame.shifts

    @property
    def sample_age(self) -> float:
        """See HardwareComponent."""
        return self._sample_age

    @property
    def counter_names(self) -> tuple[str, ...]:
        """See HardwareComponent."""
        return COUNTED

    def bus_counts(self) -> Sequence[int]:
        """See HardwareComponent."""
        return counts(self._lifecycle.session)

    def reset_faults(self) -> None:
        """See HardwareComponent: a thread enables faulty motors again, and reopens a lost bus."""
        self._lifecycle.reset_faults(self._monitor)

    def watchdog_times(self) -> FloatArray:
        """See HardwareComponent: the motors' own, without the guard."""
        return self._family.watchdog

    def loop_ended(self) -> None:
        """See HardwareComponent: the motors are kept limp until they are disabled.

        While the adapter is lost, the guard goes on trying to disable them.
        """
        session = self._lifecycle.session
        if session is not None:
            session.loop_ended(self._lifecycle.guard.stop_feeding)

    def _new_monitor(self) -> MotorMonitor:
        return MotorMonitor(self._settings, self._timing, self._effort_limit)

    def _doubtful(self, session: Session, age: FloatArray) -> NDArray[np.bool_]:
        """Return which motors' efforts prove nothing; `age` [s] of their measurements."""
        paused, states = self._lifecycle.paused, session.states
        unfit = [
            i in paused or it.at_rail or it.enabled is False or bool(it.fault)
            for i, it in enumerate(states)
        ]
        return np.array(unfit) | (age > self._oldest)

    def _active(self) -> Session:
        if self._lifecycle.session is None:
            raise HardwareError(f"{self._settings.name} is not active")
        return self._lifecycle.session

    def _due_gains(
        self, sent: SentGains, raw: JointCommand, time: float
    ) -> tuple[list[GainsItem], list[GainsItem]]:
        """Return the gains to send before and after the commands.

        A motor of which one gain falls and the other rises has both: the lower of old and new
        first.
        """
        gains = self._family.gains(raw)
        if not gains:
            sent.carried(raw)
        due = sent.due(gains, time)
        if not due:
            return [], []
        lower = self._lower
        np.minimum(raw.stiffness, sent.stiffness, out=lower.stiffness)
        np.minimum(raw.damping, sent.damping, out=lower.damping)
        falls = (lower.stiffness < sent.stiffness) | (lower.damping < sent.damping)
        rises = (lower.stiffness < raw.stiffness) | (lower.damping < raw.damping)
        fallen = self._family.gains(lower)
        return (
            [_gains_item(i, fallen[i], lower, time) for i in due if falls[i]],
            [_gains_item(i, gains[i], raw, time) for i in due if rises[i] or not falls[i]],
        )

    def _count_saturation(self, time: float) -> None:
        saturated = self._family.saturated()
        if np.count_nonzero(saturated):
            self.saturations += saturated
            self._saturated_at[saturated] = time


def _gains_item(motor: int, frame: CanFrame, command: JointCommand, time: float) -> GainsItem:
    stiffness, damping = command.stiffness[motor], command.damping[motor]
    return GainsItem(Kind.GAINS, motor, frame, time, stiffness, damping)
