"""The slave information interface: the content of a slave's EEPROM (ETG.1000.6, ETG.2010)."""

from struct import pack
from typing import Final

from humanoid_twin.ethercat.parameters import Buffer, SlaveParameters

COE: Final = 0x0004  # mailbox protocol
EEPROM_BYTES: Final = 2048
_CATEGORIES: Final = 0x80  # [bytes]
_STRINGS, _GENERAL, _FMMU, _SYNC_MANAGERS, _END = 10, 30, 40, 41, 0xFFFF
_COE_DETAILS: Final = 0x2F  # SDO, SDO information, PDO assign and configuration, complete access
_IN_KILOBIT = 1024 // 8  # [bytes]


def build_sii(parameters: SlaveParameters) -> bytes:
    """Return the EEPROM's content, EEPROM_BYTES long, padded with 0xFF as an erased one."""
    content = _head(parameters) + _categories(parameters)
    return content.ljust(EEPROM_BYTES, b"\xff")


def checksum(configuration: bytes) -> int:
    """Return the CRC-8 of the first seven words: polynomial x^8 + x^2 + x + 1, start 0xFF."""
    remainder = 0xFF
    for byte in configuration:
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder << 1 ^ (0x07 if remainder & 0x80 else 0)) & 0xFF
    return remainder


def _head(parameters: SlaveParameters) -> bytes:
    identity = parameters.identity
    out, into = parameters.mailbox_out, parameters.mailbox_in
    configuration = pack("<7H", 0x0005, 0, 0, 0, 0, 0, 0)  # PDI: 8-bit microcontroller
    head = configuration + pack("<H", checksum(configuration))
    head += pack("<4I", identity.vendor, identity.product, identity.revision, identity.serial)
    head += bytes(8)  # hardware delays
    head += bytes(8)  # bootstrap mailbox: none
    head += pack("<4H", out.start, out.length, into.start, into.length)
    head += pack("<H", COE)
    head = head.ljust(_CATEGORIES - 4, b"\0")
    return head + pack("<2H", EEPROM_BYTES // _IN_KILOBIT - 1, 1)  # size, version


def _categories(parameters: SlaveParameters) -> bytes:
    general = bytearray(32)
    general[0:4] = 0, 0, 0, 1  # strings of group, image, order number (none) and name
    general[5] = _COE_DETAILS
    general[12:14] = pack("<h", parameters.ebus_milliamperes)
    name = parameters.identity.name.encode()[:255]
    return b"".join(
        [
            _category(_STRINGS, bytes([1, len(name)]) + name),
            _category(_GENERAL, bytes(general)),
            _category(_FMMU, bytes([1, 2, 3, 0])),  # outputs, inputs, mailbox state
            _category(_SYNC_MANAGERS, _sync_managers(parameters)),
            pack("<H", _END),
        ]
    )


def _category(kind: int, data: bytes) -> bytes:
    padded = data + bytes(len(data) % 2)
    return pack("<HH", kind, len(padded) // 2) + padded


def _sync_managers(parameters: SlaveParameters) -> bytes:
    def line(buffer: Buffer, control: int, use: int) -> bytes:
        return pack("<HHBBBB", buffer.start, buffer.length, control, 0, 1, use)

    return b"".join(
        [
            line(parameters.mailbox_out, 0x26, 1),
            line(parameters.mailbox_in, 0x22, 2),
            line(parameters.outputs, 0x64, 3),
            line(parameters.inputs, 0x20, 4),
        ]
    )
