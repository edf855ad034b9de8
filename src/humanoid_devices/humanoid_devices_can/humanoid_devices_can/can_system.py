"""The motors of one CAN bus, of whatever family, behind the contract of a hardware component."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_control_common.diagnosis import Diagnosis
from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.hardware import (
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
    uniform_capabilities,
)
from humanoid_devices_can.bus import OpenBus, PythonCanBus
from humanoid_devices_can.counting import COUNTED, counts
from humanoid_devices_can.diagnosing import CanDiagnostics, Known
from humanoid_devices_can.family import FamilyKind
from humanoid_devices_can.keeper import Keeper
from humanoid_devices_can.motor_frame import MotorFrame
from humanoid_devices_can.outbox import Item, Kind
from humanoid_devices_can.session import Session
from humanoid_devices_can.settings import parse_settings
from humanoid_devices_can.supervisor import Supervisor
from humanoid_devices_can.timing import Timing


class CanSystem(HardwareComponent):
    """The joints of one <ros2_control> block, each a motor that runs the MIT law itself.

    Two threads talk to the bus; the loop's `read` and `write` only exchange values with them, so
    they never wait, and a lost adapter is reported, not raised.
    """

    def __init__(
        self,
        kind: FamilyKind,
        timing: Timing | None = None,
        open_bus: OpenBus = PythonCanBus,
    ) -> None:
        self._kind, self._open_bus = kind, open_bus
        self._timing = timing or Timing()

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError."""
        kind = self._kind
        self._settings = settings = parse_settings(
            info, kind.block_parameters, kind.joint_parameters
        )
        self._family = kind.build(settings)
        self._all = range(len(settings.motors))
        self._capabilities = uniform_capabilities(len(self._all), Capability.PER_TICK)
        self._effort_limit = np.minimum(settings.limits.effort, self._family.effort_limit)
        self._frame = MotorFrame(settings.calibration)
        self._supervisor = Supervisor(settings, self._timing)
        self._keeper = Keeper(settings, self._family, self._timing, self._open_bus, self._enabled)
        self._diagnostics = CanDiagnostics(settings, self._timing)
        self._stiffness = np.zeros(len(self._all))  # in force, as far as it can be known
        self.saturations = np.zeros(len(self._all), dtype=np.int64)  # commands, by motor
        self._saturated_at = np.full(len(self._all), -np.inf)
        self._measured_at = np.full(len(self._all), -np.inf)
        self._sample_age = 0.0

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

        Raises InterfaceError, AdapterLostError or MotorError; no motor is left enabled then.
        """
        self._supervisor = Supervisor(self._settings, self._timing)
        session = self._keeper.start()
        self._frame.measure(session.states, state)
        self._measured_at[:] = self._timing.clock()  # an enabled motor has spoken

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent. A motor that is silent keeps its last state."""
        session, keeper = self._active(), self._keeper
        self._supervisor.guard = keeper.mind_the_guard(session)
        self._frame.measure(session.states, state)
        self._supervisor.unguarded = keeper.guard.problem()
        time = self._timing.clock()
        measured_at = np.array([it.measured_at for it in session.states])
        np.maximum(self._measured_at, measured_at, out=self._measured_at)  # of former sessions, too
        self._sample_age = time - float(self._measured_at.min(initial=time))
        recent = np.flatnonzero(self._saturated_at > time - self._timing.recent)
        self._supervisor.look(session, time, recent.tolist())

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent. Lower stiffness goes out before its command, higher one after."""
        session, time = self._active(), self._timing.clock()
        raw = self._frame.to_motors(command)
        commands = self._family.commands(raw)
        self._count_saturation(time)
        if session.idle:  # the loop begins: what waits is none of its commands
            session.idle = False
            session.outbox.clear()
        due = self._due_gains(session, raw, time)
        softer = raw.stiffness < self._stiffness
        session.outbox.put(
            item
            for item in (
                *(item for item in due if softer[item.motor]),
                *(Item(Kind.COMMAND, i, frame, time) for i, frame in enumerate(commands)),
                *(item for item in due if not softer[item.motor]),
            )
            if item.motor not in self._keeper.paused
        )
        self._keeper.guard.feed()

    def on_deactivate(self) -> None:
        """See HardwareComponent. Raises HardwareError naming what may still be enabled."""
        self._keeper.stop()

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
        return self._supervisor.report

    def diagnose(self) -> Sequence[Diagnosis]:
        """See HardwareComponent."""
        known = Known(self._supervisor, self._stiffness, self.saturations)
        return self._diagnostics.take(self._keeper.session, known)

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
        return counts(self._keeper.session)

    def reset_faults(self) -> None:
        """See HardwareComponent: a thread enables what is faulty anew; after a loss the bus too."""
        self._keeper.reset_faults(self._supervisor)

    def watchdog_times(self) -> FloatArray:
        """See HardwareComponent: the motors' own; the guard is on this computer."""
        return self._family.watchdog

    def loop_ended(self) -> None:
        """See HardwareComponent: motors are told to be limp until they are disabled."""
        self._keeper.guard.stop_feeding()
        if self._keeper.session is not None:
            self._keeper.session.idle = True

    def _enabled(self, motors: Sequence[int]) -> None:
        self._stiffness[list(motors)] = 0.0  # without gains

    def _active(self) -> Session:
        if self._keeper.session is None:
            raise HardwareError(f"{self._settings.name} is not active")
        return self._keeper.session

    def _due_gains(self, session: Session, raw: JointCommand, time: float) -> list[Item]:
        """The gains to be sent; the stiffness of the other motors is known to be in force."""
        gains = self._family.gains(raw)
        due = session.gains.due(gains, time)
        in_force = np.ones(len(self._all), dtype=np.bool_)
        in_force[due] = False
        np.copyto(self._stiffness, raw.stiffness, where=in_force)
        return [Item(Kind.GAINS, i, gains[i], time) for i in due]

    def _count_saturation(self, time: float) -> None:
        saturated = self._family.saturated()
        if np.count_nonzero(saturated):
            self.saturations += saturated
            self._saturated_at[saturated] = time
