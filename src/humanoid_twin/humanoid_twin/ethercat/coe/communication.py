"""The objects of every CoE slave: its identity and the use of its sync managers."""

from collections.abc import Callable

from humanoid_devices_erob.protocol import objects
from humanoid_twin.ethercat.coe.dictionary import Entry, ObjectDictionary, TypeCode
from humanoid_twin.ethercat.parameters import Identity, SyncType

_SERVO_DRIVE = 0x00020192  # CiA 402: device profile 402, servo drive
_VERSION = b"1.0"  # assumed, confirm on hardware


class Identification:
    """Objects 0x1000, 0x1008 to 0x100A, 0x1018 and 0x1C00 of one slave."""

    def __init__(self, dictionary: ObjectDictionary, identity: Identity) -> None:
        """Add the objects."""
        self.identity = identity
        self._add_names(dictionary)
        numbers = {1: "vendor", 2: "product", 3: "revision", 4: "serial"}
        dictionary.add_record(
            objects.IDENTITY,
            "Identity",
            {sub: self._number(name) for sub, name in numbers.items()},
        )
        types = {sub: _constant(f"Sync manager {sub - 1}", sub) for sub in range(1, 5)}
        dictionary.add_record(objects.SYNC_MANAGER_TYPES, "Sync manager type", types)

    def _add_names(self, dictionary: ObjectDictionary) -> None:
        text = TypeCode.VISIBLE_STRING
        device_type = Entry(name="Device type", type=TypeCode.U32, get=lambda: _SERVO_DRIVE)
        dictionary.add_variable(objects.DEVICE_TYPE, device_type)
        name = Entry(name="Device name", type=text, get=self._name)
        dictionary.add_variable(objects.DEVICE_NAME, name)
        for index, title in ((0x1009, "Hardware version"), (0x100A, "Software version")):
            dictionary.add_variable(index, Entry(name=title, type=text, get=lambda: _VERSION))

    def _name(self) -> bytes:
        return self.identity.name.encode()

    def _number(self, attribute: str) -> Entry:
        def get() -> int:
            return int(getattr(self.identity, attribute))

        return Entry(name=attribute, type=TypeCode.U32, get=get)


def add_sync_type(dictionary: ObjectDictionary, kind: SyncType, fires: Callable[[], bool]) -> None:
    """Add object 0x1C32; `fires` returns whether SYNC0 fires."""
    if kind is not SyncType.ABSENT:
        shown = Entry(
            name="Synchronization type",
            type=TypeCode.U16,
            get=lambda: (2 if fires() else 1) if kind is SyncType.DC else 0,
        )
        dictionary.add_record(objects.SYNC_PARAMETERS[0], "Output sync parameters", {1: shown})


def _constant(name: str, value: int) -> Entry:
    return Entry(name=name, type=TypeCode.U8, get=lambda: value)
