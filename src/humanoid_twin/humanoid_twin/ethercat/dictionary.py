"""The CoE object dictionary of one drive: typed entries and access rights (ETG.1000.6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from humanoid_control_common.errors import RobotError
from humanoid_devices_erob.wire.abort import AbortCode, describe_abort

Value = int | bytes
Getter = Callable[[], Value]
Setter = Callable[[Value], None]


class SdoAbort(RobotError):  # noqa: N818 - the protocol's own word for it
    """An access that the drive refuses, with the abort code that it answers."""

    def __init__(self, code: int) -> None:
        super().__init__(describe_abort(code))
        self.code = code


class TypeCode(IntEnum):
    """Data types of CoE entries (ETG.1000.6, basic data types)."""

    I8 = 0x0002
    I16 = 0x0003
    I32 = 0x0004
    U8 = 0x0005
    U16 = 0x0006
    U32 = 0x0007
    VISIBLE_STRING = 0x0009
    I64 = 0x0015
    U64 = 0x001B


class Access(IntFlag):
    """What the bus may do with an entry."""

    RO = 1
    WO = 2
    RW = 3


_BYTES = {
    TypeCode.I8: 1, TypeCode.U8: 1, TypeCode.I16: 2, TypeCode.U16: 2, TypeCode.I32: 4,
    TypeCode.U32: 4, TypeCode.I64: 8, TypeCode.U64: 8,
}  # fmt: skip
_SIGNED = {TypeCode.I8, TypeCode.I16, TypeCode.I32, TypeCode.I64}


def _nothing(_value: Value) -> None:
    """What happens when an entry without setter is written: it isn't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One (index, subindex). `get` and `set` see Python values: int, or bytes for a string.

    `set` may raise SdoAbort (value out of range, wrong state). `spare_bytes` more than the type has
    are accepted if they are zero: ZeroErr's public demo writes some 8-bit counts with 16 bits.
    """

    name: str
    type: TypeCode
    get: Getter
    set: Setter = _nothing
    access: Access = Access.RO
    pdo_mappable: bool = False
    longest: int = 0  # [bytes] of a string that can be written
    spare_bytes: int = 0

    @property
    def bits(self) -> int:
        """Size in a process data object and in SDO information; a string's is its present one."""
        size = _BYTES.get(self.type)
        return 8 * (len(self.pack()) if size is None else size)

    @property
    def signed(self) -> bool:
        """Whether the integer has a sign."""
        return self.type in _SIGNED

    def pack(self) -> bytes:
        """The present value as it travels; an integer that doesn't fit wraps around."""
        value = self.get()
        if isinstance(value, bytes):
            return value
        size = _BYTES[self.type]
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def unpack(self, data: bytes) -> Value:
        """The value that `data` says. Raises SdoAbort if there are too few or too many bytes."""
        size = _BYTES.get(self.type)
        if size is None:
            if len(data) > self.longest:
                raise SdoAbort(AbortCode.TOO_LONG)
            return bytes(data)
        if len(data) < size:
            raise SdoAbort(AbortCode.TOO_SHORT)
        if len(data) > size + self.spare_bytes or any(data[size:]):
            raise SdoAbort(AbortCode.TOO_LONG)
        return int.from_bytes(data[:size], "little", signed=self.signed)


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One index: its name and its entries by subindex (a variable has subindex 0 only)."""

    name: str
    entries: Mapping[int, Entry]
    record: bool


class ObjectDictionary:
    """What SDO and PDO of one drive reach. Filled once, by the ring and by the firmware."""

    def __init__(self) -> None:
        self._objects: dict[int, ObjectInfo] = {}

    def add_variable(self, index: int, entry: Entry) -> None:
        """An object that has subindex 0 only. Replaces an object of that index."""
        self._objects[index] = ObjectInfo(entry.name, {0: entry}, record=False)

    def add_record(
        self, index: int, name: str, entries: Mapping[int, Entry], count: Entry | None = None
    ) -> None:
        """An object with subindices 1 and up; subindex 0 is the highest of them unless given.

        Replaces an object of that index.
        """
        highest = max(entries, default=0)
        if count is None:
            count = Entry(name=f"{name} count", type=TypeCode.U8, get=lambda: highest)
        ordered = {sub: entries[sub] for sub in sorted(entries)}
        self._objects[index] = ObjectInfo(name, {0: count, **ordered}, record=True)

    @property
    def objects(self) -> Mapping[int, ObjectInfo]:
        """Every object by index; in no particular order."""
        return self._objects

    def entry(self, index: int, subindex: int) -> Entry:
        """One entry. Raises SdoAbort if there is none."""
        found = self._object(index).entries.get(subindex)
        if found is None:
            raise SdoAbort(AbortCode.NO_SUBINDEX)
        return found

    def read(self, index: int, subindex: int) -> bytes:
        """The value as it travels. Raises SdoAbort."""
        entry = self.entry(index, subindex)
        if Access.RO not in entry.access:
            raise SdoAbort(AbortCode.WRITE_ONLY)
        return entry.pack()

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set the value. Raises SdoAbort, and then nothing has changed."""
        entry = self.entry(index, subindex)
        if Access.WO not in entry.access:
            raise SdoAbort(AbortCode.READ_ONLY)
        entry.set(entry.unpack(data))

    def read_complete(self, index: int, first: int) -> bytes:
        """All entries from subindex `first` (0 or 1) on, up to the number in subindex 0.

        Subindex 0 takes two bytes, the rest is packed without gaps. Raises SdoAbort.
        """
        found = self._record(index, first)
        count = found.entries[0].pack()[0]
        head = bytes([count, 0]) if first == 0 else b""
        return head + b"".join(self.read(index, sub) for sub in found.entries if 0 < sub <= count)

    def write_complete(self, index: int, first: int, data: bytes) -> None:
        """Write entries from subindex `first` (0 or 1) on, as many as `data` has.

        A count that can be written is set to 0 first and to what `data` says at the end, as one
        would write the subindices one by one. Raises SdoAbort; what was written before it stays.
        """
        entries = self._record(index, first).entries
        counted = Access.WO in entries[0].access
        position = 2 * (first == 0)
        if len(data) < position:
            raise SdoAbort(AbortCode.TOO_SHORT)
        if counted and first == 0:
            self.write(index, 0, bytes(1))
        position = self._write_members(index, position, data)
        if position < len(data):
            raise SdoAbort(AbortCode.TOO_LONG)
        if counted and first == 0:
            self.write(index, 0, data[:1])

    def _write_members(self, index: int, position: int, data: bytes) -> int:
        for sub, entry in self._objects[index].entries.items():
            size = entry.bits // 8
            if sub == 0:
                continue
            if position >= len(data):
                break
            if Access.WO in entry.access:
                self.write(index, sub, data[position : position + size])
            position += size
        return position

    def _object(self, index: int) -> ObjectInfo:
        found = self._objects.get(index)
        if found is None:
            raise SdoAbort(AbortCode.NO_OBJECT)
        return found

    def _record(self, index: int, first: int) -> ObjectInfo:
        found = self._object(index)
        if not found.record or first > 1:
            raise SdoAbort(AbortCode.NO_COMPLETE_ACCESS)
        return found
