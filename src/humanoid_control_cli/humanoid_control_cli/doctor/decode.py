"""Explain a number of the drives or a reason code, with its remedy."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from humanoid_control_cli.doctor.number_kind import Kind
from humanoid_control_cli.folding import fold
from humanoid_control_cli.reason_codes import containing
from humanoid_control_cli.sdo.values import Address, ArgumentError
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_devices_erob.drive.error_codes import (
    ERROR_CODES,
    describe_error,
    describe_history,
    describe_statusword,
    error_text,
)
from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.abort import describe_abort, is_abort
from humanoid_devices_erob.protocol.cia402 import DriveState, StatusBit, decode_state
from humanoid_devices_erob.protocol.cia_error_codes import CIA_ERRORS
from humanoid_devices_erob.reason_codes import AL_CODES, codes_of_drive

# States that a statusword hardly ever shows: a drive leaves "not ready to switch on" by itself.
IMPROBABLE: Final = {DriveState.UNKNOWN, DriveState.NOT_READY_TO_SWITCH_ON}
ALL_BITS: Final = reduce(or_, StatusBit)
MOST_AL_CODES: Final = 0x70  # ETG.1000.6 names none above
NUMBER: Final = re.compile(r"[-+]?(0x)?[0-9a-f_]*", re.IGNORECASE)  # or would be with 0x
WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Interpretation:
    """One thing a number may mean."""

    title: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.title, *(_indented(detail) for detail in self.details)))


def decode(word: str, kind: Kind | None) -> list[Interpretation]:
    """Return the interpretations of `word`: one, or all of them if it is ambiguous.

    A word that is no number is a reason code, or a part of its name.

    Raises ArgumentError if the word has no reading, or is no number of `kind`.
    """
    if kind is None and not NUMBER.fullmatch(word) and (found := containing(word)):
        return [Interpretation(code.name, _advice(code)) for code in found]
    value = _parse(word, kind)
    interpretations = [_read(value, one) for one in ([kind] if kind else _kinds(value))]
    if kind is None and word.isdecimal() and _is_named(code := int(word, 16)):
        interpretations.append(
            Interpretation(f"Or 0x{word} was meant:", (str(_read(code, Kind.ERROR)),))
        )
    return interpretations


def meaning(address: Address, data: bytes) -> str:
    """Explain the value of an object briefly; empty if it needs no explanation."""
    value = int.from_bytes(data, "little")
    if address == Address(objects.STATUSWORD, 0):
        return decode_state(value).value
    if address == Address(objects.ERROR_CODE, 0) or (
        address.index == objects.ERROR_HISTORY and address.subindex > 0
    ):
        return _short(value & 0xFFFF)
    return ""


def _short(code: int) -> str:
    return f"{error_text(code)} (`hc decode 0x{code:04X}` explains it)" if code else "no error"


def _parse(word: str, kind: Kind | None) -> int:
    largest = kind.largest if kind else 0xFFFFFFFF
    try:
        value = int(word, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= largest:
        raise ArgumentError(
            f"'{word}' is no {kind or 'number of a drive'}, expected decimal or with 0x, "
            f"up to 0x{largest:X}, as in 4616 and 0xA000"
        )
    return value


def _is_named(code: int) -> bool:
    return code in ERROR_CODES or code in CIA_ERRORS


def _kinds(value: int) -> Iterator[Kind]:
    """Yield the possible kinds of a number, those that name it first."""
    named = _is_named(value & 0xFFFF)
    if value > 0xFFFF:
        if is_abort(value):
            yield Kind.ABORT
        if named or not is_abort(value):
            yield Kind.HISTORY
        return
    probable = decode_state(value) not in IMPROBABLE
    if named:
        yield Kind.ERROR
    if probable or value not in ERROR_CODES:
        yield Kind.STATUSWORD
    if not (probable or named):
        yield Kind.ERROR
    if 0 < value < MOST_AL_CODES:
        yield Kind.AL


def _read(value: int, kind: Kind) -> Interpretation:
    if kind is Kind.STATUSWORD:
        return _statusword(value)
    if kind is Kind.AL:
        return _al_status(value)
    if kind is Kind.ABORT:
        return Interpretation(f"SDO abort code {describe_abort(value)}")
    code = value & 0xFFFF
    known = ERROR_CODES.get(code)
    if known is None:
        text = describe_history(value) if kind is Kind.HISTORY else describe_error(code)
        return Interpretation(f"{_name(kind)} {text}")
    details = [f"cause: {known.cause}", f"do: {known.fix} (`hc clear-fault`)"]
    if kind is Kind.HISTORY and value >> 16:
        details.insert(0, f"manufacturer's part: 0x{value >> 16:04X}")
    return Interpretation(f"{_name(kind)} 0x{code:04X} ({code}): {known.text}", tuple(details))


def _name(kind: Kind) -> str:
    return "error history entry with code" if kind is Kind.HISTORY else "error code"


def _statusword(word: int) -> Interpretation:
    title, *remarks = describe_statusword(word).split("; ")
    bits = " | ".join(str(bit.name) for bit in StatusBit(word & ALL_BITS)) or "none"
    return Interpretation(title, (*remarks, f"bits: {bits}", *_advised(codes_of_drive(word))))


def _al_status(code: int) -> Interpretation:
    from humanoid_devices_erob.master.al_state import describe_al_code  # with the EtherCAT library

    title = describe_al_code(code)
    return Interpretation(title, _advised([AL_CODES[code]] if code in AL_CODES else []))


def _advised(codes: Iterable[ReasonCode]) -> tuple[str, ...]:
    """Return the advice for codes."""
    return tuple(line for code in codes for line in _advice(code))


def _advice(code: ReasonCode) -> tuple[str, ...]:
    return f"means: {code.meaning}", f"do: {code.remedy}"


def _indented(text: str) -> str:
    """Wrap the text, below a title; what has lines already keeps them."""
    if "\n" in text:
        return textwrap.indent(text, "  ")
    return fold(text, WIDTH)
