"""SDO information: descriptions of a slave's objects (ETG.1000.6, section 5.6.3)."""

from struct import Struct
from typing import Final

from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.coe import Service
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_twin.ethercat.coe.dictionary import Access, Entry, ObjectDictionary, SdoAbort

_HEADER: Final = Struct("<HBxH")  # CoE header, operation, number of later fragments
_ERROR: Final = 7  # operation; that of an answer is its request's plus 1
_INCOMPLETE: Final = 0x80  # in the operation: more fragments follow
_VARIABLE, _RECORD = 7, 9  # object codes
_UNKNOWN_TYPE: Final = 0
_READ_ALWAYS, _WRITE_ALWAYS = 0x07, 0x38  # access in PREOP, SAFEOP and OP
_RX_MAPPABLE, _TX_MAPPABLE = 0x40, 0x80
_ALL, _RX, _TX = 1, 2, 3  # kinds of lists; 0 requests the lengths of five


class SdoInformation:
    """Describes a dictionary to a master."""

    def __init__(self, dictionary: ObjectDictionary) -> None:
        self._dictionary = dictionary

    def answer(self, payload: bytes, capacity: int) -> list[bytes]:
        """Return the answer to one request, in messages of at most `capacity` bytes.

        Raises ProtocolError if the request is cut.
        """
        if len(payload) < _HEADER.size + 2:
            raise ProtocolError(
                f"SDO information request of {len(payload)} bytes: {payload.hex(' ')}"
            )
        operation, data = payload[2] & ~_INCOMPLETE, payload[_HEADER.size :]
        try:
            described = self._describe(operation, data.ljust(4, b"\0"))
        except SdoAbort as abort:
            return [_message(_ERROR, 0, abort.code.to_bytes(4, "little"))]
        room = (capacity - _HEADER.size) // 2 * 2
        pieces = [described[i : i + room] for i in range(0, len(described), room)]
        left = range(len(pieces) - 1, -1, -1)
        return [
            _message(operation + 1, rest, piece) for rest, piece in zip(left, pieces, strict=True)
        ]

    def _describe(self, operation: int, data: bytes) -> bytes:
        index = int.from_bytes(data[:2], "little")
        match operation:
            case 1:  # list of objects
                return data[:2] + self._list(index)
            case 3:  # description of an object
                return data[:2] + self._object(index)
            case 5:  # description of an entry
                return data[:4] + self._entry(index, data[2])
        raise SdoAbort(AbortCode.COMMAND)

    def _list(self, kind: int) -> bytes:
        everything, into, out = (sorted(self._indices(use)) for use in (_ALL, _RX, _TX))
        lists: dict[int, list[int]] = {_ALL: everything, _RX: into, _TX: out, 4: [], 5: []}
        if kind == 0:
            numbers = [len(one) for one in lists.values()]
        elif kind in lists:
            numbers = lists[kind]
        else:
            raise SdoAbort(AbortCode.UNSUPPORTED_ACCESS)
        return b"".join(number.to_bytes(2, "little") for number in numbers)

    def _indices(self, use: int) -> list[int]:
        objects = self._dictionary.objects
        if use == _ALL:
            return list(objects)
        wanted = Access.WO if use == _RX else Access.RO

        def mappable(entry: Entry) -> bool:
            return entry.pdo_mappable and wanted in entry.access

        return [index for index in objects if any(map(mappable, objects[index].entries.values()))]

    def _object(self, index: int) -> bytes:
        found = self._dictionary.objects.get(index)
        if found is None:
            raise SdoAbort(AbortCode.NO_OBJECT)
        kind = _UNKNOWN_TYPE if found.record else found.entries[0].type
        code = _RECORD if found.record else _VARIABLE
        return kind.to_bytes(2, "little") + bytes([max(found.entries), code]) + found.name.encode()

    def _entry(self, index: int, subindex: int) -> bytes:
        entry = self._dictionary.entry(index, subindex)
        fields = (entry.type, entry.bits, _access(entry))
        return b"".join(field.to_bytes(2, "little") for field in fields) + entry.name.encode()


def _access(entry: Entry) -> int:
    access = 0
    if Access.RO in entry.access:
        access |= _READ_ALWAYS | (_TX_MAPPABLE if entry.pdo_mappable else 0)
    if Access.WO in entry.access:
        access |= _WRITE_ALWAYS | (_RX_MAPPABLE if entry.pdo_mappable else 0)
    return access


def _message(operation: int, left: int, data: bytes) -> bytes:
    more = _INCOMPLETE if left else 0
    return _HEADER.pack(Service.SDO_INFORMATION << 12, operation | more, left) + data
