"""SDO abort codes (ETG.1000.6, CiA 301)."""

from enum import IntEnum


class AbortCode(IntEnum):
    """Codes of an SDO abort."""

    TOGGLE = 0x05030000
    TIMEOUT = 0x05040000
    COMMAND = 0x05040001
    OUT_OF_MEMORY = 0x05040005
    UNSUPPORTED_ACCESS = 0x06010000
    WRITE_ONLY = 0x06010001
    READ_ONLY = 0x06010002
    SUBINDEX_NOT_ZERO = 0x06010003
    NO_COMPLETE_ACCESS = 0x06010004
    NO_OBJECT = 0x06020000
    NOT_MAPPABLE = 0x06040041
    PDO_TOO_LONG = 0x06040042
    INCOMPATIBLE = 0x06040043
    HARDWARE = 0x06060000
    LENGTH = 0x06070010
    TOO_LONG = 0x06070012
    TOO_SHORT = 0x06070013
    NO_SUBINDEX = 0x06090011
    VALUE_RANGE = 0x06090030
    VALUE_TOO_HIGH = 0x06090031
    VALUE_TOO_LOW = 0x06090032
    GENERAL = 0x08000000
    CANNOT_STORE = 0x08000020
    LOCAL_CONTROL = 0x08000021
    WRONG_STATE = 0x08000022
    NO_DICTIONARY = 0x08000023


_TEXTS = {
    AbortCode.TOGGLE: "toggle bit not changed",
    AbortCode.TIMEOUT: "SDO protocol timed out",
    AbortCode.COMMAND: "command specifier not valid or unknown",
    AbortCode.OUT_OF_MEMORY: "out of memory",
    AbortCode.UNSUPPORTED_ACCESS: "unsupported access to the object",
    AbortCode.WRITE_ONLY: "object is write only",
    AbortCode.READ_ONLY: "object is read only",
    AbortCode.SUBINDEX_NOT_ZERO: "subindex can't be written while subindex 0 isn't 0",
    AbortCode.NO_COMPLETE_ACCESS: "complete access isn't supported for the object",
    AbortCode.NO_OBJECT: "object does not exist",
    AbortCode.NOT_MAPPABLE: "object can't be mapped to a PDO",
    AbortCode.PDO_TOO_LONG: "mapped objects would exceed the PDO's length",
    AbortCode.INCOMPATIBLE: "parameters are incompatible",
    AbortCode.HARDWARE: "access failed, hardware error",
    AbortCode.LENGTH: "length of the data doesn't match the object",
    AbortCode.TOO_LONG: "data is longer than the object",
    AbortCode.TOO_SHORT: "data is shorter than the object",
    AbortCode.NO_SUBINDEX: "subindex does not exist",
    AbortCode.VALUE_RANGE: "value out of range",
    AbortCode.VALUE_TOO_HIGH: "value too high",
    AbortCode.VALUE_TOO_LOW: "value too low",
    AbortCode.GENERAL: "general error",
    AbortCode.CANNOT_STORE: "data can't be transferred or stored",
    AbortCode.LOCAL_CONTROL: "data can't be stored: local control",
    AbortCode.WRONG_STATE: "data can't be stored in the present state of the device",
    AbortCode.NO_DICTIONARY: "no object dictionary",
}


def describe_abort(code: int) -> str:
    """Return the code with its meaning: `0x06020000 (object does not exist)`."""
    try:
        text = _TEXTS[AbortCode(code)]
    except ValueError:
        text = "unknown abort code"
    return f"0x{code:08X} ({text})"
