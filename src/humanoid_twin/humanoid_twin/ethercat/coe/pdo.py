"""Process data by the mapping objects 0x1600, 0x1A00, 0x1C12 and 0x1C13 (ETG.1000.6)."""

from collections.abc import Callable, Sequence
from struct import Struct
from struct import error as struct_error
from typing import Any, Final, Protocol

from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.pdo import PdoEntry
from humanoid_twin.ethercat.coe.dictionary import (
    Access,
    Entry,
    ObjectDictionary,
    SdoAbort,
    TypeCode,
    Value,
)

LONGEST_PDO = 64  # [bytes] assumed, confirm on hardware


# Formats of struct for unsigned and signed integers by bits, for PDOs of whole bytes.
_LETTERS: Final = {8: "Bb", 16: "Hh", 32: "Ii", 64: "Qq"}


class Image:
    """The process data of one direction: bytes to entries and back."""

    def __init__(self, dictionary: ObjectDictionary, lines: Sequence[PdoEntry]) -> None:
        """Compile the lines. Raises SdoAbort if a line names an unknown entry."""
        entries = [
            (line.bits, dictionary.entry(line.index, line.subindex) if line.index else None)
            for line in lines
        ]
        self.bytes = (sum(bits for bits, _ in entries) + 7) // 8
        whole = all(bits in _LETTERS if entry else bits % 8 == 0 for bits, entry in entries)
        codec: _Codec = _ByteCodec(entries) if whole else _BitCodec(entries, self.bytes)
        self._unpack, self._pack = codec.unpack, codec.pack
        self._setters = [entry.set for _, entry in entries if entry]
        self._getters = [entry.get for _, entry in entries if entry]

    def set_entries(self, data: bytes | bytearray, start: int = 0) -> None:
        """Pass the outputs at `start` of `data` to the entries' setters."""
        for setter, value in zip(self._setters, self._unpack(data, start), strict=False):
            setter(value)

    def get_entries(self) -> bytes:
        """Return inputs from the entries' getters; a value that doesn't fit wraps around."""
        return self._pack([getter() for getter in self._getters])


class _Codec(Protocol):
    def unpack(self, data: bytes | bytearray, start: int, /) -> Sequence[Any]: ...

    def pack(self, values: Sequence[Any]) -> bytes: ...


_Line = tuple[int, Entry | None]  # bits, and no entry for padding


class _ByteCodec:
    """Copies whole bytes, as most drives map them: several times as fast as bits."""

    def __init__(self, entries: Sequence[_Line]) -> None:
        letters = [
            _LETTERS[bits][entry.signed] if entry else f"{bits // 8}x" for bits, entry in entries
        ]
        self._signed = Struct("<" + "".join(letters))
        self._unsigned = Struct("<" + "".join(letters).upper().replace("X", "x"))
        self._masks = [(1 << bits) - 1 for bits, entry in entries if entry]
        self.unpack = self._signed.unpack_from

    def pack(self, values: Sequence[Any]) -> bytes:
        try:
            return self._signed.pack(*values)
        except struct_error:  # a value that doesn't fit
            wrapped = [value & mask for value, mask in zip(values, self._masks, strict=True)]
            return self._unsigned.pack(*wrapped)


class _BitCodec:
    """Any number of bits anywhere."""

    def __init__(self, entries: Sequence[_Line], length: int) -> None:
        self._bytes = length
        self._fields = []  # (shift, mask, sign bit or 0)
        shift = 0
        for bits, entry in entries:
            if entry:
                self._fields.append((shift, (1 << bits) - 1, entry.signed << bits - 1))
            shift += bits

    def unpack(self, data: bytes | bytearray, start: int, /) -> Sequence[int]:
        number = int.from_bytes(data[start : start + self._bytes], "little")
        return [((number >> shift & mask) ^ sign) - sign for shift, mask, sign in self._fields]

    def pack(self, values: Sequence[Any]) -> bytes:
        number = 0
        for value, (shift, mask, _) in zip(values, self._fields, strict=True):
            number |= (value & mask) << shift
        return number.to_bytes(self._bytes, "little")


class Mapping:
    """One direction's PDO and its assignment to a sync manager; both can be written in PREOP."""

    def __init__(
        self,
        dictionary: ObjectDictionary,
        pdo: int,
        assignment: int,
        lines: int,
        writable: Callable[[], bool],
    ) -> None:
        """`lines`: of a mapping object. `writable` returns whether the state is PREOP."""
        self._dictionary = dictionary
        self._pdo = pdo
        self._access = Access.WO if assignment == 0x1C12 else Access.RO
        self._writable = writable
        self._mapped = _Lines(dictionary, pdo, "PDO mapping", TypeCode.U32, lines, self._check_line)
        self._assigned = _Lines(
            dictionary, assignment, "PDO assignment", TypeCode.U16, 1, self._check_pdo
        )

    def restore(self, lines: Sequence[PdoEntry]) -> None:
        """Set the mapping of power-up."""
        self._mapped.fill([line.packed for line in lines])
        self._assigned.fill([self._pdo])

    def image(self) -> Image:
        """Return the process data as mapped and assigned now."""
        lines = self._mapped.present if self._assigned.present else []
        return Image(self._dictionary, [PdoEntry.unpacked(line) for line in lines])

    def _check_line(self, packed: int) -> None:
        self._check_state()
        line = PdoEntry.unpacked(packed)
        if packed == 0 or not line.index:
            return  # an empty line, or padding
        entry = self._dictionary.entry(line.index, line.subindex)
        fits = entry.pdo_mappable and self._access in entry.access and line.bits == entry.bits
        if not fits:
            raise SdoAbort(AbortCode.NOT_MAPPABLE)

    def _check_pdo(self, index: int) -> None:
        self._check_state()
        if index not in (0, self._pdo):
            raise SdoAbort(AbortCode.NOT_MAPPABLE)

    def _check_state(self) -> None:
        if not self._writable():
            raise SdoAbort(AbortCode.WRONG_STATE)


class _Lines:
    """An object of lines that can be written while its subindex 0 is 0."""

    def __init__(
        self,
        dictionary: ObjectDictionary,
        index: int,
        name: str,
        kind: TypeCode,
        count: int,
        check: Callable[[int], None],
    ) -> None:
        self._check = check
        self._lines = [0] * count
        self._count = 0
        entries = {sub: self._entry(name, kind, sub) for sub in range(1, count + 1)}
        number = Entry(
            name=f"{name} count", type=TypeCode.U8, get=lambda: self._count, set=self._set_count,
            access=Access.RW, spare_bytes=1,
        )  # fmt: skip
        dictionary.add_record(index, name, entries, number)

    @property
    def present(self) -> list[int]:
        """The lines in use."""
        return self._lines[: self._count]

    def fill(self, lines: Sequence[int]) -> None:
        """Set all lines, unchecked."""
        self._lines = [*lines, *[0] * (len(self._lines) - len(lines))]
        self._count = len(lines)

    def _entry(self, name: str, kind: TypeCode, sub: int) -> Entry:
        def change(value: Value) -> None:
            assert isinstance(value, int)  # the entry's type has no strings
            self._check(value)
            if self._count:
                raise SdoAbort(AbortCode.SUBINDEX_NOT_ZERO)
            self._lines[sub - 1] = value

        return Entry(
            name=f"{name} {sub}", type=kind, get=lambda: self._lines[sub - 1], set=change,
            access=Access.RW,
        )  # fmt: skip

    def _set_count(self, value: Value) -> None:
        assert isinstance(value, int)
        self._check(0)
        if value > len(self._lines):
            raise SdoAbort(AbortCode.VALUE_TOO_HIGH)
        lines = self._lines[:value]
        if 0 in lines:
            raise SdoAbort(AbortCode.NOT_MAPPABLE)
        if sum(line & 0xFF for line in lines) > 8 * LONGEST_PDO:
            raise SdoAbort(AbortCode.PDO_TOO_LONG)
        self._count = value
