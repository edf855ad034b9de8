"""The drive's objects for SDO and PDO."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from humanoid_devices_erob.protocol import objects as wire
from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_twin.erob.control_loops import GainStore, RegisterName
from humanoid_twin.erob.faults import FaultMemory
from humanoid_twin.erob.parameters import DriveParameters, ObjectAccess
from humanoid_twin.ethercat.coe.dictionary import (
    Access,
    Entry,
    ObjectDictionary,
    SdoAbort,
    TypeCode,
    Value,
)

if TYPE_CHECKING:
    from humanoid_twin.erob.erob_drive import ErobDrive

_DIGITAL_INPUTS = 0x60FD  # these two are in the older PDO mapping of the vendor's demos
_DIGITAL_OUTPUTS = 0x60FE
_INTERPOLATION = 0x60C2  # CiA 402-2; 01: period, 02: its unit is 10 to the power of this [s]


def build_dictionary(
    drive: "ErobDrive", gains: GainStore, faults: FaultMemory, parameters: DriveParameters
) -> ObjectDictionary:
    """Return all objects of the device."""
    dictionary = ObjectDictionary()
    _add_cyclic(dictionary, drive)
    _add_faults(dictionary, faults, parameters.history_length)
    _add_gains(dictionary, gains, parameters)
    _add_interpolation(dictionary, drive, parameters.interpolation)
    return dictionary


def _input(name: str, type_: TypeCode, get: Callable[[], int]) -> Entry:
    return Entry(name=name, type=type_, get=get, pdo_mappable=True)


def _output(drive: "ErobDrive", attribute: str, name: str, type_: TypeCode) -> Entry:
    return Entry(
        name=name,
        type=type_,
        get=lambda: int(getattr(drive, attribute)),
        set=partial(setattr, drive, attribute),
        access=Access.RW,
        pdo_mappable=True,
    )


def _add_cyclic(dictionary: ObjectDictionary, drive: "ErobDrive") -> None:
    add = dictionary.add_variable
    add(wire.CONTROLWORD, _output(drive, "controlword", "Controlword", TypeCode.U16))
    add(wire.TARGET_POSITION, _output(drive, "target", "Target position", TypeCode.I32))
    add(wire.MODE, _output(drive, "mode", "Modes of operation", TypeCode.I8))
    add(_DIGITAL_OUTPUTS, _output(drive, "digital_outputs", "Digital outputs", TypeCode.U32))
    add(_DIGITAL_INPUTS, _input("Digital inputs", TypeCode.U32, lambda: 0))
    add(wire.MODE_DISPLAY, _input("Modes of operation display", TypeCode.I8, lambda: drive.mode))
    add(wire.STATUSWORD, _input("Statusword", TypeCode.U16, lambda: drive.statusword))
    add(wire.POSITION, _input("Position actual value", TypeCode.I32, lambda: drive.position))
    add(wire.VELOCITY, _input("Velocity actual value", TypeCode.I32, lambda: drive.velocity))
    add(wire.TORQUE, _input("Torque actual value", TypeCode.I16, lambda: drive.torque))


def _add_faults(dictionary: ObjectDictionary, faults: FaultMemory, length: int) -> None:
    def clear(value: Value) -> None:
        if value != 0:  # CiA 301: other values are refused
            raise SdoAbort(AbortCode.VALUE_RANGE)
        faults.clear_history()

    def stored(subindex: int) -> Entry:
        return Entry(
            name=f"Error {subindex}", type=TypeCode.U32, get=lambda: faults.entry(subindex)
        )

    dictionary.add_variable(
        wire.ERROR_REGISTER, _input("Error register", TypeCode.U8, lambda: faults.register)
    )
    dictionary.add_variable(
        wire.ERROR_CODE, _input("Error code", TypeCode.U16, lambda: faults.code)
    )
    dictionary.add_record(
        wire.ERROR_HISTORY,
        "Pre-defined error field",
        {subindex: stored(subindex) for subindex in range(1, length + 1)},
        count=Entry(
            name="Number of errors",
            type=TypeCode.U8,
            get=lambda: faults.count,
            set=clear,
            access=Access.RW,
        ),
    )


def _add_gains(dictionary: ObjectDictionary, gains: GainStore, parameters: DriveParameters) -> None:
    size = TypeCode.I32 if parameters.gain_bytes == 4 else TypeCode.U16

    def register(name: RegisterName, title: str) -> Entry:
        def write(value: Value) -> None:
            if not isinstance(value, int) or value < 0:  # assumed: a negative gain is refused
                raise SdoAbort(AbortCode.VALUE_TOO_LOW)
            gains.write(name, value)

        return Entry(
            name=title,
            type=size,
            get=lambda: int(getattr(gains.registers, name)),
            set=write,
            access=Access.RW,
        )

    def set_gate(value: Value) -> None:
        if not isinstance(value, int) or value not in (0, 1):
            raise SdoAbort(AbortCode.VALUE_RANGE)
        gains.gate = value

    dictionary.add_record(
        wire.VELOCITY_LOOP,
        "Velocity loop",
        {1: register("velocity", "Gain"), 2: register("integral", "Integral")},
    )
    feed_forward = register("feed_forward", "Velocity feed-forward")
    dictionary.add_record(
        wire.POSITION_LOOP,
        "Position loop",
        {1: register("position", "Gain"), **_offered({3: feed_forward}, parameters.feed_forward)},
    )
    dictionary.add_variable(
        wire.GATE,
        Entry(
            name="Bus regulation of PID",
            type=size,
            get=lambda: gains.gate,
            set=set_gate,
            access=Access.RW,
        ),
    )


def _add_interpolation(
    dictionary: ObjectDictionary, drive: "ErobDrive", access: ObjectAccess
) -> None:
    period = _output(drive, "interpolation_period", "Interpolation time period", TypeCode.U8)
    index = _output(drive, "interpolation_index", "Interpolation time index", TypeCode.I8)
    entries = _offered({1: period, 2: index}, access)
    if entries:
        dictionary.add_record(_INTERPOLATION, "Interpolation time period", entries)


def _offered(entries: dict[int, Entry], access: ObjectAccess) -> dict[int, Entry]:
    """Return entries by subindex, as far as the drive offers them to the bus."""
    match access:
        case ObjectAccess.ABSENT:
            return {}
        case ObjectAccess.READ_ONLY:
            return {sub: replace(it, access=Access.RO) for sub, it in entries.items()}
        case ObjectAccess.KEPT:
            return {sub: replace(it, set=lambda _value: None) for sub, it in entries.items()}
        case ObjectAccess.WRITABLE:
            return entries
