"""Process data of one drive: mapped objects and byte layout."""

from dataclasses import dataclass
from struct import Struct

from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.errors import ProtocolError


@dataclass(frozen=True, slots=True)
class PdoEntry:
    """One line of a PDO mapping object (ETG.1000.6); index 0 is padding."""

    index: int
    subindex: int
    bits: int

    @property
    def packed(self) -> int:
        """Return the entry as the u32 in 0x1600 / 0x1A00."""
        return self.index << 16 | self.subindex << 8 | self.bits

    @classmethod
    def unpacked(cls, packed: int) -> "PdoEntry":
        """Return the entry in `packed`. Raises ProtocolError unless it is a u32."""
        if not 0 <= packed <= 0xFFFFFFFF:
            raise ProtocolError(f"a PDO mapping entry is an unsigned 32-bit number, not {packed}")
        return cls(packed >> 16, packed >> 8 & 0xFF, packed & 0xFF)


RX_MAPPING = (
    PdoEntry(objects.CONTROLWORD, 0, 16),
    PdoEntry(objects.TARGET_POSITION, 0, 32),
    PdoEntry(objects.MODE, 0, 8),
    PdoEntry(0, 0, 8),  # the padding of ZeroErr's public demo: an even number of bytes
)
TX_MAPPING = (
    PdoEntry(objects.STATUSWORD, 0, 16),
    PdoEntry(objects.POSITION, 0, 32),
    PdoEntry(objects.VELOCITY, 0, 32),
    PdoEntry(objects.TORQUE, 0, 16),
)

RX_STRUCT = Struct("<Hibx")  # controlword, target position [counts], mode
TX_STRUCT = Struct("<Hiih")  # statusword, position [counts], velocity [counts/s], torque
RX_BYTES = RX_STRUCT.size
TX_BYTES = TX_STRUCT.size
