"""The known registers of one drive, and the next objects to read or write."""

import logging
from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_devices_erob.drive.drive_registers import BUS_WRITTEN, DriveRegisters, is_good
from humanoid_devices_erob.drive.gains import JointRegisters, RegisterWrite, write_order
from humanoid_devices_erob.impedance.values import retry_delay
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.protocol.objects import (
    FEED_FORWARD,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)

logger = logging.getLogger(__name__)

QUICK_RETRIES: Final = 6  # then one per second
# [s] for which a reading counts although later readings fail. After it the target follows the
# joint. A reading whose answer never comes (a second until the audit, another second until it is
# given up) leaves time for the next one.
READING_VALID: Final = 2.5


class DriveRecord:
    """The registers of one drive as read back, and its failures in a row.

    Args:
        joint: its name, for messages.
        slave: its position on the ring.
    """

    def __init__(self, joint: str, slave: int) -> None:
        self.slave = slave
        self.failure = ""  # the latest failure; empty after a success
        self.failures = 0  # in a row
        self.doubtful = False  # known, but due to be read again
        self.slow = False  # did not answer in time: no other drive is to wait for it
        self._joint = joint
        self._registers = DriveRegisters(slave)
        self._not_before = 0.0  # [s]
        self._read_at = -inf  # [s] when all registers were read last
        self._changed()

    def _changed(self) -> None:
        """Follow a change of the registers: they are asked for far more often than they change."""
        registers = self._registers
        value = registers.value
        # Whether the drive is known to use the gains written over the bus.
        self.armed = registers.gate == BUS_WRITTEN
        # Position gain, velocity gain and integral as read back, else UNKNOWN.
        self.row = value(POSITION_GAIN), value(VELOCITY_GAIN), value(VELOCITY_INTEGRAL)
        # None if they, or the gate, are unknown.
        self._gains = registers.gains if registers.known else None
        self._compared: tuple[JointRegisters | None, bool] = None, False  # see `holds`

    def holds(self, wanted: JointRegisters) -> bool:
        """Return whether read-back has shown that the drive uses `wanted`."""
        compared, same = self._compared
        if compared is not wanted:
            same = self.armed and self._gains == wanted
            self._compared = wanted, same
        return same

    def begin_writing(self, objects: Iterable[SdoObject]) -> None:
        """Treat the objects as unknown: while they are written they may be old or new."""
        for item in objects:
            self._registers.doubt(item)
        self._changed()

    def forget(self) -> None:
        """Treat all registers as unknown."""
        self._registers.forget()
        self._changed()

    def try_now(self) -> None:
        """Drop the delay of former failures, for a new mode."""
        self.failure, self.failures, self._not_before = "", 0, 0.0

    def due(self, wanted: JointRegisters, now: float) -> tuple[tuple[SdoObject, ...], bool]:
        """Return the objects to send next, and whether to write them; none if nothing is due.

        Unknown registers are read first: the order of the writes depends on their values.
        """
        holds = self.holds(wanted)
        if holds and not self.doubtful:
            self._note_success()
        if now < self._not_before:
            return (), False
        old = self._gains
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
        """Take the results of all objects of a batch; return whether all succeeded."""
        bad = [result for result in results if not is_good(result)]
        if any(not _is_learned_from(result) for result in bad):
            self.not_learned(now, write=write)
        else:
            if not write:
                self._read_at = now
            self._learn(results, surprising=not write)
        self.slow = any(result.status is SdoStatus.TIMED_OUT for result in bad)
        if bad:
            self.fail(f"{bad[0].object}: {bad[0].message or bad[0].status.name}", now)
        return not bad

    def not_learned(self, now: float, *, write: bool) -> None:
        """Forget the registers, unless only a reading failed: it changes nothing on the drive."""
        if write or now - self._read_at > READING_VALID:
            self.forget()

    def fail(self, reason: str, now: float) -> None:
        """Count a failure; the next try is delayed further with every failure in a row."""
        self.failure = f"{self._joint}: {reason}"
        self._not_before = now + retry_delay(self.failures)
        self.failures += 1

    def _note_success(self) -> None:
        # Only held gains count: a drive that can be read but not written keeps failing.
        if self.failures >= QUICK_RETRIES:
            logger.warning("%s: all is well again", self._joint)
        if self.failures:
            self.failure, self.failures, self._not_before = "", 0, 0.0

    def _learn(self, results: Sequence[SdoResult], *, surprising: bool) -> None:
        """Take values as read. `surprising`: this manager has not written them."""
        for result in results:
            register, before, value = self._registers.learn(result, write=not surprising)
            if surprising and before not in (None, value):
                logger.warning(
                    "%s: 0x%04X:%02X was %s and is %s now: the drive restarted, or another program "
                    "wrote it", self._joint, *register, before, value
                )  # fmt: skip
            if register == FEED_FORWARD:  # the last to be read
                self.doubtful = False
        self._changed()

    def _writes(self, old: JointRegisters, wanted: JointRegisters) -> tuple[SdoObject, ...]:
        """Return the writes from `old` to `wanted`, with the gate if it is closed.

        While the feed-forward may act, the target of a limp joint stays behind: on the way to a
        stiff mode the feed-forward is written and read back before anything else.
        """
        if not self.armed:
            return self._registers.arming(old, wanted)
        if wanted.position_gain > 0 and old.feed_forward != wanted.feed_forward:
            first = RegisterWrite(FEED_FORWARD, wanted.feed_forward)
            return self._registers.writes([first])
        return self._registers.writes(write_order(old, wanted))


def _is_learned_from(result: SdoResult) -> bool:
    """Return whether the other results of a batch hold despite this failure."""
    # A refused feed-forward is the last object of its batch.
    aborted = result.status is SdoStatus.ABORTED and result.object.key == FEED_FORWARD
    return result.status is SdoStatus.DIFFERENT or aborted
