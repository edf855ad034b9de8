"""What is known of one drive, and what has to be asked of it next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from humanoid_devices_erob.gains import JointRegisters, RegisterWrite, write_order
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.wire.objects import (
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)

logger = logging.getLogger(__name__)

GAINS: Final = (POSITION_GAIN, VELOCITY_GAIN, VELOCITY_INTEGRAL)
REGISTERS: Final = (*GAINS, GATE_SWITCH)
BUS_WRITTEN: Final = 1  # of the gate 0x2383: the drive uses the gains written over the bus
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
        self._known: dict[tuple[int, int], int] = {}
        self._not_before = 0.0  # [s]

    @property
    def armed(self) -> bool:
        """Whether the drive is known to use the gains written over the bus."""
        return self._known.get(GATE_SWITCH) == BUS_WRITTEN

    @property
    def row(self) -> tuple[int, int, int]:
        """Position gain, velocity gain and integral as read back; UNKNOWN otherwise."""
        position, velocity, integral = (self._known.get(register, UNKNOWN) for register in GAINS)
        return position, velocity, integral

    def holds(self, wanted: JointRegisters) -> bool:
        """Whether read-back has shown that the drive works with `wanted`."""
        return self.armed and self._gains() == wanted

    def forget(self) -> None:
        """What is on the drive is not known any more."""
        self._known.clear()

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
            return self._writes(old, wanted), True
        if old is None or self.doubtful:
            return tuple(SdoObject(self.slave, *register) for register in REGISTERS), False
        return (), False

    def take(self, results: Sequence[SdoResult], now: float, *, write: bool) -> bool:
        """Take what became of all objects of a batch, written or only read. Whether all is well."""
        bad = [result for result in results if result.status is not SdoStatus.DONE]
        if any(result.status is not SdoStatus.DIFFERENT for result in bad):
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
            register = result.object.index, result.object.subindex
            value = int.from_bytes(result.object.data, "little", signed=True)
            before = self._known.get(register)
            if surprising and before not in (None, value):
                logger.warning(
                    "%s: 0x%04X:%02X was %s and is %s now: the drive restarted, or somebody else "
                    "wrote it", self._joint, *register, before, value
                )  # fmt: skip
            self._known[register] = value
            if register == GATE_SWITCH:
                self.doubtful = False

    def _writes(self, old: JointRegisters, wanted: JointRegisters) -> tuple[SdoObject, ...]:
        """From `old` to `wanted`, and the drive's own gate with it if need be."""
        changes = self._objects(write_order(old, wanted))
        if self.armed:
            return changes
        # Whether a drive keeps what is written while its own gate is closed is not documented:
        # it may find other gains in force when that opens, so all are written once more then.
        opening = SdoObject(self.slave, *GATE_SWITCH, BUS_WRITTEN.to_bytes(4, "little"))
        everything = self._objects(write_order(old, wanted, only_changed=False))
        return (*changes, opening, *everything)

    def _objects(self, writes: Iterable[RegisterWrite]) -> tuple[SdoObject, ...]:
        return tuple(SdoObject(self.slave, w.index, w.subindex, w.data) for w in writes)

    def _gains(self) -> JointRegisters | None:
        """The gains on the drive; None if they, or its gate, are not known."""
        if len(self._known) < len(REGISTERS):
            return None
        return JointRegisters(*(self._known[register] for register in GAINS))
