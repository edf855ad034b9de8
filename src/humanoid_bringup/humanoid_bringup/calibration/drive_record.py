"""The known registers of one drive that can be made limp, and the writes that change them."""

from collections.abc import Sequence
from typing import Final

from humanoid_bringup.calibration.robot import Drive
from humanoid_devices_erob.drive.drive_registers import (
    BUS_WRITTEN,
    FACTORY,
    DriveRegisters,
    is_good,
)
from humanoid_devices_erob.drive.gains import JointRegisters, RegisterWrite, write_order
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.wire.objects import FEED_FORWARD, VELOCITY_GAIN

# Restored so often, a drive that shows other registers behind its closed gate is left alone.
ENOUGH: Final = 3
UNKNOWN: Final = -1


class LimpRecord:
    """The registers of one drive as they were read last, and as they were before.

    Attributes:
        touched: something may have been written that is not yet known to be restored.
        feeds: the feed-forward was to be 0 and has stayed.
    """

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        self.touched = False
        self.feeds = False
        self._prior: JointRegisters | None = None
        self._registers = DriveRegisters(drive.slave)
        self._restored = 0  # times in a row

    @property
    def known(self) -> bool:
        """Return True if all registers have been read."""
        return self._registers.known

    @property
    def at_home(self) -> bool:
        """Return True if the drive works with its factory gains and has its prior registers."""
        if not self.known or self._registers.gate != FACTORY:
            return False
        return self._gains == self._prior or self._restored >= ENOUGH

    @property
    def limp(self) -> bool:
        """Return True if read-back has shown that the drive only damps."""
        return self.known and self.gate_open and self._gains == self._soft

    @property
    def gate_open(self) -> bool:
        """Return True if the drive is known to use the gains written over the bus."""
        return self._registers.gate == BUS_WRITTEN

    def forget(self) -> None:
        """Forget the present registers; keep the prior ones."""
        self._registers.forget()

    def reads(self) -> tuple[SdoObject, ...]:
        """Everything."""
        return self._registers.reads()

    def softening(self) -> tuple[SdoObject, ...]:
        """Return the writes to limp: gate open, no feed-forward, then no stiffness.

        The integral is cleared, the damping stays. A drive whose feed-forward stays remains stiff:
        its target would not follow a limp joint, which could not be made stiff again without a
        pull. No drive is without damping: its own register may hold none, and may keep nothing
        that is written behind a closed gate.
        """
        drive, soft = self._registers, self._soft
        if self.gate_open and drive.value(FEED_FORWARD, UNKNOWN) == 0:
            return drive.writes(write_order(self._gains, soft, only_changed=False))
        lacks = drive.value(VELOCITY_GAIN, UNKNOWN) < soft.velocity_gain
        damping = [RegisterWrite(*VELOCITY_GAIN, soft.velocity_gain)] if lacks else []
        return (
            *drive.writes(damping),
            drive.write_gate(BUS_WRITTEN),
            *drive.writes([*damping, RegisterWrite(*FEED_FORWARD, 0)]),
        )

    def restoring(self) -> tuple[SdoObject, ...]:
        """Return the prior registers and the closed gate.

        Nothing jumps: the target follows the measured position. The gate comes last, as a drive may
        keep nothing that is written behind it; but first if that has failed before.
        """
        prior, drive = self._prior, self._registers
        writes = write_order(self._soft, prior, only_changed=False) if prior else ()
        gains = drive.writes(it for it in writes if it.key != FEED_FORWARD or not self.feeds)
        gate = drive.write_gate(FACTORY)
        return (gate, *gains) if self._restored else (*gains, gate)

    def begun(self, *, restoring: bool) -> None:
        """Note that writes have been sent."""
        self.touched = True
        self._restored = self._restored + 1 if restoring else 0

    def take(self, results: Sequence[SdoResult]) -> str:
        """Take what became of all objects of a batch. Returns what went wrong; empty if nothing."""
        failure = ""
        for result in results:
            self._registers.learn(result, write=True)
            self.feeds = self.feeds or _stays(result)
            if not (is_good(result) or result.status is SdoStatus.DIFFERENT) and not failure:
                reason = result.message or result.status.name
                failure = f"{self.drive.joint}: {result.object}: {reason}"
        if results and all(it.status is SdoStatus.REFUSED for it in results):
            self._restored = max(0, self._restored - 1)  # nothing was sent
        if failure:
            self.forget()
        elif self._prior is None and self.known:
            self._prior = self._gains
        if self.at_home:
            self.touched = False
        return failure

    @property
    def _gains(self) -> JointRegisters | None:
        return self._registers.gains if self.known else None

    @property
    def _soft(self) -> JointRegisters:
        """Damping as it was, but never less than is safe: an earlier run may have left none."""
        found = self._prior.velocity_gain if self._prior else 0
        return JointRegisters(0, max(found, self.drive.least_damping), 0)


def _stays(result: SdoResult) -> bool:
    """Return True if a feed-forward of 0 was written and the drive keeps another or refuses it."""
    target = result.object
    if (target.index, target.subindex) != FEED_FORWARD or is_good(result):
        return False
    different = result.status is SdoStatus.DIFFERENT and any(target.data)
    return different or result.status is SdoStatus.ABORTED
