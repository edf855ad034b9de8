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
from humanoid_devices_erob.protocol.objects import FEED_FORWARD, VELOCITY_GAIN

# Restored so often in a row, a drive counts as restored although it shows other registers: it may
# keep nothing that is written behind its closed gate.
MOST_RESTORATIONS: Final = 3


class DriveRecord:
    """The registers of one drive as they were read last, and as they were before.

    Attributes:
        touched: something may have been written that is not yet known to be restored.
        keeps_feed_forward: the drive has refused or ignored a feed-forward of 0.
    """

    def __init__(self, drive: Drive) -> None:
        self.drive = drive
        self.touched = False
        self.keeps_feed_forward = False
        self._prior: JointRegisters | None = None
        self._registers = DriveRegisters(drive.slave)
        self._restorations = 0  # times in a row

    @property
    def known(self) -> bool:
        """Return True if all registers have been read."""
        return self._registers.known

    @property
    def is_restored(self) -> bool:
        """Return True if the drive uses its factory gains, and its registers are the prior ones."""
        if not self.known or self._registers.gate != FACTORY:
            return False
        return self._gains == self._prior or self._restorations >= MOST_RESTORATIONS

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
        """Return the objects that read all registers."""
        return self._registers.reads()

    def softening(self) -> tuple[SdoObject, ...]:
        """Return the writes that make the drive limp: gate open, no feed-forward, no stiffness.

        The integral is cleared, the damping stays. A drive that keeps its feed-forward remains
        stiff: its target would not follow a limp joint, and would pull it when it is made stiff
        again. The damping is written before and after the gate is opened, so that the drive is
        never without: its register may hold none, and a drive may keep nothing that is written
        behind a closed gate.
        """
        drive, soft = self._registers, self._soft
        if self.gate_open and drive.value(FEED_FORWARD) == 0:
            return drive.writes(write_order(self._gains, soft, only_changed=False))
        lacks = drive.value(VELOCITY_GAIN) < soft.velocity_gain
        damping = [RegisterWrite(VELOCITY_GAIN, soft.velocity_gain)] if lacks else []
        return (
            *drive.writes(damping),
            drive.write_gate(BUS_WRITTEN),
            *drive.writes([*damping, RegisterWrite(FEED_FORWARD, 0)]),
        )

    def restoring(self) -> tuple[SdoObject, ...]:
        """Return the writes of the prior registers and of the closed gate.

        Nothing jumps: the target follows the measured position. The gate is closed last, as a drive
        may keep nothing that is written behind it; it is closed first if that has failed before.
        """
        prior, drive = self._prior, self._registers
        writes = write_order(self._soft, prior, only_changed=False) if prior else ()
        gains = drive.writes(
            it for it in writes if it.key != FEED_FORWARD or not self.keeps_feed_forward
        )
        gate = drive.write_gate(FACTORY)
        return (gate, *gains) if self._restorations else (*gains, gate)

    def writes_sent(self, *, restoring: bool) -> None:
        """Note that the writes of `softening`, or of `restoring`, have been sent."""
        self.touched = True
        self._restorations = self._restorations + 1 if restoring else 0

    def batch_ended(self, results: Sequence[SdoResult]) -> str:
        """Take the results of all objects of a batch; return the first failure, empty if none."""
        failure = ""
        for result in results:
            self._registers.learn(result, write=True)
            self.keeps_feed_forward = self.keeps_feed_forward or _keeps_feed_forward(result)
            if not (is_good(result) or result.status is SdoStatus.DIFFERENT) and not failure:
                reason = result.message or result.status.name
                failure = f"{self.drive.joint}: {result.object}: {reason}"
        if results and all(it.status is SdoStatus.REFUSED for it in results):
            self._restorations = max(0, self._restorations - 1)  # nothing was sent
        if failure:
            self.forget()
        elif self._prior is None and self.known:
            self._prior = self._gains
        if self.is_restored:
            self.touched = False
        return failure

    @property
    def _gains(self) -> JointRegisters | None:
        return self._registers.gains if self.known else None

    @property
    def _soft(self) -> JointRegisters:
        """No stiffness, and the prior damping; at least `least_damping`, as it may have been 0."""
        found = self._prior.velocity_gain if self._prior else 0
        return JointRegisters(0, max(found, self.drive.least_damping), 0)


def _keeps_feed_forward(result: SdoResult) -> bool:
    """Return True if a feed-forward of 0 was written and the drive keeps another or refuses it."""
    target = result.object
    if (target.index, target.subindex) != FEED_FORWARD or is_good(result):
        return False
    different = result.status is SdoStatus.DIFFERENT and any(target.data)
    return different or result.status is SdoStatus.ABORTED
