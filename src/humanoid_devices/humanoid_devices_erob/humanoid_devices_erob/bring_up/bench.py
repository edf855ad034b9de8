"""Bench mode: read drives in PREOP, without a control process; nothing is enabled or written.

After a failed bring-up no control process runs, but the drives' mailboxes can still be read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.machine import Machine
from humanoid_devices_erob.bring_up.identity import eeprom_remark
from humanoid_devices_erob.drive.error_codes import describe_error, describe_history
from humanoid_devices_erob.errors import EEPROM_REMEDY, BringUpError
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.al_state import AlState, lead_to
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol import objects

PREOP_TIMEOUT: Final = 3.0  # [s] for all slaves (SOEM: EC_TIMEOUTSTATE allows 2 s)
HISTORY: Final = 4  # entries of 0x1003 that are read at most
_WANTED: Final = (
    (objects.ERROR_CODE, 0),
    *((objects.ERROR_HISTORY, entry) for entry in range(1, HISTORY + 1)),
)


@contextmanager
def bench_ring(master: EthercatMaster, interface: str, machine: Machine) -> Iterator[Ring]:
    """Open the ring on `interface` for reading; afterwards INIT is requested and it is closed.

    Requests to a slave that doesn't go to PREOP are refused. Raises InterfaceError, also if a
    control process holds the interface, or BringUpError if no slave answers.
    """
    master.open(interface)
    try:
        found = master.scan()
        if not found:
            raise BringUpError(
                f"no slave answers on '{interface}': are the drives powered, and is the cable in "
                "the first one's input?"
            )
        everyone = range(len(found))
        states = lead_to(AlState.PREOP, everyone, master, machine, PREOP_TIMEOUT)
        layouts = master.mailbox_layouts()
        ring = Ring(master, layouts, machine)

        def refusal(slave: int, batch: SdoBatch) -> str:
            if batch.write:
                return "nothing is written without a robot"
            if empty := eeprom_remark(found[slave]):
                return f"found {found[slave]}{empty}"
            there = states[slave].state is AlState.PREOP and not states[slave].error
            if not there:
                return f"slave {slave} does not go to PREOP: {states[slave]}"
            return "" if layouts[slave].usable else f"it has no mailbox: {EEPROM_REMEDY}"

        ring.sdo.refusal = refusal
        yield ring
    finally:
        try:
            master.request_state(AlState.INIT)
        except HardwareError:  # no frame can be sent
            pass
        finally:
            master.close()


@dataclass(frozen=True, slots=True)
class DriveErrors:
    """The errors that one drive reports."""

    code: int = 0  # 0x603F
    history: tuple[int, ...] = ()  # 0x1003, latest first: the code, and the manufacturer's half
    failure: str = ""  # why they couldn't be read

    @property
    def text(self) -> str:
        """Return error and history with their meanings and remedies; empty if there is none."""
        if self.failure:
            return f"its error can't be read: {self.failure}"
        latest = [describe_error(self.code)] if self.code else []
        earlier = [
            f"0x1003:{place}: {describe_history(entry)}"
            for place, entry in enumerate(self.history, 1)
            if entry & 0xFFFF != self.code
        ]
        return "; ".join(latest + earlier)


def read_errors(ring: Ring) -> list[DriveErrors]:
    """Return the errors of every drive, in ring order."""
    slaves = range(ring.image.count)
    wanted = tuple(SdoObject(slave, *key) for slave in slaves for key in _WANTED)
    results = ring.complete(SdoBatch(wanted, write=False))
    each = len(_WANTED)
    return [_errors(results[slave * each : (slave + 1) * each]) for slave in slaves]


def _errors(results: Sequence[SdoResult]) -> DriveErrors:
    code, *entries = results
    if code.status is not SdoStatus.DONE:
        return DriveErrors(failure=code.message)
    values = [_value(entry) for entry in entries if entry.status is SdoStatus.DONE]
    return DriveErrors(_value(code) & 0xFFFF, tuple(value for value in values if value))


def _value(result: SdoResult) -> int:
    return int.from_bytes(result.object.data, "little")
