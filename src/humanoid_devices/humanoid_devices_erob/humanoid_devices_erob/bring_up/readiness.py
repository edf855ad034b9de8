"""Check before a drive in OP is enabled: it is in CSP, driven by SYNC0, and its clock is right.

Only in CSP do targets and gains have the assumed meaning.
"""

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Final

import numpy as np

from humanoid_devices_erob.drive.cia402_sequencer import Mask
from humanoid_devices_erob.errors import joined_by_text
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.cia402 import CSP

logger = logging.getLogger(__name__)

# Of every slave's clock [ns]; the drives' own limit before OP is assumed, confirm on hardware.
CONVERGED: Final = 1000
SYNC0_TYPE: Final = 2  # of 0x1C32:01 (ETG.1020)
_MODE: Final = objects.MODE_DISPLAY, 0
_SYNC_TYPE: Final = objects.SYNC_PARAMETERS[0], 1
_MISSING: Final = (AbortCode.NO_OBJECT, AbortCode.NO_SUBINDEX)
_UNREAD: Final = "has not reported its mode (0x6061)"


class Readiness:
    """Queries drives in OP, a little at a time; `ready` marks those that may be enabled."""

    def __init__(self, ring: Ring, master: EthercatMaster, joint_at: Sequence[str]) -> None:
        self._ring, self._master, self._joint_at = ring, master, joint_at
        self.ready: Mask = np.zeros(len(joint_at), dtype=bool)
        self._requests: dict[int, Future[tuple[SdoResult, ...]]] = {}
        self._obstacles: dict[int, str] = {}  # by slave; empty text: none
        self._misset: set[int] = set()  # drives whose set-up is wrong, which waiting can't change
        self._without_sync_type: set[int] = set()  # drives without 0x1C32
        self._reported: set[int] = set()  # those of them that the log names

    def forget(self, slaves: Iterable[int]) -> None:
        """Discard the answers of these drives."""
        for slave in slaves:
            self.ready[slave] = False
            self._requests.pop(slave, None)
            self._obstacles.pop(slave, None)
            self._misset.discard(slave)

    def query(self, slaves: Iterable[int]) -> None:
        """Query those of `slaves` that aren't ready; read one clock at most (one datagram)."""
        clock_was_read = False
        waiting = [slave for slave in slaves if not self.ready[slave]]
        for slave in waiting:
            future = self._requests.get(slave)
            if future is None:
                wanted = tuple(SdoObject(slave, *key) for key in (_MODE, _SYNC_TYPE))
                self._requests[slave] = self._ring.sdo.submit(SdoBatch(wanted, write=False))
            elif future.done() and not clock_was_read:
                obstacle = self._set_up_problem(slave, *future.result())
                if obstacle:
                    del self._requests[slave]  # once more
                else:
                    clock_was_read = True
                    obstacle = self._clock_problem(slave)
                self._obstacles[slave] = obstacle
                self.ready[slave] = not obstacle
        if waiting and self.ready[waiting].all():
            self._report_missing()

    def problems(self, slaves: Iterable[int]) -> str:
        """Return why those of `slaves` that aren't ready may not be enabled, in words."""
        return joined_by_text(
            (self._joint_at[slave], f"not enabled: {self._obstacles.get(slave, _UNREAD)}")
            for slave in slaves
            if not self.ready[slave]
        )

    @property
    def misset(self) -> bool:
        """Return whether a drive's latest answer shows another mode, or no SYNC0."""
        return bool(self._misset)

    def _set_up_problem(self, slave: int, mode: SdoResult, sync: SdoResult) -> str:
        self._misset.discard(slave)
        if mode.status is not SdoStatus.DONE:
            return f"0x6061 can't be read: {mode.message}"
        found = int.from_bytes(mode.object.data, "little", signed=True)
        if found != CSP:
            self._misset.add(slave)
            return f"it is in mode {found} (0x6061), expected {CSP}, cyclic synchronous position"
        if sync.status is SdoStatus.ABORTED and sync.abort_code in _MISSING:
            self._without_sync_type.add(slave)
            return ""
        if sync.status is not SdoStatus.DONE:
            return f"0x1C32:01 can't be read: {sync.message}"
        found = int.from_bytes(sync.object.data, "little")
        if found != SYNC0_TYPE:
            self._misset.add(slave)
            return (
                f"it is not synchronized by SYNC0 (0x1C32:01 is {found}, expected {SYNC0_TYPE}): "
                "switch its power off and on"
            )
        return ""

    def _report_missing(self) -> None:
        new = sorted(self._without_sync_type - self._reported)
        if new:
            names = ", ".join(self._joint_at[slave] for slave in new)
            logger.info("no 0x1C32:01: not checked whether SYNC0 synchronizes %s", names)
        self._reported.update(new)

    def _clock_problem(self, slave: int) -> str:
        difference = self._master.clock_difference(slave)
        if difference is None:
            return "its clock does not answer"
        if difference >= CONVERGED:
            return (
                f"its clock is {difference} ns off the reference, expected less than {CONVERGED}: "
                "clear the fault again in some seconds"
            )
        return ""
