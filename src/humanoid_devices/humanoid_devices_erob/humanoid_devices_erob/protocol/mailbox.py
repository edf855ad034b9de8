"""The EtherCAT mailbox: a header of six bytes, then the service's data (ETG.1000.4)."""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from humanoid_devices_erob.protocol.errors import ProtocolError

_HEADER = Struct("<HHBB")
HEADER_BYTES = _HEADER.size
_ERROR = Struct("<HH")
_ERROR_COMMAND = 1


class MailboxType(IntEnum):
    """Protocol of a mailbox message."""

    ERROR = 0
    AOE = 1
    EOE = 2
    COE = 3
    FOE = 4
    SOE = 5
    VENDOR = 15


class MailboxErrorCode(IntEnum):
    """The slave's reason for rejecting a mailbox message, in an answer of type ERROR."""

    SYNTAX = 1
    UNSUPPORTED_PROTOCOL = 2
    INVALID_CHANNEL = 3
    SERVICE_NOT_SUPPORTED = 4
    INVALID_HEADER = 5
    SIZE_TOO_SHORT = 6
    NO_MORE_MEMORY = 7
    INVALID_SIZE = 8


@dataclass(frozen=True, slots=True)
class MailboxHeader:
    """Header of one message. Field ranges are checked by `encode`."""

    length: int  # [bytes] after the header
    address: int = 0  # station address of the other end; 0 is the master
    priority: int = 0  # 0 .. 3
    channel: int = 0  # 0 .. 63
    type: int = MailboxType.COE
    counter: int = 0  # 1 .. 7, the slave drops a repetition; 0: not checked

    def encode(self) -> bytes:
        """Return the six bytes. Raises ProtocolError for a field that doesn't fit."""
        if not (0 <= self.length <= 0xFFFF and 0 <= self.address <= 0xFFFF):
            raise ProtocolError(f"mailbox length and address are 16 bits each: {self}")
        if not (0 <= self.priority <= 3 and 0 <= self.channel <= 63):
            raise ProtocolError(f"mailbox priority has 2 bits, channel has 6: {self}")
        if not (0 <= self.type <= 15 and 0 <= self.counter <= 7):
            raise ProtocolError(f"mailbox type has 4 bits, counter has 3: {self}")
        return _HEADER.pack(
            self.length,
            self.address,
            self.channel | self.priority << 6,
            self.type | self.counter << 4,
        )

    @classmethod
    def decode(cls, data: bytes) -> "MailboxHeader":
        """Return the header at the start of `data`. Raises ProtocolError if it is cut."""
        if len(data) < HEADER_BYTES:
            raise ProtocolError(f"a mailbox header has 6 bytes, not {len(data)}: {data.hex(' ')}")
        length, address, channel, kind = _HEADER.unpack_from(data)
        return cls(length, address, channel >> 6, channel & 0x3F, kind & 0xF, kind >> 4 & 0x7)


def encode_mailbox(payload: bytes, *, counter: int, type: int = MailboxType.COE) -> bytes:
    """Return header and payload, not padded to the mailbox's size. Raises ProtocolError."""
    return MailboxHeader(len(payload), type=type, counter=counter).encode() + payload


def decode_mailbox(data: bytes) -> tuple[MailboxHeader, bytes]:
    """Return header and payload of a message without padding. Raises ProtocolError if it is cut."""
    header = MailboxHeader.decode(data)
    payload = bytes(data[HEADER_BYTES : HEADER_BYTES + header.length])
    if len(payload) < header.length:
        raise ProtocolError(
            f"the length of the mailbox data is {header.length} bytes, found {len(payload)}"
        )
    return header, payload


def encode_mailbox_error(code: int) -> bytes:
    """Return the payload of a message of type ERROR."""
    return _ERROR.pack(_ERROR_COMMAND, code)


def decode_mailbox_error(payload: bytes) -> int:
    """Return the MailboxErrorCode (or an unknown one) of an ERROR payload. Raises ProtocolError."""
    if len(payload) < _ERROR.size or _ERROR.unpack_from(payload)[0] != _ERROR_COMMAND:
        raise ProtocolError(f"not a mailbox error reply: {payload.hex(' ')}")
    return int(_ERROR.unpack_from(payload)[1])


def mailbox_error_name(code: int) -> str:
    """Return number and name of a MailboxErrorCode, or the number of an unknown one."""
    known = code in MailboxErrorCode.__members__.values()
    return f"0x{code:04X}: {MailboxErrorCode(code).name}" if known else f"0x{code:04X}"
