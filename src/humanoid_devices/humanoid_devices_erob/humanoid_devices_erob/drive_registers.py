"""What one drive has answered about its loop gains: values, and how long its objects are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from humanoid_devices_erob.gains import (
    WIDEST,
    JointRegisters,
    RegisterWrite,
    decode_register,
    encode_register,
    write_order,
)
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.wire.abort import AbortCode
from humanoid_devices_erob.wire.objects import (
    FEED_FORWARD,
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)

Key: TypeAlias = tuple[int, int]  # index, subindex

# In the order of JointRegisters; the feed-forward is read last, as a drive may be without.
GAINS: Final = (POSITION_GAIN, VELOCITY_GAIN, VELOCITY_INTEGRAL, FEED_FORWARD)
REGISTERS: Final = (GATE_SWITCH, *GAINS)
FACTORY: Final = 0  # of the gate 0x2383: the drive uses its own gains, whatever was written
BUS_WRITTEN: Final = 1  # of the gate 0x2383: the drive uses the gains written over the bus
_NO_SUCH: Final = (AbortCode.NO_OBJECT, AbortCode.NO_SUBINDEX)


def is_good(result: SdoResult) -> bool:
    """Whether all went well: a drive needs no feed-forward register."""
    key = result.object.index, result.object.subindex
    absent = result.status is SdoStatus.ABORTED and result.abort_code in _NO_SUCH
    return result.status is SdoStatus.DONE or (absent and key == FEED_FORWARD)


class DriveRegisters:
    """The registers of one drive as they were read (back) last."""

    def __init__(self, slave: int) -> None:
        self.slave = slave
        self.has_feed_forward: bool | None = None  # None: not known
        self._values: dict[Key, int] = {}
        self._lengths: dict[Key, int] = {}  # [bytes]; of the drive, whatever happens to it

    def forget(self) -> None:
        """What is on the drive is not known any more."""
        self._values.clear()
        self.has_feed_forward = None

    def doubt(self, target: SdoObject) -> None:
        """An object that is being written has neither its old value nor its new one for sure."""
        self._values.pop((target.index, target.subindex), None)

    def learn(self, result: SdoResult, *, write: bool) -> tuple[Key, int | None, int | None]:
        """Take one object as it was read (back): which it is, its value before, and now.

        A feed-forward that the drive doesn't have is as good as 0. What was written and not read
        back isn't known any more.
        """
        key = result.object.index, result.object.subindex
        before = self._values.get(key)
        if write and result.status is not SdoStatus.REFUSED:
            self.doubt(result.object)
        read = result.status in (SdoStatus.DONE, SdoStatus.DIFFERENT) and result.object.data
        if key in REGISTERS and read:
            self._values[key] = decode_register(result.object.data)
            self._lengths[key] = len(result.object.data)
            self.has_feed_forward = key == FEED_FORWARD or self.has_feed_forward
        elif key == FEED_FORWARD and is_good(result):
            self._values[key] = 0
            self.has_feed_forward = False
        return key, before, self._values.get(key)

    def expect_gate(self, value: int) -> None:
        """The gate is known otherwise than from a result."""
        self._values[GATE_SWITCH] = value

    @property
    def known(self) -> bool:
        """Whether all registers are."""
        return len(self._values) == len(REGISTERS)

    @property
    def gate(self) -> int | None:
        """0x2383; None if it isn't known."""
        return self._values.get(GATE_SWITCH)

    @property
    def gains(self) -> JointRegisters | None:
        """None if one of them isn't known."""
        if not all(key in self._values for key in GAINS):
            return None
        return JointRegisters(*(self._values[key] for key in GAINS))

    def value(self, key: Key, unknown: int) -> int:
        """One register, or `unknown`."""
        return self._values.get(key, unknown)

    def reads(self) -> tuple[SdoObject, ...]:
        """All of them, to be read."""
        return tuple(SdoObject(self.slave, *key) for key in REGISTERS)

    def writes(self, writes: Iterable[RegisterWrite]) -> tuple[SdoObject, ...]:
        """The objects to be written, as long as the drive has them; none that it hasn't.

        Raises ConfigError for a value that doesn't fit.
        """
        return tuple(
            SdoObject(self.slave, *it.key, self._encoded(it.key, it.value))
            for it in writes
            if it.key != FEED_FORWARD or self.has_feed_forward is not False
        )

    def arming(self, old: JointRegisters | None, new: JointRegisters) -> tuple[SdoObject, ...]:
        """From `old` gains behind a closed gate to `new` ones that act.

        Whether a drive keeps what is written while its own gate is closed is not documented: it may
        find other gains in force when that opens, so all are written once more then. The
        feed-forward is written behind the open gate only: the gains don't wait for a drive that
        refuses it. Raises ConfigError for a value that doesn't fit.
        """
        before = (it for it in write_order(old, new) if it.key != FEED_FORWARD)
        everything = write_order(old, new, only_changed=False)
        return (*self.writes(before), self.write_gate(BUS_WRITTEN), *self.writes(everything))

    def write_gate(self, value: int) -> SdoObject:
        """The gate, to be written."""
        return SdoObject(self.slave, *GATE_SWITCH, self._encoded(GATE_SWITCH, value))

    def _encoded(self, key: Key, value: int) -> bytes:
        return encode_register(value, self._lengths.get(key, WIDEST))
