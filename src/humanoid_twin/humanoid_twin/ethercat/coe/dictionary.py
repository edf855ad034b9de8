"""The CoE object dictionary of one drive: typed entries and access rights (ETG.1000.6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from humanoid_control_common.errors import RobotError
from humanoid_devices_erob.protocol.abort import AbortCode, describe_abort

Value = int | bytes
Getter = Callable[[], Value]
Setter = Callable[[Value], None]


class SdoAbort(RobotError):  # noqa: N818 - the protocol's term
    """A refused access, with the abort code of the answer."""

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
    """Access rights of the bus to an entry."""

    RO = 1
    WO = 2
    RW = 3


_BYTES = {
    TypeCode.I8: 1, TypeCode.U8: 1, TypeCode.I16: 2, TypeCode.U16: 2, TypeCode.I32: 4,
    TypeCode.U32: 4, TypeCode.I64: 8, TypeCode.U64: 8,
}  # fmt: skip
_SIGNED = {TypeCode.I8, TypeCode.I16, TypeCode.I32, TypeCode.I64}


def _nothing(_value: Value) -> None:
    """Ignore a write to an entry without setter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One (index, subindex). Values of `get` and `set` are int, or bytes for a string.

    `set` may raise SdoAbort (value out of range, wrong state). `spare_bytes` beyond the type's size
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
        """Size in a process data object and in SDO information; of a string, its present one."""
        size = _BYTES.get(self.type)
        return 8 * (len(self.pack()) if size is None else size)

    @property
    def signed(self) -> bool:
        """True if the integer has a sign."""
        return self.type in _SIGNED

    def pack(self) -> bytes:
        """Return the present value as bytes; an integer that doesn't fit wraps around."""
        value = self.get()
        if isinstance(value, bytes):
            return value
        size = _BYTES[self.type]
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def unpack(self, data: bytes) -> Value:
        """Return the value of `data`. Raises SdoAbort if there are too few or too many bytes."""
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
    """The objects of one drive for SDO and PDO, added by the ring and by the firmware."""

    def __init__(self) -> None:
        self._objects: dict[int, ObjectInfo] = {}

    def add_variable(self, index: int, entry: Entry) -> None:
        """Add an object with subindex 0 only. Replaces an object of that index."""
        self._objects[index] = ObjectInfo(entry.name, {0: entry}, record=False)

    def add_record(
        self, index: int, name: str, entries: Mapping[int, Entry], count: Entry | None = None
    ) -> None:
        """Add an object with subindices 1 and up; subindex 0 is the highest of them unless given.

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
        """Return an entry. Raises SdoAbort if there is none."""
        found = self._object(index).entries.get(subindex)
        if found is None:
            raise SdoAbort(AbortCode.NO_SUBINDEX)
        return found

    def read(self, index: int, subindex: int) -> bytes:
        """Return a value as bytes. Raises SdoAbort."""
        entry = self.entry(index, subindex)
        if Access.RO not in entry.access:
            raise SdoAbort(AbortCode.WRITE_ONLY)
        return entry.pack()

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Set a value. Raises SdoAbort, and then changes nothing."""
        entry = self.entry(index, subindex)
        if Access.WO not in entry.access:
            raise SdoAbort(AbortCode.READ_ONLY)
        entry.set(entry.unpack(data))

    def read_complete(self, index: int, first: int) -> bytes:
        """Return all entries from subindex `first` (0 or 1) on, up to the number in subindex 0.

        Subindex 0 takes two bytes, the rest is packed without gaps. Raises SdoAbort.
        """
        found = self._record(index, first)
        count = found.entries[0].pack()[0]
        head = bytes([count, 0]) if first == 0 else b""
        return head + b"".join(self.read(index, sub) for sub in found.entries if 0 < sub <= count)

    def write_complete(self, index: int, first: int, data: bytes) -> None:
        """Write entries from subindex `first` (0 or 1) on, as many as `data` has.

        A writable count is set to 0 first and to the value in `data` at the end, as with single
        writes. Raises SdoAbort; earlier writes stay.
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
