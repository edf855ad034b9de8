"""What happens to a bus and its motors as a whole: opened, enabled, enabled anew, disabled."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from humanoid_control_common.errors import HardwareError
from humanoid_controller_manager.realtime import COMPANION_PRIORITY, make_thread_realtime
from humanoid_devices_can.activation import Activation
from humanoid_devices_can.bus import OpenBus
from humanoid_devices_can.errors import CanBusError, MotorError
from humanoid_devices_can.family import Family
from humanoid_devices_can.guard.host import Guard
from humanoid_devices_can.guard.page import Stage
from humanoid_devices_can.guarding import disabling_frames, is_to_be_guarded, voices
from humanoid_devices_can.session import Session
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.supervisor import Supervisor
from humanoid_devices_can.timing import Timing

logger = logging.getLogger(__name__)


class Keeper:
    """Has a session, a guard, and one thread at a time that mends."""

    def __init__(
        self,
        settings: CanSettings,
        family: Family,
        timing: Timing,
        open_bus: OpenBus,
        enabled: Callable[[Sequence[int]], None],
    ) -> None:
        """`enabled` is told of motors that were enabled, and have no gains."""
        self.session: Session | None = None
        self.paused: frozenset[int] = frozenset()  # motors that are being enabled
        self._settings, self._family, self._timing = settings, family, timing
        self._open_bus, self._enabled = open_bus, enabled
        self._all = range(len(settings.motors))
        self._names = ", ".join(map(str, settings.motors))
        frames, patience = disabling_frames(family), settings.guard_timeout
        self.guard = Guard(settings.bus, self._names, frames, voices(family), patience)
        self._guarded = is_to_be_guarded(settings, family, open_bus)
        self._recovery: threading.Thread | None = None

    def start(self) -> Session:
        """All motors enabled, gains 0.

        Raises InterfaceError, AdapterLostError or MotorError; no motor is left enabled then.
        """
        try:
            if self._guarded:
                self.guard.claim()
            elif self._settings.guard_timeout == 0.0:
                logger.warning("%s: no guard, as guard_timeout is 0", self._settings.name)
            session = self.session = self._open()
            self._bring_up(session)
        except BaseException:
            self._close()
            raise
        return session

    def _bring_up(self, session: Session) -> None:
        try:
            if self._guarded:
                self.guard.start()  # it needs a moment, as enabling does
            self._enable(session, self._all)
            # Those that answer commands only must not fall silent before the loop begins.
            session.idle = True
        except MotorError:
            raise
        except BaseException:
            self._activation(session).let_go_unheard()
            raise

    def mind_the_guard(self, session: Session) -> str:
        """What it does, or could not do, as this process has stood still for too long; or empty.

        The motors may have torque then, so they are commanded as ever: one that is disabled heeds
        no command. Only when all of them are disabled `session` is over.
        """
        stage = self.guard.stage
        if stage is Stage.WATCHES:
            return ""
        why = f"the control loop stood still for more than {self._settings.guard_timeout:g} s"
        if stage is Stage.ACTS:
            return f"the guard is disabling {self._names}: {why}"
        if stage is Stage.FAILED:
            return f"the guard could not disable {self._names}: {why}; clear the fault"
        if not session.health.abandoned:
            session.health.abandon(f"{self._names}: disabled by the guard: {why}")
        return ""

    def reset_faults(self, supervisor: Supervisor) -> None:
        """Enable anew, in a thread, what is faulty; after a loss the bus is opened anew, too."""
        session = self.session
        if session is None or (self._recovery is not None and self._recovery.is_alive()):
            return
        # An adapter that no motor can be heard through is opened anew: not all tell of bus-off.
        # After a guard that has acted it is, too: with another one.
        dead = self.guard.stage is not Stage.WATCHES or supervisor.unreachable(session)
        motors = list(self._all) if dead else supervisor.faulty(session)
        supervisor.remark = ""
        if motors:
            self._begin_recovery(session, motors, dead, supervisor)

    def stop(self) -> None:
        """All motors disabled. Raises HardwareError naming what may still be enabled."""
        self._end_recovery()
        session = self.session
        if session is None:
            return
        try:
            stage = self.guard.stage
            if stage is Stage.ACTS:  # two that listen take each other's frames, and hear silence
                stage = self.guard.end()
            disabled = stage is Stage.DONE
            if disabled:  # and this session says nothing any more
                session = self._open_anew(session)
            session.idle = False
            session.outbox.clear()
            self._activation(session).take_down(self._all, disabled=disabled)
        except CanBusError as error:
            self._activation(session).let_go_unheard()
            raise HardwareError(f"not disabled: {self._names}: {error}") from error
        finally:
            self._close()

    def _begin_recovery(
        self, session: Session, motors: Sequence[int], dead: bool, supervisor: Supervisor
    ) -> None:
        work = (session, motors, dead, supervisor)
        recovery = threading.Thread(target=self._recover, args=work, name="can reset", daemon=True)
        supervisor.remark = "motors are being enabled anew"
        self.paused = frozenset(motors)
        try:
            recovery.start()
        except RuntimeError as error:  # this machine gives no thread
            self.paused = frozenset()
            supervisor.remark = f"not enabled again: {error}"
        else:
            self._recovery = recovery

    def _recover(
        self, session: Session, motors: Sequence[int], dead: bool, supervisor: Supervisor
    ) -> None:
        try:
            make_thread_realtime(COMPANION_PRIORITY)  # it begins with the loop's
            if dead:
                session = self._open_anew(session)
                if self._guarded:
                    self.guard.start()
            session.outbox.clear(motors)
            self._enable(session, motors)
            supervisor.remark = ""
        except (CanBusError, MotorError) as error:
            supervisor.remark = f"not enabled again: {error}"
        except Exception as error:  # our mistake, or a machine that is short of something
            logger.exception("%s: enabling motors anew", self._settings.name)
            supervisor.remark = f"not enabled again: {error!r}"
        finally:
            self.paused = frozenset()

    def _end_recovery(self) -> None:
        recovery, session = self._recovery, self.session
        if recovery is None or session is None:
            return
        session.cancelled.set()
        recovery.join()
        session.cancelled.clear()

    def _open(self) -> Session:
        bus = self._open_bus(self._settings.bus)
        return Session(bus, self._family, self._settings, self._timing)

    def _open_anew(self, session: Session) -> Session:
        self.guard.end()
        session.close()
        fresh = self.session = self._open()
        return fresh

    def _enable(self, session: Session, motors: Sequence[int]) -> None:
        self._activation(session).bring_up(motors)
        self._enabled(motors)

    def _activation(self, session: Session) -> Activation:
        return Activation(self._settings, self._family, session, self._timing)

    def _close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.close()
        self.guard.dismiss()
