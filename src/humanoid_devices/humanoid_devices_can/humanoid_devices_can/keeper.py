"""What happens to a bus and its motors as a whole: opened, enabled, enabled anew, disabled."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from humanoid_control_common.errors import HardwareError
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
from humanoid_devices_can.workers import Steps, Worker

logger = logging.getLogger(__name__)


class Keeper:
    """Has a session, a guard, and one worker at a time that mends."""

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
        self._recovery: Worker | None = None
        # Set: nothing is enabled any more, on whatever session.
        self._cancelled = threading.Event()

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
            self._timing.workers.carry_out(self._enable(session, self._all))
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
        """Enable what is faulty anew, beside the loop; after a loss the bus is opened anew."""
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
            elif session.health.lost:
                session = self._found_again(session)
            session.idle = False
            session.outbox.clear()
            down = self._activation(session).take_down(self._all, disabled=disabled)
            self._timing.workers.carry_out(down)
        except CanBusError as error:
            self._activation(session).let_go_unheard()
            raise HardwareError(f"not disabled: {self._names}: {error}") from error
        finally:
            self._close()

    def _begin_recovery(
        self, session: Session, motors: Sequence[int], dead: bool, supervisor: Supervisor
    ) -> None:
        steps = self._recover(session, motors, dead, supervisor)
        supervisor.remark = "motors are being enabled anew"
        self.paused = frozenset(motors)
        try:
            self._recovery = self._timing.workers.start("can reset", steps, threading.Event())
        except RuntimeError as error:  # this machine gives no thread
            self.paused = frozenset()
            supervisor.remark = f"not enabled again: {error}"

    def _recover(
        self, session: Session, motors: Sequence[int], dead: bool, supervisor: Supervisor
    ) -> Steps:
        try:
            if dead:
                session = self._opened_anew_with_guard(session)
            session.outbox.clear(motors)
            yield from self._enable(session, motors)
            supervisor.remark = ""
        except (CanBusError, MotorError) as error:
            supervisor.remark = f"not enabled again: {error}"
        except Exception as error:  # our mistake, or a machine that is short of something
            logger.exception("%s: enabling motors anew", self._settings.name)
            supervisor.remark = f"not enabled again: {error!r}"
        finally:
            self.paused = frozenset()

    def _end_recovery(self) -> None:
        if self._recovery is None:
            return
        self._cancelled.set()
        self._recovery.join()
        self._cancelled.clear()

    def _open(self) -> Session:
        bus = self._open_bus(self._settings.bus)
        return Session(bus, self._family, self._settings, self._timing, self._cancelled)

    def _opened_anew_with_guard(self, session: Session) -> Session:
        try:
            return self._open_anew(session)
        finally:  # an adapter that isn't there now may be there when this process fails
            if self._guarded and not self._cancelled.is_set():
                self.guard.start()

    def _open_anew(self, session: Session) -> Session:
        self.guard.end()
        session.close()
        fresh = self.session = self._open()
        return fresh

    def _found_again(self, session: Session) -> Session:
        """A bus that was lost, opened anew if it is there again: else the same, to be told of."""
        self._activation(session).let_go_unheard()  # it may be deaf only
        try:
            fresh = self._open_anew(session)
        except CanBusError:
            return session
        # Else those that speak could not be told from those that obey by falling silent.
        self._timing.workers.carry_out(fresh.listen(self._timing.silence))
        return fresh

    def _enable(self, session: Session, motors: Sequence[int]) -> Steps:
        yield from self._activation(session).bring_up(motors)
        self._enabled(motors)

    def _activation(self, session: Session) -> Activation:
        return Activation(self._settings, self._family, session, self._timing)

    def _close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.close()
        self.guard.dismiss()
