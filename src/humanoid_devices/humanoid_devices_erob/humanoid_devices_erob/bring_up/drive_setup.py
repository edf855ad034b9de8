"""Set up the drives in PREOP, by mailbox, all at once.

Only objects that differ are written, and read back afterwards. A control process that died may have
left the gate 0x2383 open: it is closed before any drive gets torque.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from humanoid_devices_erob.bring_up.identity import check_serial_numbers
from humanoid_devices_erob.errors import BringUpError, joined_by_text
from humanoid_devices_erob.mailbox.sdo import Key, SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.pdo import RX_MAPPING, TX_MAPPING, PdoEntry

SERIAL_NUMBER: Final[Key] = (objects.IDENTITY, 4)
GATE: Final[Key] = objects.GATE_SWITCH
INTERPOLATION: Final[tuple[Key, Key]] = (objects.INTERPOLATION, 1), (objects.INTERPOLATION, 2)


@dataclass(frozen=True, slots=True)
class _Pdo:
    """One PDO: its mapping object, and the object that assigns it to its sync manager."""

    assignment: int
    mapping: int
    entries: tuple[PdoEntry, ...]

    def wanted(self) -> dict[Key, bytes]:
        """Return the objects of a drive that is set up, in reading order."""
        entries = {
            (self.mapping, i): entry.packed.to_bytes(4, "little")
            for i, entry in enumerate(self.entries, 1)
        }
        return {
            (self.assignment, 0): b"\x01",
            (self.assignment, 1): self.mapping.to_bytes(2, "little"),
            (self.mapping, 0): bytes([len(self.entries)]),
            **entries,
        }

    def writes(self) -> list[tuple[Key, bytes]]:
        """Return the writes in the order of ETG.1000.6: a PDO is disabled while it is changed."""
        wanted = self.wanted()
        counts = (self.assignment, 0), (self.mapping, 0)
        entries = [(key, data) for key, data in wanted.items() if key[0] == self.mapping and key[1]]
        return [
            *((key, b"\x00") for key in counts),
            *entries,
            (counts[1], wanted[counts[1]]),
            ((self.assignment, 1), wanted[self.assignment, 1]),
            (counts[0], wanted[counts[0]]),
        ]


_PDOS: Final = (
    _Pdo(objects.RX_ASSIGN, objects.RX_PDO, RX_MAPPING),
    _Pdo(objects.TX_ASSIGN, objects.TX_PDO, TX_MAPPING),
)


def set_up_drives(
    ring: Ring,
    joint_at: Sequence[str],
    serial_numbers: Sequence[int | None],
    period_ns: int,
) -> None:
    """Check the serial numbers, map the process data and close the gates; in PREOP.

    If a drive has an interpolation period, it is set to `period_ns`, from target to target.
    Raises IdentityError for a serial number, BringUpError for a failed read or write.
    """
    gates = _read_gates(ring, joint_at)  # first, so that a dead mailbox shows early
    keys = [key for pdo in _PDOS for key in pdo.wanted()]
    keys += INTERPOLATION
    if any(serial is not None for serial in serial_numbers):
        keys.append(SERIAL_NUMBER)
    found = _read(ring, joint_at, keys)
    if SERIAL_NUMBER in keys:
        serials = [int.from_bytes(values.get(SERIAL_NUMBER, b""), "little") for values in found]
        check_serial_numbers(serials, serial_numbers, joint_at)
    writes = [
        SdoObject(slave, *key, data)
        for slave, values in enumerate(found)
        for key, data in (
            *_differing({**values, **gates[slave]}),
            *_interpolation(values, period_ns, joint_at[slave]),
        )
    ]
    if writes:
        _checked(ring.complete(SdoBatch(tuple(writes), write=True)), joint_at)
    _hand_mailboxes_over(ring, joint_at)


def _hand_mailboxes_over(ring: Ring, joint_at: Sequence[str]) -> None:
    """Check the gates once more, in requests with mailbox counter 0.

    A slave drops a request that repeats the last counter. SOEM, which reads the mapping next, has
    its own counter: after a 0 its first request can't be taken for a repetition.
    """
    for slave in range(len(joint_at)):
        ring.engine.reset(slave)
    found = _read_gates(ring, joint_at)
    armed = [joint for joint, values in zip(joint_at, found, strict=True) if any(values[GATE])]
    if armed:
        raise BringUpError(f"the gate 0x2383 is open again: {', '.join(armed)}")


def _read_gates(ring: Ring, joint_at: Sequence[str]) -> list[dict[Key, bytes]]:
    found = _read(ring, joint_at, [GATE])
    gateless = [joint for joint, values in zip(joint_at, found, strict=True) if GATE not in values]
    if gateless:
        raise BringUpError(f"no gate 0x2383 in {', '.join(gateless)}: are these eRob drives?")
    ring.gate_bytes = [len(values[GATE]) for values in found]
    return found


def _read(ring: Ring, joint_at: Sequence[str], keys: Sequence[Key]) -> list[dict[Key, bytes]]:
    """Return the values of each drive's objects, without those that it doesn't have."""
    wanted = [SdoObject(slave, *key) for slave in range(len(joint_at)) for key in keys]
    found: list[dict[Key, bytes]] = [{} for _ in joint_at]
    results = ring.complete(SdoBatch(tuple(wanted), write=False))
    _checked([it for it in results if it.status is not SdoStatus.ABORTED], joint_at)
    for result in results:
        if result.status is SdoStatus.DONE:
            target = result.object
            found[target.slave][target.key] = target.data
    return found


def _differing(values: Mapping[Key, bytes]) -> Iterator[tuple[Key, bytes]]:
    if any(values[GATE]):
        yield GATE, bytes(len(values[GATE]))
    for pdo in _PDOS:
        if any(values.get(key) != data for key, data in pdo.wanted().items()):
            yield from pdo.writes()


def _interpolation(
    values: Mapping[Key, bytes], period_ns: int, joint: str
) -> Iterator[tuple[Key, bytes]]:
    """Yield the writes of 0x60C2 if the drive has it with another period."""
    if any(key not in values for key in INTERPOLATION):
        return
    period = int.from_bytes(values[INTERPOLATION[0]], "little")
    index = int.from_bytes(values[INTERPOLATION[1]], "little", signed=True)
    if Fraction(10) ** index * period * 10**9 == period_ns:
        return
    wanted = interpolation_bytes(period_ns)
    if wanted is None:
        raise BringUpError(
            f"{joint}: 0x60C2 can't hold the loop's period of {period_ns * 1e-6:g} ms: choose an "
            "update_rate whose period is a whole number of milliseconds"
        )
    yield from zip(INTERPOLATION, wanted, strict=True)


def interpolation_bytes(period_ns: int) -> tuple[bytes, bytes] | None:
    """Return period and index of 0x60C2: the period in units of 10 to the power of the index [s].

    None if the period doesn't fit 8 bits.
    """
    for index in (-3, -4, -5):
        period, rest = divmod(period_ns, 10 ** (9 + index))
        if not rest and period <= 0xFF:
            return bytes([period]), index.to_bytes(1, "little", signed=True)
    return None


def _checked(results: Sequence[SdoResult], joint_at: Sequence[str]) -> None:
    failed = [result for result in results if result.status is not SdoStatus.DONE]
    if failed:
        first: dict[int, SdoResult] = {}
        for result in failed:
            first.setdefault(result.object.slave, result)
        texts = [(joint_at[i], _failure(result)) for i, result in first.items()]
        raise BringUpError(joined_by_text(texts))


def _failure(result: SdoResult) -> str:
    target, advice = result.object, ""
    if result.status is SdoStatus.TIMED_OUT:
        advice = "; if it stays so, switch the drive's power off and on"
    return f"0x{target.index:04X}:{target.subindex:02X}: {result.message}{advice}"
