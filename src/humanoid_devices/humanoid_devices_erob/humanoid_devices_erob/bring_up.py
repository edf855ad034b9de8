"""From a closed master to drives in operation: all slaves together, the whole again if it fails.

    find, compare -> PREOP: set up by mailbox, watchdogs, map -> exchange at the bring-up rate
    from here on: clocks converge -> SYNC0 -> SAFEOP -> OP -> modes compared -> operation enabled

No mail is sent from the activation of SYNC0 until OP: it would fault the drives (0xA000).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_devices_erob.al_state import AlState, AlStatus, differing
from humanoid_devices_erob.bench import bench_ring, read_errors
from humanoid_devices_erob.cycle import Cycle
from humanoid_devices_erob.drive_setup import set_up_drives
from humanoid_devices_erob.error_codes import describe_statusword
from humanoid_devices_erob.follow import TargetRule
from humanoid_devices_erob.identity import check_identities
from humanoid_devices_erob.joint_frame import JointFrame
from humanoid_devices_erob.joint_texts import said_together
from humanoid_devices_erob.mailbox_engine import MailboxLayout
from humanoid_devices_erob.preop import wait_for_preop
from humanoid_devices_erob.readiness import CONVERGED, Readiness
from humanoid_devices_erob.ring import ProcessDataMaster, Ring
from humanoid_devices_erob.ring_errors import (
    BringUpError,
    DriveSetupError,
    IdentityError,
    NotEnabledError,
)
from humanoid_devices_erob.settings import Identity, Settings
from humanoid_devices_erob.timebase import Timebase
from humanoid_devices_erob.watchdog import set_watchdogs, watched

logger = logging.getLogger(__name__)

ATTEMPTS: Final = 3  # one lost frame in a hundred spoils few bring-ups, and no three in a row
SYNC0_TIMEOUT: Final = 0.5  # [s] to start SYNC0 everywhere, one slave per exchange
REQUEST_INTERVAL: Final = 0.2  # [s] until a state is asked for again
DISABLE_TIMEOUT: Final = 0.5  # [s] for all drives to leave operation, if the bring-up fails
_CLOCK_LOOK: Final = 0.0005  # [s] that a look at one clock may take
_MAIL_MARGIN: Final = 0.00025  # [s] before the next exchange: no datagram is begun in it


class Master(ProcessDataMaster, Protocol):
    """What a bring-up and the operation after it need of the master; see EthercatMaster."""

    all_in_op: bool  # what all slaves said along with the latest exchange

    def open(self, interface: str) -> None:
        """Take the network interface."""

    def close(self) -> None:
        """Give it back."""

    def scan(self) -> list[Identity]:
        """Find all slaves and ask them to go to PREOP."""

    def mailbox_layouts(self) -> list[MailboxLayout]:
        """Where the mailboxes are."""

    def map_process_data(self) -> None:
        """Configure sync managers and FMMUs."""

    def measure_delays(self) -> None:
        """Find propagation delays, set the clocks' offsets."""

    def start_sync0(self, slave: int, period_ns: int) -> bool:
        """Have the slave fire SYNC0; whether it will."""

    def stop_sync0(self, slave: int) -> None:
        """No more SYNC0."""

    def request_state(self, state: AlState) -> None:
        """Ask all slaves to go to `state`."""

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Ask one slave."""

    def states(self) -> list[AlStatus]:
        """Of every slave, now."""

    def read(self, slave: int, address: int, length: int) -> bytes | None:
        """What is in a slave's registers; None without an answer."""

    def clock_difference(self, slave: int) -> int | None:
        """How far the slave's clock is from the reference [ns]."""


class BringUp:
    """Brings the ring up; on failure the slaves are in INIT and the master is closed."""

    def __init__(
        self, settings: Settings, master: Master, timebase: Timebase, stop: threading.Event
    ) -> None:
        self._settings, self._master, self._timebase, self._stop = settings, master, timebase, stop
        self._joint_at = settings.joint_at
        self._ring: Ring | None = None  # while process data is exchanged

    def run(self) -> tuple[Ring, Cycle]:
        """All drives in operation, and the cycle that keeps them there.

        Raises InterfaceError, IdentityError, TurnsError, HungError and DriveSetupError, or
        BringUpError after ATTEMPTS attempts.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._master.open(self._settings.interface)
                return self._attempt()
            except BringUpError as error:
                self._retreat()
                if attempt == ATTEMPTS or self._stop.is_set():
                    said = self._said_by_drives(error)
                    raise BringUpError(f"bring-up failed {attempt} times: {error}{said}") from error
                logger.warning("bring-up of the ring failed, once more from the start: %s", error)
            except BaseException:
                self._retreat()
                raise
        raise AssertionError("unreachable")

    def _attempt(self) -> tuple[Ring, Cycle]:
        settings, master = self._settings, self._master
        self._identify()
        wait_for_preop(master, self._timebase, self._joint_at, settings.activation_timeout)
        ring = Ring(master, master.mailbox_layouts(), self._timebase)
        set_up_drives(ring, self._joint_at, settings.serial_numbers, settings.sync0_nanoseconds)
        set_watchdogs(master, settings.watchdog_time, self._joint_at)
        master.map_process_data()
        ring.watched = watched(master, self._joint_at)
        for slave in range(len(self._joint_at)):
            ring.engine.reset(slave)  # the master has used the mailboxes itself meanwhile
        master.measure_delays()
        period = 1.0 / settings.bringup_frequency
        ring.mapped()
        ring.paced(period, settings.period)
        cycle = Cycle(ring, period, self._stop)
        self._ring = ring
        self._converge(cycle)
        self._start_sync0(cycle)
        self._change_state(ring, cycle, AlState.SAFEOP)
        self._converge(cycle)
        self._change_state(ring, cycle, AlState.OP)
        frame = JointFrame(settings)
        frame.find_turns(ring.image)
        ring.targets = TargetRule(frame.velocity_limit)
        self._check_ready(ring, cycle)
        self._enable(ring, cycle)
        return ring, cycle

    def _identify(self) -> None:
        """A lost frame can forge a difference: it is believed when it shows twice."""
        settings = self._settings
        expected = settings.identity, self._joint_at, settings.interface
        for last in (False, True):
            try:
                check_identities(self._master.scan(), *expected)
            except IdentityError:
                if last:
                    raise
            else:
                return

    def _converge(self, cycle: Cycle) -> None:
        """Every frame brings every clock nearer to the first one's."""
        astray = list(range(len(self._joint_at)))
        found: list[int | None] = [None]

        def look(deadline: float) -> None:
            """At one clock at least, at more if there is time."""
            while astray:
                found[0] = self._master.clock_difference(astray[-1])
                if found[0] is None or found[0] >= CONVERGED:
                    return
                astray.pop()
                if self._timebase.clock() > deadline - _CLOCK_LOOK:
                    return

        timeout = self._settings.activation_timeout
        if not cycle.until(lambda: not astray, timeout, look):
            raise BringUpError(
                f"clock of {self._joint_at[astray[-1]]} is {found[0]} ns off the reference after "
                f"{timeout:g} s, expected less than {CONVERGED} ns"
            )

    def _start_sync0(self, cycle: Cycle) -> None:
        """One slave per exchange: SYNC0 fires no earlier than 0.1 s after."""
        waiting = list(range(len(self._joint_at)))

        def start(_: float) -> None:
            period = self._settings.sync0_nanoseconds
            if waiting and self._master.start_sync0(waiting[0], period):
                waiting.pop(0)

        if not cycle.until(lambda: not waiting, SYNC0_TIMEOUT, start):
            names = ", ".join(self._joint_at[slave] for slave in waiting)
            raise BringUpError(f"SYNC0 can't be started in {names}")

    def _change_state(self, ring: Ring, cycle: Cycle, state: AlState) -> None:
        statuses: Sequence[AlStatus] = ()
        ask = self._timebase.clock()

        def settled() -> bool:
            nonlocal statuses, ask
            if self._timebase.clock() >= ask:  # again, in case the request was lost
                ask += REQUEST_INTERVAL
                self._master.request_state(state)
            statuses = self._master.states()
            if any(status.error for status in statuses):
                return True
            return ring.lost == 0 and all(status.state is state for status in statuses)

        cycle.until(settled, self._settings.activation_timeout)
        problem = differing(statuses, state, self._joint_at)
        if problem or ring.lost:
            raise BringUpError(f"not in {state.name}: {problem or 'frames are lost'}")

    def _check_ready(self, ring: Ring, cycle: Cycle) -> None:
        everyone = range(len(self._joint_at))
        readiness = Readiness(ring, self._master, self._joint_at)

        def ask(deadline: float) -> None:
            readiness.look(everyone)
            ring.mail_until(deadline - _MAIL_MARGIN)

        timeout = self._settings.activation_timeout
        if not cycle.until(lambda: bool(readiness.ready.all()), timeout, ask):
            error = DriveSetupError if readiness.misset else BringUpError
            raise error(readiness.problems(everyone))

    def _enable(self, ring: Ring, cycle: Cycle) -> None:
        """A fault left from before is reset; targets follow until operation is enabled."""
        ring.walk.enable(np.ones(len(self._joint_at), dtype=bool), reset_faults=True)
        everyone = self._everyone_enabled
        if not cycle.until(lambda: everyone(ring), self._settings.activation_timeout):
            problem = not_enabled(ring, self._joint_at)
            if problem:
                raise NotEnabledError(problem, np.flatnonzero(~ring.enabled).tolist())
            raise BringUpError("frames are lost while the drives are enabled")

    @staticmethod
    def _everyone_enabled(ring: Ring) -> bool:
        return not ring.lost and bool(ring.enabled.all())

    def _said_by_drives(self, error: BringUpError) -> str:
        """What drives that don't come into operation say is wrong, as they tell it in PREOP."""
        if not isinstance(error, NotEnabledError):
            return ""
        try:
            with bench_ring(self._master, self._settings.interface, self._timebase) as ring:
                errors = read_errors(ring)
        except HardwareError as failure:
            return f"; what the drives say is wrong can't be read: {failure}"
        texts = [(self._joint_at[i], errors[i].text) for i in error.slaves if i < len(errors)]
        return f"; {said_together((joint, text) for joint, text in texts if text)}".rstrip("; ")

    def _retreat(self) -> None:
        ring, self._ring = self._ring, None
        try:
            if ring is not None:
                cycle = Cycle(ring, 1.0 / self._settings.bringup_frequency, threading.Event())
                cycle.disable_all(lambda: bool(ring.enabled.any()), DISABLE_TIMEOUT)
            self._master.request_state(AlState.INIT)
        except HardwareError as error:  # it was never opened
            logger.debug("no retreat to INIT: %s", error)
        finally:
            self._master.close()


def not_enabled(ring: Ring, joint_at: Sequence[str]) -> str:
    """Which drives are not in operation, in words; empty if all are."""
    words = ring.image.statusword
    return said_together(
        (joint_at[i], f"not in operation, {describe_statusword(int(words[i]))}")
        for i in np.flatnonzero(~ring.enabled).tolist()
    )
