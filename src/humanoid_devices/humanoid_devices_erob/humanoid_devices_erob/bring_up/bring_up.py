"""Bring the ring from a closed master to drives in operation, all slaves together.

    find, compare -> PREOP: set up by mailbox, watchdogs, map -> exchange at the bring-up rate
    from here on: clocks converge -> permission awaited -> SYNC0 -> SAFEOP -> OP -> modes compared
    -> operation enabled

An attempt that fails is repeated from the start. No mail is sent from the activation of SYNC0 until
OP: it would fault the drives (0xA000).
"""

import logging
import threading
from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.machine import Machine
from humanoid_devices_erob.bring_up.bench import bench_ring, read_errors
from humanoid_devices_erob.bring_up.drive_setup import set_up_drives
from humanoid_devices_erob.bring_up.identity import check_identities
from humanoid_devices_erob.bring_up.readiness import CONVERGED, Readiness
from humanoid_devices_erob.drive.error_codes import describe_statusword
from humanoid_devices_erob.drive.joint_frame import JointFrame
from humanoid_devices_erob.drive.target_following import TargetRule
from humanoid_devices_erob.errors import (
    EEPROM_REMEDY,
    BringUpError,
    DriveSetupError,
    HungError,
    IdentityError,
    NotEnabledError,
    joined_by_text,
)
from humanoid_devices_erob.mailbox.mailbox_port import MailboxLayout
from humanoid_devices_erob.master.al_state import (
    AlState,
    AlStatus,
    RepeatedRequest,
    StateMaster,
    differing,
    lead_to,
)
from humanoid_devices_erob.master.cyclic_exchange import CyclicExchange
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.master.watchdog import set_watchdogs, watched
from humanoid_devices_erob.settings import Settings

logger = logging.getLogger(__name__)

ATTEMPTS: Final = 3  # one lost frame in a hundred spoils few bring-ups, and not three in a row
SYNC0_TIMEOUT: Final = 0.5  # [s] to start SYNC0 everywhere, one slave per exchange
USUAL_PREOP_TIME: Final = 1.0  # [s] after which a warning names the slaves that are not in PREOP
_CLOCK_READ: Final = 0.0005  # [s] that reading one clock may take
_MAIL_MARGIN: Final = 0.00025  # [s] before the next exchange in which no datagram begins


class BringUp:
    """Brings the ring up. After a failure the slaves are in INIT and the master is closed.

    Args:
        stop: ends the waits.
        may_operate: until it is set, the slaves stay in PREOP.
    """

    def __init__(
        self,
        settings: Settings,
        master: EthercatMaster,
        machine: Machine,
        stop: threading.Event,
        may_operate: threading.Event,
    ) -> None:
        self._settings, self._master, self._machine, self._stop = settings, master, machine, stop
        self._may_operate = may_operate
        self._joint_at = settings.joint_at
        self._ring: Ring | None = None  # while process data is exchanged

    def run(self) -> tuple[Ring, CyclicExchange]:
        """Return the ring with all drives in operation, and the cycle that keeps them there.

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
                    reported = self._drive_errors(error)
                    message = f"bring-up failed {attempt} times: {error}{reported}"
                    raise BringUpError(message) from error
                logger.warning("bring-up of the ring failed, retrying from the start: %s", error)
            except BaseException:
                self._retreat()
                raise
        raise AssertionError("unreachable")

    def _attempt(self) -> tuple[Ring, CyclicExchange]:
        settings, master = self._settings, self._master
        self._identify()
        timeout = settings.activation_timeout
        wait_for_preop(master, self._machine, self._joint_at, timeout, self._stop)
        ring = Ring(master, self._mailboxes(), self._machine)
        set_up_drives(ring, self._joint_at, settings.serial_at, settings.sync0_nanoseconds)
        set_watchdogs(master, settings.watchdog_time, self._joint_at)
        master.map_process_data()
        ring.watched = watched(master, self._joint_at)
        for slave in range(len(self._joint_at)):
            ring.engine.reset(slave)  # SOEM has used the mailboxes meanwhile
        master.measure_delays()
        period = 1.0 / settings.bringup_frequency
        ring.expected_working_counter = master.expected_working_counter
        ring.set_rate(period, settings.period)
        cycle = CyclicExchange(ring, period, self._stop)
        self._ring = ring
        self._converge(cycle)
        permitted = self._may_operate.is_set
        if not (permitted() or cycle.until(permitted, inf)):
            raise BringUpError("it was stopped before SAFEOP")
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
        """Check the identities; a difference counts if it shows twice: lost frames can forge it."""
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

    def _mailboxes(self) -> list[MailboxLayout]:
        layouts = self._master.mailbox_layouts()
        without = [self._joint_at[i] for i, it in enumerate(layouts) if not it.usable]
        if without:
            raise BringUpError(f"{', '.join(without)}: no mailbox: {EEPROM_REMEDY}")
        return layouts

    def _converge(self, cycle: CyclicExchange) -> None:
        """Exchange frames until the clocks agree: each frame adjusts all of them."""
        pending = list(range(len(self._joint_at)))
        found: list[int | None] = [None]

        def check(deadline: float) -> None:
            """Read one clock at least, more if there is time."""
            while pending:
                found[0] = self._master.clock_difference(pending[-1])
                if found[0] is None or found[0] >= CONVERGED:
                    return
                pending.pop()
                if self._machine.clock() > deadline - _CLOCK_READ:
                    return

        timeout = self._settings.activation_timeout
        if not cycle.until(lambda: not pending, timeout, check):
            joint = self._joint_at[pending[-1]]
            if found[0] is None:
                raise BringUpError(f"the clock of {joint} does not answer: power? cable?")
            raise BringUpError(
                f"the clock of {joint} is {found[0]} ns off the reference after {timeout:g} s, "
                f"expected less than {CONVERGED} ns"
            )

    def _start_sync0(self, cycle: CyclicExchange) -> None:
        """Start SYNC0 in one slave per exchange; it fires 0.1 s later at the earliest."""
        waiting = list(range(len(self._joint_at)))

        def start(_: float) -> None:
            period = self._settings.sync0_nanoseconds
            if waiting and self._master.start_sync0(waiting[0], period):
                waiting.pop(0)

        if not cycle.until(lambda: not waiting, SYNC0_TIMEOUT, start):
            names = ", ".join(self._joint_at[slave] for slave in waiting)
            raise BringUpError(f"SYNC0 can't be started in {names}")

    def _change_state(self, ring: Ring, cycle: CyclicExchange, state: AlState) -> None:
        statuses: Sequence[AlStatus] = ()
        request = RepeatedRequest(state, self._master, self._machine)

        def settled() -> bool:
            nonlocal statuses
            request.send_if_due()
            statuses = self._master.states()
            if any(status.error for status in statuses):
                return True
            return ring.lost == 0 and all(status.state is state for status in statuses)

        cycle.until(settled, self._settings.activation_timeout)
        problem = differing(statuses, state, self._joint_at)
        if problem or ring.lost:
            raise BringUpError(f"not in {state.name}: {problem or 'frames are lost'}")

    def _check_ready(self, ring: Ring, cycle: CyclicExchange) -> None:
        everyone = range(len(self._joint_at))
        readiness = Readiness(ring, self._master, self._joint_at)

        def query(deadline: float) -> None:
            readiness.query(everyone)
            ring.exchange_mail_until(deadline - _MAIL_MARGIN)

        timeout = self._settings.activation_timeout
        if not cycle.until(lambda: bool(readiness.ready.all()), timeout, query):
            error = DriveSetupError if readiness.misset else BringUpError
            raise error(readiness.problems(everyone))

    def _enable(self, ring: Ring, cycle: CyclicExchange) -> None:
        """Enable all drives; a fault from before is reset, targets follow until then."""
        ring.sequencer.enable(np.ones(len(self._joint_at), dtype=bool), reset_faults=True)

        def all_enabled() -> bool:
            return not ring.lost and bool(ring.enabled.all())

        if not cycle.until(all_enabled, self._settings.activation_timeout):
            problem = not_enabled(ring, self._joint_at)
            if problem and ring.lost <= 1:  # else the statuswords are old ones
                raise NotEnabledError(problem, np.flatnonzero(~ring.enabled).tolist())
            raise BringUpError("frames are lost while the drives are enabled")

    def _drive_errors(self, error: BringUpError) -> str:
        """Return the errors of drives that don't come into operation, as read in PREOP."""
        if not isinstance(error, NotEnabledError):
            return ""
        try:
            with bench_ring(self._master, self._settings.interface, self._machine) as ring:
                errors = read_errors(ring)
        except HardwareError as failure:
            return f"; the drives' errors cannot be read: {failure}"
        texts = [(self._joint_at[i], errors[i].text) for i in error.slaves if i < len(errors)]
        return f"; {joined_by_text((joint, text) for joint, text in texts if text)}".rstrip("; ")

    def _retreat(self) -> None:
        ring, self._ring = self._ring, None
        try:
            if ring is not None:
                cycle = CyclicExchange(
                    ring, 1.0 / self._settings.bringup_frequency, threading.Event()
                )
                cycle.disable_all(lambda: bool(ring.enabled.any()))
            self._master.request_state(AlState.INIT)
        except HardwareError as error:  # the master was never opened
            logger.debug("no retreat to INIT: %s", error)
        finally:
            self._master.close()


def not_enabled(ring: Ring, joint_at: Sequence[str]) -> str:
    """Return which drives are not in operation, in words; empty if all are."""
    words = ring.image.statusword
    return joined_by_text(
        (joint_at[i], f"not in operation, {describe_statusword(int(words[i]))}")
        for i in np.flatnonzero(~ring.enabled).tolist()
    )


def wait_for_preop(
    master: StateMaster,
    machine: Machine,
    joint_at: Sequence[str],
    timeout: float,
    stop: threading.Event,
) -> None:
    """Lead all slaves to PREOP, where their mailboxes work, within `timeout` [s]; `stop` ends it.

    Raises HungError naming drives that answer and do nothing, otherwise BringUpError.
    """
    warn_at = machine.clock() + USUAL_PREOP_TIME

    def waiting(states: Sequence[AlStatus]) -> None:
        nonlocal warn_at
        if stop.is_set():
            raise BringUpError("it was stopped before PREOP")
        if machine.clock() >= warn_at:
            warn_at += timeout  # once
            logger.warning("waiting for PREOP: %s", differing(states, AlState.PREOP, joint_at))

    everyone = range(len(joint_at))
    states = lead_to(AlState.PREOP, everyone, master, machine, timeout, waiting)
    problem = differing(states, AlState.PREOP, joint_at)
    if not problem:
        return
    hung = [
        (joint_at[i], f"stays in {status.state.name} when PREOP is requested")
        for i, status in enumerate(states)
        if status.state not in (AlState.NONE, AlState.PREOP) and not status.error
    ]
    if hung:
        raise HungError(
            f"{joined_by_text(hung)} for {timeout:g} s: a drive that was just switched on may "
            "still be starting: try again; else its firmware hangs: switch its power off and on"
        )
    raise BringUpError(f"not in PREOP: {problem}")
