"""SDO abort codes (ETG.1000.6, CiA 301)."""

from enum import IntEnum


class AbortCode(IntEnum):
    """Codes of an SDO abort, each with its meaning in `text`."""

    text: str

    def __new__(cls, code: int, text: str) -> "AbortCode":
        """Keep the meaning beside the code."""
        member = int.__new__(cls, code)
        member._value_, member.text = code, text
        return member

    TOGGLE = 0x05030000, "toggle bit not changed"
    TIMEOUT = 0x05040000, "SDO protocol timed out"
    COMMAND = 0x05040001, "command specifier not valid or unknown"
    BLOCK_SIZE = 0x05040002, "block size not valid"
    SEQUENCE = 0x05040003, "sequence number not valid"
    CHECKSUM = 0x05040004, "checksum wrong"
    OUT_OF_MEMORY = 0x05040005, "out of memory"
    UNSUPPORTED_ACCESS = 0x06010000, "unsupported access to the object"
    WRITE_ONLY = 0x06010001, "object is write only"
    READ_ONLY = 0x06010002, "object is read only"
    SUBINDEX_NOT_ZERO = 0x06010003, "subindex can't be written while subindex 0 isn't 0"
    NO_COMPLETE_ACCESS = 0x06010004, "complete access isn't supported for the object"
    NO_OBJECT = 0x06020000, "object does not exist"
    NOT_MAPPABLE = 0x06040041, "object can't be mapped to a PDO"
    PDO_TOO_LONG = 0x06040042, "mapped objects would exceed the PDO's length"
    INCOMPATIBLE = 0x06040043, "parameters are incompatible"
    INCOMPATIBLE_INSIDE = 0x06040047, "incompatible inside the device"
    HARDWARE = 0x06060000, "access failed, hardware error"
    LENGTH = 0x06070010, "length of the data doesn't match the object"
    TOO_LONG = 0x06070012, "data is longer than the object"
    TOO_SHORT = 0x06070013, "data is shorter than the object"
    NO_SUBINDEX = 0x06090011, "subindex does not exist"
    VALUE_RANGE = 0x06090030, "value out of range"
    VALUE_TOO_HIGH = 0x06090031, "value too high"
    VALUE_TOO_LOW = 0x06090032, "value too low"
    RANGE_REVERSED = 0x06090036, "largest value is below the smallest"
    NO_RESOURCE = 0x060A0023, "resource not available"
    GENERAL = 0x08000000, "general error"
    CANNOT_STORE = 0x08000020, "data can't be transferred or stored"
    LOCAL_CONTROL = 0x08000021, "data can't be stored: local control"
    WRONG_STATE = 0x08000022, "data can't be stored in the present state of the device"
    NO_DICTIONARY = 0x08000023, "no object dictionary"
    NO_DATA = 0x08000024, "no data available"


_TEXTS = {int(code): code.text for code in AbortCode}
_CLASSES = {0x05: "of the protocol", 0x06: "of the access to the object", 0x08: "of the data"}


def is_abort(code: int) -> bool:
    """Return whether a number of 32 bits has the form of an SDO abort code."""
    return code >> 24 in _CLASSES


def describe_abort(code: int) -> str:
    """Return the code with its meaning: `0x06020000 (object does not exist)`."""
    of_class = f"unknown abort code {_CLASSES.get(code >> 24, '')}".rstrip()
    return f"0x{code:08X} ({_TEXTS.get(code, of_class)})"
