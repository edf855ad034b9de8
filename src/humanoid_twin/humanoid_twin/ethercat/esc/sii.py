"""The slave information interface: the EEPROM's content (ETG.1000.6, ETG.2010) and registers."""

from struct import pack
from typing import Final

from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import Esc
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


_NOTHING, _READ, _WRITE, _RELOAD = 0, 1, 2, 4  # commands, in bits 10-8 of EEPROM control
_COMMAND_MASK = 0x0700
_WRITE_ENABLE = 0x0001
_READS_EIGHT_BYTES = 0x0040
_REFUSED = 0x2000  # error: command not acknowledged
_OWNED_BY_PDI = 0x01


class Eeprom:
    """The EEPROM and its registers. It is never busy."""

    def __init__(self, esc: Esc, content: bytes) -> None:
        self.content = bytearray(content)
        self._esc = esc
        esc.on(
            reg.EEPROM_CONTROL,
            2,
            before_write=lambda _address, _data: not self._owned_by_pdi(),
            after_write=lambda _address, _data: self._run(),
        )
        self.power_up()

    def power_up(self) -> None:
        """Reset the registers."""
        self._esc.put(reg.EEPROM_CONTROL, 2, _READS_EIGHT_BYTES)

    def _owned_by_pdi(self) -> bool:
        return bool(self._esc.get(reg.EEPROM_OWNER, 1) & _OWNED_BY_PDI)

    def _run(self) -> None:
        control = self._esc.get(reg.EEPROM_CONTROL, 2)
        start = 2 * self._esc.get(reg.EEPROM_ADDRESS, 4)
        command = (control & _COMMAND_MASK) >> 8
        error = 0
        if command in (_NOTHING, _READ, _RELOAD):
            data = bytes(self.content[start : start + 8]).ljust(8, b"\xff")
            self._esc.memory[reg.EEPROM_DATA : reg.EEPROM_DATA + 8] = data
        elif command == _WRITE and control & _WRITE_ENABLE and start + 2 <= len(self.content):
            word = self._esc.memory[reg.EEPROM_DATA : reg.EEPROM_DATA + 2]
            self.content[start : start + 2] = word
        else:
            error = _REFUSED
        self._esc.put(reg.EEPROM_CONTROL, 2, _READS_EIGHT_BYTES | error)
