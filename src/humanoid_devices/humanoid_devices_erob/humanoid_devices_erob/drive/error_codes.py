"""Meaning, cause and remedy of the drives' error codes and statuswords.

Codes: 0x603F, the lower half of the entries of 0x1003, and emergency messages (actuator documents).
Codes that the documents don't name: CiA 301 and CiA 402.
"""

from dataclasses import dataclass
from typing import Final

from humanoid_devices_erob.protocol.cia402 import DriveState, StatusBit, decode_state
from humanoid_devices_erob.protocol.cia_error_codes import CIA_ERRORS, class_of

UNLISTED: Final = "not in the actuator documents, specific to the manufacturer"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error of an eRob drive."""

    text: str
    cause: str
    fix: str
    reset_clears: bool = True  # a fault reset suffices once the cause is gone


ERROR_CODES: Final = {
    0xA000: ErrorCode(
        "EtherCAT communication error",
        "SYNC0 fired without a new process data frame, mailbox traffic during the activation "
        "of distributed clocks, operation requested before the clocks had converged, or the "
        "clocks switched off",
        "make control_frequency equal to update_rate, keep SDO traffic off the ring until "
        "/prime/joint_states flows, check cables and the loop's jitter; then reset the fault",
    ),
    0x8500: ErrorCode(
        "position error exceeds limit",
        "the joint can't follow its target: blocked, overloaded, too soft or a target that jumped",
        "clear the joint's way and check its load and calibration; then reset the fault",
    ),
    0x8400: ErrorCode(
        "velocity error exceeds limit",
        "the joint is faster or slower than its velocity target: an impact, an overload or "
        "a target that jumped",
        "check the joint's load and the gains that are written; then reset the fault",
    ),
    0x730F: ErrorCode(
        "battery of the multi-turn encoder is low",
        "without its battery the encoder loses whole turns while the power is off (taken "
        "from a public host project; confirm on hardware)",
        "a fault reset does not clear it: change the drive's battery, switch its power off and "
        "on, start again and check the calibration before the first stiff mode",
        reset_clears=False,
    ),
    0x8130: ErrorCode(
        "CAN heartbeat error",
        "the drive watches for a CAN heartbeat that doesn't come",
        "nothing should be at the drive's CAN port: switch its heartbeat consumer off with "
        "the vendor's tool; then reset the fault",
    ),
}


def error_text(code: int) -> str:
    """Return the meaning of an error code (16 bits) in a few words, and who says so."""
    known = ERROR_CODES.get(code)
    if known is not None:
        return known.text
    if code == 0:
        return "no error"
    if code in CIA_ERRORS:
        return f"{CIA_ERRORS[code]} (by CiA 301 and 402; not in the actuator documents)"
    group = class_of(code)
    return f"not in the actuator documents; by CiA of the class '{group}'" if group else UNLISTED


def describe_error(code: int) -> str:
    """Return meaning, cause and fix of an error code (16 bits), in one line."""
    known = ERROR_CODES.get(code)
    if known is not None:
        return f"0x{code:04X}: {known.text}. Cause: {known.cause}. Fix: {known.fix}"
    return f"0x{code:04X}: {error_text(code)}"


def describe_history(entry: int) -> str:
    """Describe an entry (32 bits) of the error history 0x1003: code and manufacturer's part."""
    manufacturer = entry >> 16
    detail = f" (manufacturer's part 0x{manufacturer:04X})" if manufacturer else ""
    return describe_error(entry & 0xFFFF) + detail


def describe_statusword(word: int) -> str:
    """Describe the state and the problems in a statusword (16 bits)."""
    state = f"statusword {word} (0x{word:04X}): {decode_state(word).value}"
    return "; ".join([state, *statusword_remarks(word)])


def statusword_remarks(word: int) -> list[str]:
    """Return the problems in a statusword, in any state; a fault is named by the state."""
    state = decode_state(word)
    remarks = [
        (bool(word & StatusBit.WARNING), "the drive warns"),
        (bool(word & StatusBit.INTERNAL_LIMIT), "an internal limit is active"),
        (not word & StatusBit.REMOTE, "the drive doesn't accept the controlword"),
        (
            state is DriveState.OPERATION_ENABLED and not word & StatusBit.FOLLOWS_COMMAND,
            "the target position is ignored",
        ),
    ]
    return [text for wrong, text in remarks if wrong]
