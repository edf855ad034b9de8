"""The ESC's interface to its EEPROM, over which masters read the SII (ESC data sheet)."""

from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import Esc

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
