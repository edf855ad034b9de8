"""What is known of one drive, and what has to be asked of it next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_devices_erob.drive_registers import BUS_WRITTEN, DriveRegisters, is_good
from humanoid_devices_erob.gains import JointRegisters, RegisterWrite, write_order
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.wire.objects import (
    FEED_FORWARD,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)

logger = logging.getLogger(__name__)

UNKNOWN: Final = -1
QUICK_RETRIES: Final = 6  # then one a second
FIRST_DELAY: Final = 0.02  # [s] doubled with every retry
LONGEST_DELAY: Final = 1.0  # [s]


class DriveRecord:
    """The registers of one drive as they were read back, and how often it has failed in a row.

    Args:
        joint: its name, for messages.
        slave: its position on the ring.
    """

    def __init__(self, joint: str, slave: int) -> None:
        self.slave = slave
        self.failure = ""  # what went wrong last; empty once it went right
        self.failures = 0  # in a row
        self.doubtful = False  # known, but to be read again
        self._joint = joint
        self._registers = DriveRegisters(slave)
        self._not_before = 0.0  # [s]

    @property
    def armed(self) -> bool:
        """Whether the drive is known to use the gains written over the bus."""
        return self._registers.gate == BUS_WRITTEN

    @property
    def row(self) -> tuple[int, int, int]:
        """Position gain, velocity gain and integral as read back; UNKNOWN otherwise."""
        value = self._registers.value
        return (
            value(POSITION_GAIN, UNKNOWN),
            value(VELOCITY_GAIN, UNKNOWN),
            value(VELOCITY_INTEGRAL, UNKNOWN),
        )

    def holds(self, wanted: JointRegisters) -> bool:
        """Whether read-back has shown that the drive works with `wanted`."""
        return self.armed and self._gains() == wanted

    def begin_writing(self, objects: Iterable[SdoObject]) -> None:
        """What is being written has neither its old value nor its new one for sure."""
        for item in objects:
            self._registers.doubt(item)

    def forget(self) -> None:
        """What is on the drive is not known any more."""
        self._registers.forget()

    def try_now(self) -> None:
        """A new wish: old failures don't delay it."""
        self.failure, self.failures, self._not_before = "", 0, 0.0

    def due(self, wanted: JointRegisters, now: float) -> tuple[tuple[SdoObject, ...], bool]:
        """The objects to be sent next, and whether they are to be written; none if all is well.

        Nothing is written over what is not known: the order of the writes depends on it.
        """
        holds = self.holds(wanted)
        if holds:
            self._note_success()
        if now < self._not_before:
            return (), False
        old = self._gains()
        if old is not None and not holds:
            try:
                return self._writes(old, wanted), True
            except ConfigError as error:
                self.fail(str(error), now)
                return (), False
        if old is None or self.doubtful:
            return self._registers.reads(), False
        return (), False

    def take(self, results: Sequence[SdoResult], now: float, *, write: bool) -> bool:
        """Take what became of all objects of a batch, written or only read. Whether all is well."""
        bad = [result for result in results if not is_good(result)]
        if any(not _is_learned_from(result) for result in bad):
            self.forget()
        else:
            self._learn(results, surprising=not write)
        if bad:
            self.fail(f"{bad[0].object}: {bad[0].message or bad[0].status.name}", now)
        return not bad

    def fail(self, reason: str, now: float) -> None:
        """Count a failure: the next try comes later, and later with every failure in a row."""
        self.failure = f"{self._joint}: {reason}"
        self._not_before = now + min(FIRST_DELAY * 2.0**self.failures, LONGEST_DELAY)
        self.failures += 1

    def _note_success(self) -> None:
        """Only the end counts: a drive that can be read but not written fails all the same."""
        if self.failures >= QUICK_RETRIES:
            logger.warning("%s: all is well again", self._joint)
        if self.failures:
            self.failure, self.failures, self._not_before = "", 0, 0.0

    def _learn(self, results: Sequence[SdoResult], *, surprising: bool) -> None:
        """Take values as read. `surprising`: another value than before is not our doing."""
        for result in results:
            register, before, value = self._registers.learn(result, write=not surprising)
            if surprising and before not in (None, value):
                logger.warning(
                    "%s: 0x%04X:%02X was %s and is %s now: the drive restarted, or another program "
                    "wrote it", self._joint, *register, before, value
                )  # fmt: skip
            if register == FEED_FORWARD:  # the last that is read
                self.doubtful = False

    def _writes(self, old: JointRegisters, wanted: JointRegisters) -> tuple[SdoObject, ...]:
        """From `old` to `wanted`, and the drive's own gate with it if need be.

        Where the feed-forward may act, the target of a limp joint is left behind: nothing else is
        written on the way to a stiff mode before it has been read back.
        """
        if not self.armed:
            return self._registers.arming(old, wanted)
        if wanted.position_gain > 0 and old.feed_forward != wanted.feed_forward:
            first = RegisterWrite(*FEED_FORWARD, wanted.feed_forward)
            return self._registers.writes([first])
        return self._registers.writes(write_order(old, wanted))

    def _gains(self) -> JointRegisters | None:
        """The gains on the drive; None if they, or its gate, are not known."""
        return self._registers.gains if self._registers.known else None


def _is_learned_from(result: SdoResult) -> bool:
    """Whether a failure leaves what the others say true: a refused feed-forward comes last."""
    feed_forward = (result.object.index, result.object.subindex) == FEED_FORWARD
    aborted = result.status is SdoStatus.ABORTED and feed_forward
    return result.status is SdoStatus.DIFFERENT or aborted
