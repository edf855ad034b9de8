"""Convert words of the command line to CoE objects, and their bytes to text. No ROS here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_devices_erob.protocol import objects

LARGEST_POSITION: Final = 0xFFFF  # a ring has no more station addresses
MOST_POSITIONS: Final = 256  # of one request: ReadSdoBatch.srv, WriteSdoBatch.srv


class ArgumentError(RobotError):
    """A word of the command line can't be parsed; the message states what is expected."""


class ValueType(StrEnum):
    """Data type of an object; little-endian, as everything in CoE."""

    U8 = "u8"
    I8 = "i8"
    U16 = "u16"
    I16 = "i16"
    U32 = "u32"
    I32 = "i32"
    U64 = "u64"
    I64 = "i64"
    TEXT = "text"

    @property
    def signed(self) -> bool:
        """True if it has negative values."""
        return self.value.startswith("i")

    @property
    def size(self) -> int | None:
        """Length in bytes; None for text, which has any."""
        return None if self is ValueType.TEXT else int(self.value[1:]) // 8


# Types of objects that the documents name (CiA 402, ZeroErr manual): the user need not.
TYPES: Final = {
    objects.VELOCITY_LOOP: ValueType.I32,
    objects.POSITION_LOOP: ValueType.I32,
    objects.DEVICE_NAME: ValueType.TEXT,
    objects.ERROR_CODE: ValueType.U16,
    objects.CONTROLWORD: ValueType.U16,
    objects.STATUSWORD: ValueType.U16,
    objects.MODE: ValueType.I8,
    objects.MODE_DISPLAY: ValueType.I8,
    objects.POSITION: ValueType.I32,
    objects.VELOCITY: ValueType.I32,
    objects.TORQUE: ValueType.I16,
    objects.TARGET_POSITION: ValueType.I32,
}


@dataclass(frozen=True, slots=True)
class Address:
    """One CoE object of a slave."""

    index: int
    subindex: int

    def __str__(self) -> str:
        return f"0x{self.index:04X}:{self.subindex:02X}"

    @property
    def known_type(self) -> ValueType | None:
        """Return the documented type, if any; subindex 0 of a record counts its entries."""
        is_count = self.subindex == 0 and self.index in {
            objects.VELOCITY_LOOP,
            objects.POSITION_LOOP,
        }
        return ValueType.U8 if is_count else TYPES.get(self.index)


def parse_number(word: str, what: str, largest: int) -> int:
    """Return a number from 0, decimal or with 0x. Raises ArgumentError that names `what`."""
    try:
        number = int(word, 0)
    except ValueError:
        number = -1
    if not 0 <= number <= largest:
        raise ArgumentError(
            f"{what} is '{word}', expected a number from 0 to {largest}, decimal or with 0x"
        )
    return number


def parse_positions(word: str) -> list[int]:
    """Return ring positions: one, a range or several: 3, 0-9, 0,5. Raises ArgumentError."""
    positions: dict[int, None] = {}  # each once, in the order given
    for part in word.split(","):
        first, dash, last = part.partition("-")
        low = parse_number(first, "ring position", LARGEST_POSITION)
        high = parse_number(last, "ring position", LARGEST_POSITION) if dash else low
        positions |= dict.fromkeys(range(low, high + 1))
    if not positions:
        raise ArgumentError(f"ring position is '{word}', expected the lower one first, as in 0-9")
    if len(positions) > MOST_POSITIONS:
        raise ArgumentError(
            f"'{word}' has {len(positions)} ring positions, expected {MOST_POSITIONS} at most"
        )
    return list(positions)


def parse_address(word: str) -> Address:
    """Return INDEX or INDEX:SUB, as in 0x603F and 0x2381:1. Raises ArgumentError."""
    index, _, subindex = word.partition(":")
    return Address(
        parse_number(index, "object index", 0xFFFF),
        parse_number(subindex or "0", "subindex", 0xFF),
    )


def encode_value(word: str, kind: ValueType) -> bytes:
    """Return the bytes of a value. Raises ArgumentError for one that the type doesn't have."""
    if kind.size is None:
        return word.encode()
    try:
        return int(word, 0).to_bytes(kind.size, "little", signed=kind.signed)
    except ValueError:
        raise ArgumentError(f"value is '{word}', expected a number, decimal or with 0x") from None
    except OverflowError:
        low, high = _range(kind)
        raise ArgumentError(
            f"value is {word}, expected {low} to {high} for {kind}; another type is given by --type"
        ) from None


def type_of_size(size: int, word: str) -> ValueType:
    """Return the type of a number with `size` bytes. Raises ArgumentError if there is none."""
    name = f"{'i' if word.startswith('-') else 'u'}{8 * size}"
    if name not in {kind.value for kind in ValueType}:
        raise ArgumentError(f"the object has {size} bytes and is no number: give its --type")
    return ValueType(name)


def format_value(data: bytes, kind: ValueType | None) -> str:
    """Format a value: numbers decimal and hexadecimal, text as such, anything else as bytes."""
    if kind is ValueType.TEXT or (kind is None and _looks_like_text(data)):
        return repr(data.rstrip(b"\0").decode("latin-1"))
    number_sizes = {kind.size for kind in ValueType if kind.size}
    if len(data) not in number_sizes:
        return data.hex(" ") or "no data"
    value = int.from_bytes(data, "little", signed=bool(kind and kind.signed))
    bits = int.from_bytes(data, "little")
    text = f"{value} (0x{bits:0{2 * len(data)}X})"
    if kind is None and bits >> (8 * len(data) - 1):
        text += f", signed {int.from_bytes(data, 'little', signed=True)}"
    return text


def check_size(data: Sequence[int], kind: ValueType | None) -> None:
    """Raise ArgumentError if the value's length is not that of the requested type."""
    if kind is not None and kind.size is not None and len(data) != kind.size:
        raise ArgumentError(f"the object has {len(data)} bytes, {kind} has {kind.size}")


def _range(kind: ValueType) -> tuple[int, int]:
    assert kind.size is not None
    bits = 8 * kind.size
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.signed else (0, (1 << bits) - 1)


def _looks_like_text(data: bytes) -> bool:
    body = data.rstrip(b"\0")
    return len(body) > 4 and re.fullmatch(rb"[ -~]+", body) is not None
