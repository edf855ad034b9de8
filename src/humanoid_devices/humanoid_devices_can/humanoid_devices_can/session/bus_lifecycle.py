"""Bring a CAN bus and its motors up, recover them after a fault, and take them down."""

import logging
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.machine import Thread
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_devices_can.errors import CanBusError, MotorError
from humanoid_devices_can.guard.channel import GuardJob, Stage
from humanoid_devices_can.guard.guard_client import (
    Guard,
    disabling_frames,
    guarded_motors,
    has_one_reader,
    is_shared,
    needs_guard,
)
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.joint_frame import JointFrame
from humanoid_devices_can.motor_monitor import MotorMonitor
from humanoid_devices_can.motor_protocol import MotorFamily
from humanoid_devices_can.reason_codes import (
    DISABLED_BY_GUARD,
    GUARD_NOT_DONE,
    MAY_BE_ENABLED,
    MOTORS_BEING_ENABLED,
    MOTORS_NOT_ENABLED,
)
from humanoid_devices_can.session.activation import Activation
from humanoid_devices_can.session.session import Session
from humanoid_devices_can.settings import CanSettings, Motor
from humanoid_devices_can.timing import Timing

logger = logging.getLogger(__name__)

_ENABLING: Final = Reason.of(MOTORS_BEING_ENABLED, "motors are being enabled anew")


class BusLifecycle:
    """Owns the session, the guard, and at most one thread that recovers motors or guard."""

    def __init__(
        self,
        settings: CanSettings,
        family: MotorFamily,
        frame: JointFrame,
        timing: Timing,
        host: CanHost,
    ) -> None:
        self.session: Session | None = None
        self.paused: frozenset[int] = frozenset()  # motors that are being enabled
        self._settings, self._family, self._timing = settings, family, timing
        self._frame, self._host = frame, host
        self._all = range(len(settings.motors))
        self._lost = NO_REASON  # why the adapter was lost before the guard acted, if it was
        self._silent: Collection[Motor] = ()  # those that sent nothing before the guard acted
        self._names = ", ".join(map(str, settings.motors))
        job = GuardJob(
            settings.bus,
            guarded_motors(settings, family),
            disabling_frames(family),
            settings.guard_timeout,
        )
        self.guard = Guard(job, host)
        self._guarded = needs_guard(settings, family)
        self._recovery: Thread | None = None
        # Motors that the latest recovery left disabled.
        self._given_up: frozenset[int] = frozenset()
        # Once set, no session enables a motor.
        self._cancelled = threading.Event()

    def start(self) -> Session:
        """Open the bus and enable all motors with gains 0.

        Raises InterfaceError, AdapterLostError or MotorError, which names the motors that may be
        enabled nevertheless.
        """
        self._given_up = frozenset()
        try:
            if is_shared(self._settings):
                self.guard.claim()
            if not self._guarded and self._settings.guard_timeout == 0.0:
                logger.warning("%s: no guard, because guard_timeout is 0", self._settings.name)
            session = self.session = self._open()
            if self._guarded:
                self.guard.start()  # it starts while the motors are enabled
            self._enable(session, self._all)
            # Motors that send only answers must not fall silent before the loop begins.
            session.idle = True
        except BaseException as error:
            if self.session is not None and not isinstance(error, MotorError):
                self._activation(self.session).disable_unconfirmed()
            self._close()
            raise
        return session

    def check_guard(self, session: Session, silent: Collection[Motor]) -> Reason:
        """Check the guard; return what it does, or failed to do, after the loop stood still.

        `silent`: motors that sent nothing before the guard acted. Their silence proves nothing.

        Until it has disabled them, the motors may have torque, and commands continue: a disabled
        motor ignores them. When it has, `session` is abandoned. While the adapter is lost, which is
        reported as such, the guard tries until it is back.
        """
        stage = self.guard.stage
        if stage is Stage.WATCHES:
            self._lost = session.health.lost
        elif stage is Stage.DONE:
            self._abandon(session, silent)
        if stage in (Stage.WATCHES, Stage.DONE) or self._lost:
            return NO_REASON
        why = self._stood_still
        if stage is Stage.ACTS:
            return Reason.of(GUARD_NOT_DONE, f"the guard is disabling {self._names}: {why}")
        text = f"the guard could not disable {self._names}: {why}; clear the fault"
        return Reason.of(GUARD_NOT_DONE, text)

    def keep_guard(self) -> Reason:
        """Return why there is no guard, if so; a lost one is replaced, beside the loop.

        That is safe while joints are stiff: a guard opens the bus only when it acts, the former one
        is ended, and the claim on the bus is inherited.
        """
        problem = self.guard.problem()
        if problem and self.guard.lost and not self._is_busy:
            logger.error("%s; starting another one", problem)
            with suppress(RuntimeError):  # no thread left: tried again
                self._recovery = self._host.machine.start("can guard", self._replace_guard)
        return problem

    def reset_faults(self, monitor: MotorMonitor) -> None:
        """Enable faulty motors again, beside the loop; after a loss, open the bus again."""
        session = self.session
        if session is None or self._is_busy:
            return
        if self.guard.stage is Stage.ACTS and not session.health.lost:
            # It ends first: only one of both may receive.
            monitor.remark = _not_enabled(
                "the guard is disabling the motors: clear the fault again"
            )
            return
        # Not every adapter reports bus-off, so one without feedback is opened again. So is the bus
        # after a guard has acted, together with a new guard.
        dead = self.guard.stage is not Stage.WATCHES or monitor.unreachable(session)
        # A motor that was disabled a moment ago is not silent yet.
        motors = [*self._all] if dead else sorted(self._given_up.union(monitor.faulty(session)))
        monitor.remark = NO_REASON
        if motors:
            monitor.remark = _ENABLING
            self.paused = frozenset(motors)
            try:
                self._recovery = self._host.machine.start(
                    "can reset", lambda: self._recover(session, motors, dead, monitor)
                )
            except RuntimeError as error:  # no thread left on this machine
                self.paused = frozenset()
                monitor.remark = _not_enabled(str(error))

    def stop(self, silent: Collection[Motor]) -> None:
        """Disable all motors; `silent`: see check_guard.

        Raises HardwareError naming what may still be enabled: its guard goes on trying.
        """
        if self._recovery is not None:
            self._cancelled.set()
            self._recovery.join()
            self._cancelled.clear()
        session = self.session
        if session is None:
            return
        leave = self._guarded
        try:
            session, disabled = self._taken_over(session, silent)
            session.idle = False
            session.transmit_queue.clear()
            self._activation(session).take_down(self._all, disabled=disabled)
            leave = False
        except CanBusError as error:
            self._activation(session).disable_unconfirmed()
            raise HardwareError(f"not disabled: {self._names}: {error}") from error
        finally:
            self._close(leave=leave)

    def _taken_over(
        self, session: Session, silent: Collection[Motor]
    ) -> tuple[Session, Collection[int]]:
        """Return the session for the exit, and the motors that the guard has disabled."""
        self.guard.stop_feeding()  # disabling takes longer than a loop may stand still
        stage = self.guard.stage
        if stage is Stage.ACTS:  # two receivers take each other's frames and see silence
            stage = self.guard.end()
        if stage is Stage.DONE:  # the guard ended this session
            self._abandon(session, silent)
            disabled = [i for i in self._all if self._settings.motors[i] not in self._silent]
            return self._reopen(session), disabled
        if session.health.lost:
            return self._reopen_lost(session), ()
        if stage is not Stage.WATCHES:
            self._renew_guard()  # this process may still be killed
        return session, ()

    @property
    def _is_busy(self) -> bool:
        return self._recovery is not None and self._recovery.is_alive()

    def _replace_guard(self) -> None:
        self._host.machine.make_realtime(COMPANION_PRIORITY)  # not the loop's, which starts it
        self.guard.start(fed=True)

    def _recover(
        self, session: Session, motors: Sequence[int], dead: bool, monitor: MotorMonitor
    ) -> None:
        self._host.machine.make_realtime(COMPANION_PRIORITY)  # not the loop's, which starts it
        try:
            if dead:
                session = self._reopen(session)
            session.transmit_queue.clear(motors)
            self._given_up = frozenset(motors)
            self._enable(session, motors)
            self._given_up = frozenset()
            monitor.remark = NO_REASON
        except (CanBusError, MotorError) as error:
            monitor.remark = _not_enabled(str(error), error.reason)
        except Exception as error:  # a programming error, or exhausted resources
            logger.exception("%s: enabling motors anew", self._settings.name)
            monitor.remark = _not_enabled(repr(error))
        finally:
            self.paused = frozenset()

    def _open(self) -> Session:
        bus, machine = self._host.open_bus(self._settings.bus), self._host.machine
        if bus.set_confirming(True):
            self.guard.demand_confirmations()
        bus.set_confirming(False)
        session = Session(bus, self._family, self._settings, self._timing, machine, self._cancelled)
        if has_one_reader(self._settings):
            session.leaves_frames = lambda: self.guard.stage is Stage.ACTS
        return session

    def _reopen(self, session: Session) -> Session:
        """Open the bus again, with a new guard; it acts if the adapter is missing."""
        self._renew_guard()
        session.close()
        try:
            fresh = self.session = self._open()
        except CanBusError:
            self.guard.feed()  # once: the loop feeds it no more
            raise
        return fresh

    def _renew_guard(self) -> None:
        if self._guarded:
            self.guard.start()
        else:
            self.guard.end()

    def _reopen_lost(self, session: Session) -> Session:
        """Open a lost bus again; return `session` itself if the adapter is still missing."""
        self._activation(session).disable_unconfirmed()  # the adapter may only be deaf
        try:
            fresh = self._reopen(session)
        except CanBusError:
            return session
        # Otherwise silence before the order could be taken for obedience.
        self._host.machine.sleep(self._timing.silence)
        return fresh

    def _enable(self, session: Session, motors: Sequence[int]) -> None:
        self._activation(session).bring_up(motors, lambda: self.guard.stage is Stage.WATCHES)

    def _abandon(self, session: Session, silent: Collection[Motor]) -> None:
        """Note that the guard has disabled the motors, as far as their silence proves it."""
        if session.health.abandoned:
            return
        motors, cause = self._settings.motors, self._lost
        self._silent = unproved = [
            motor
            for i, motor in enumerate(motors)
            if not self.guard.has_disabled(i, silent=motor in silent)
        ]
        obeyed = ", ".join(str(it) for it in motors if it not in unproved)
        text = f"{obeyed or 'no motor'}: disabled by the guard: {cause.text or self._stood_still}"
        reason = Reason.of(DISABLED_BY_GUARD, text, cause)
        if unproved:
            lost = f"{', '.join(map(str, unproved))}: silent before, may be enabled"
            reason = joined((Reason.of(MAY_BE_ENABLED, lost), reason)).worded(f"{text}; {lost}")
        session.health.abandon(reason)

    @property
    def _stood_still(self) -> str:
        return f"the control loop stood still for more than {self._settings.guard_timeout:g} s"

    def _activation(self, session: Session) -> Activation:
        return Activation(self._settings, self._family, self._frame, session, self._timing)

    def _close(self, *, leave: bool = False) -> None:
        """Close the bus; `leave` the motors to the guard."""
        session, self.session = self.session, None
        if session is not None:
            session.close()
        if leave:
            self.guard.leave()
        self.guard.dismiss()


def _not_enabled(text: str, *causes: Reason) -> Reason:
    return Reason.of(MOTORS_NOT_ENABLED, f"not enabled again: {text}", *causes)
