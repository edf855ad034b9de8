"""The motors of one CAN bus, of whatever family, behind the contract of a hardware component."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.hardware import (
    CapabilityArray,
    HardwareInfo,
    uniform_capabilities,
)
from humanoid_devices_can.activation import Activation
from humanoid_devices_can.bus import OpenBus, PythonCanBus
from humanoid_devices_can.errors import CanBusError, MotorError
from humanoid_devices_can.family import FamilyKind
from humanoid_devices_can.motor_frame import MotorFrame
from humanoid_devices_can.outbox import Item, Kind
from humanoid_devices_can.session import Session
from humanoid_devices_can.settings import parse_settings
from humanoid_devices_can.supervisor import Supervisor
from humanoid_devices_can.timing import Timing


class CanSystem:
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
        self._session: Session | None = None
        self._recovery: threading.Thread | None = None

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
        self._stiffness = np.zeros(len(self._all))  # in force, as far as it can be known
        self._paused: frozenset[int] = frozenset()  # motors that are being enabled
        self.saturations = np.zeros(len(self._all), dtype=np.int64)  # commands, by motor
        self._saturated_at = np.full(len(self._all), -np.inf)

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        """Refuse gains of a mode [Nm/rad, Nm s/rad] that a motor can't realize.

        Raises ConfigError starting with `where`, which says whose gains they are.
        """
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
        self._session = self._open()
        try:
            self._enable(self._session, self._all)
            # Those that answer commands only must not fall silent before the loop begins.
            self._session.idle = True
        except MotorError:
            self._close()
            raise
        except BaseException:
            self._activation(self._session).let_go_unheard()
            self._close()
            raise
        self._frame.measure(self._session.states, state)

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent. A motor that is silent keeps its last state."""
        session = self._active()
        self._frame.measure(session.states, state)
        time = self._timing.clock()
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
            if item.motor not in self._paused
        )

    def on_deactivate(self) -> None:
        """See HardwareComponent. Raises HardwareError naming what may still be enabled."""
        self._end_recovery()
        session = self._session
        if session is None:
            return
        try:
            session.idle = False
            session.outbox.clear()
            self._activation(session).take_down(self._all)
        except CanBusError as error:
            self._activation(session).let_go_unheard()
            names = ", ".join(str(motor) for motor in self._settings.motors)
            raise HardwareError(f"not disabled: {names}: {error}") from error
        finally:
            self._close()

    def capabilities(self) -> CapabilityArray:
        """See HardwareComponent: all five interfaces act per tick."""
        return self._capabilities

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """See HardwareComponent: the lower of the URDF's, the model's and the firmware's limit."""
        return self._effort_limit

    def safety(self) -> SafetyReport:
        """See HardwareComponent."""
        return self._supervisor.report

    def reset_faults(self) -> None:
        """See ResetsFaults: enables anew, in a thread, what is faulty; after a loss the bus too."""
        session = self._session
        if session is None or (self._recovery is not None and self._recovery.is_alive()):
            return
        # An adapter that no motor can be heard through is opened anew: not all tell of bus-off.
        dead = self._supervisor.unreachable(session)
        motors = list(self._all) if dead else self._supervisor.faulty(session)
        self._supervisor.remark = ""
        if motors:
            self._supervisor.remark = "motors are being enabled anew"
            self._paused = frozenset(motors)
            self._recovery = threading.Thread(
                target=self._recover, args=(session, motors, dead), name="can reset", daemon=True
            )
            self._recovery.start()

    def _recover(self, session: Session, motors: Sequence[int], dead: bool) -> None:
        try:
            if dead:
                session.close()
                session = self._session = self._open()
            session.outbox.clear(motors)
            self._enable(session, motors)
            self._supervisor.remark = ""
        except (CanBusError, MotorError) as error:
            self._supervisor.remark = f"not enabled again: {error}"
        finally:
            self._paused = frozenset()

    def _end_recovery(self) -> None:
        recovery, session = self._recovery, self._session
        if recovery is None or session is None:
            return
        session.cancelled.set()
        recovery.join()
        session.cancelled.clear()

    def _open(self) -> Session:
        bus = self._open_bus(self._settings.bus)
        return Session(bus, self._family, self._settings, self._timing)

    def _enable(self, session: Session, motors: Sequence[int]) -> None:
        self._activation(session).bring_up(motors)
        self._stiffness[list(motors)] = 0.0  # without gains

    def _activation(self, session: Session) -> Activation:
        return Activation(self._settings, self._family, session, self._timing)

    def _active(self) -> Session:
        if self._session is None:
            raise HardwareError(f"{self._settings.name} is not active")
        return self._session

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

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
