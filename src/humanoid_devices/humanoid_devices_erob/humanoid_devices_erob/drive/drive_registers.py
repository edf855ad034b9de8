"""The loop gain registers of one drive as it has answered: values, and lengths of the objects."""

from collections.abc import Iterable
from typing import Final

from humanoid_devices_erob.drive.gains import (
    WIDEST,
    JointRegisters,
    RegisterWrite,
    decode_register,
    encode_register,
    write_order,
)
from humanoid_devices_erob.mailbox.sdo import Key, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.objects import (
    FEED_FORWARD,
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)

# In the order of JointRegisters; the feed-forward is read last, as a drive may lack it.
GAINS: Final = (POSITION_GAIN, VELOCITY_GAIN, VELOCITY_INTEGRAL, FEED_FORWARD)
REGISTERS: Final = (GATE_SWITCH, *GAINS)
FACTORY: Final = 0  # of the gate 0x2383: the drive uses its factory gains
BUS_WRITTEN: Final = 1  # of the gate 0x2383: the drive uses the gains written over the bus
UNKNOWN: Final = -1  # of a register that has not been read since the drive was set up
_NO_SUCH: Final = (AbortCode.NO_OBJECT, AbortCode.NO_SUBINDEX)


def is_good(result: SdoResult) -> bool:
    """Return whether an object succeeded; a drive may lack the feed-forward register."""
    absent = result.status is SdoStatus.ABORTED and result.abort_code in _NO_SUCH
    return result.status is SdoStatus.DONE or (absent and result.object.key == FEED_FORWARD)


class DriveRegisters:
    """The registers of one drive as read (back) last. Any thread may read the values."""

    def __init__(self, slave: int) -> None:
        self.slave = slave
        self.has_feed_forward: bool | None = None  # None: unknown
        self._values: dict[Key, int] = {}
        self._lengths: dict[Key, int] = {}  # [bytes]; constant for a drive

    def forget(self) -> None:
        """Treat all values as unknown."""
        self._values.clear()
        self.has_feed_forward = None

    def doubt(self, target: SdoObject) -> None:
        """Treat a value as unknown: while it is written it may be old or new."""
        self._values.pop(target.key, None)

    def learn(self, result: SdoResult, *, write: bool) -> tuple[Key, int | None, int | None]:
        """Take one object as read (back); return its key, and its value before and now.

        A feed-forward that the drive lacks counts as 0. A value that was written and not read back
        is unknown.
        """
        key = result.object.key
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

    def set_gate_closed(self) -> None:
        """Note that the gate is closed, which is known without a result."""
        self._values[GATE_SWITCH] = FACTORY

    @property
    def known(self) -> bool:
        """Return whether all registers are known."""
        return len(self._values) == len(REGISTERS)

    @property
    def gate(self) -> int | None:
        """Return 0x2383; None: unknown."""
        return self._values.get(GATE_SWITCH)

    @property
    def gains(self) -> JointRegisters | None:
        """Return the gains; None if one of them is unknown."""
        values = (self._values.get(key) for key in GAINS)
        known = [value for value in values if value is not None]
        return JointRegisters(*known) if len(known) == len(GAINS) else None

    def value(self, key: Key) -> int:
        """Return one register, or UNKNOWN."""
        return self._values.get(key, UNKNOWN)

    def reads(self) -> tuple[SdoObject, ...]:
        """Return the objects that read all registers."""
        return tuple(SdoObject(self.slave, *key) for key in REGISTERS)

    def writes(self, writes: Iterable[RegisterWrite]) -> tuple[SdoObject, ...]:
        """Return the objects that write registers in the drive's lengths, without missing ones.

        Raises ConfigError for a value that doesn't fit.
        """
        return tuple(
            SdoObject(self.slave, *it.key, self._encoded(it.key, it.value))
            for it in writes
            if it.key != FEED_FORWARD or self.has_feed_forward is not False
        )

    def arming(self, old: JointRegisters | None, new: JointRegisters) -> tuple[SdoObject, ...]:
        """Return the objects from `old` gains behind a closed gate to `new` gains in force.

        It is not documented whether a drive keeps gains written while its gate is closed. Other
        gains may be in force when it opens, so all are written again then. The feed-forward is
        written only behind the open gate, so that a drive that refuses it has its gains. Raises
        ConfigError for a value that doesn't fit.
        """
        before = (it for it in write_order(old, new) if it.key != FEED_FORWARD)
        everything = write_order(old, new, only_changed=False)
        return (*self.writes(before), self.write_gate(BUS_WRITTEN), *self.writes(everything))

    def write_gate(self, value: int) -> SdoObject:
        """Return the object that writes the gate."""
        return SdoObject(self.slave, *GATE_SWITCH, self._encoded(GATE_SWITCH, value))

    def _encoded(self, key: Key, value: int) -> bytes:
        return encode_register(value, self._lengths.get(key, WIDEST))
