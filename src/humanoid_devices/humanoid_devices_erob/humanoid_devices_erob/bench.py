"""Drives that are asked without a robot: in PREOP only, nothing enabled, nothing written.

What the mailbox of a drive tells doesn't need a control process, and after a bring-up that failed
there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from humanoid_control_common.errors import HardwareError
from humanoid_devices_erob.al_state import AlState
from humanoid_devices_erob.error_codes import describe_error, describe_history
from humanoid_devices_erob.preop import TIMEOUT
from humanoid_devices_erob.ring import Ring
from humanoid_devices_erob.ring_errors import BringUpError
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.state_walk import lead_to
from humanoid_devices_erob.timebase import Timebase
from humanoid_devices_erob.wire import objects

if TYPE_CHECKING:
    from humanoid_devices_erob.bring_up import Master

HISTORY: Final = 4  # entries of 0x1003 that are read at most
_WANTED: Final = (
    (objects.ERROR_CODE, 0),
    *((objects.ERROR_HISTORY, entry) for entry in range(1, HISTORY + 1)),
)


@contextmanager
def bench_ring(master: Master, interface: str, timebase: Timebase) -> Iterator[Ring]:
    """The ring on `interface`, to be read; its slaves are in INIT and the master is closed then.

    A slave that doesn't go to PREOP refuses what it is asked. Raises InterfaceError, also if a
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
        states = lead_to(AlState.PREOP, everyone, master, timebase, TIMEOUT)
        ring = Ring(master, master.mailbox_layouts(), timebase)

        def refusal(slave: int, batch: SdoBatch) -> str:
            if batch.write:
                return "nothing is written without a robot"
            there = states[slave].state is AlState.PREOP and not states[slave].error
            return "" if there else f"slave {slave} does not go to PREOP: {states[slave]}"

        ring.refusal = refusal
        yield ring
    finally:
        try:
            master.request_state(AlState.INIT)
        except HardwareError:  # no frame can be sent any more
            pass
        finally:
            master.close()


@dataclass(frozen=True, slots=True)
class DriveErrors:
    """What one drive says is wrong."""

    code: int = 0  # 0x603F
    history: tuple[int, ...] = ()  # 0x1003, latest first: the code, and the manufacturer's half
    failure: str = ""  # why it couldn't be asked

    @property
    def text(self) -> str:
        """Error and history with their meanings and remedies; empty if there is nothing."""
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
    """Of every drive, in ring order."""
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
