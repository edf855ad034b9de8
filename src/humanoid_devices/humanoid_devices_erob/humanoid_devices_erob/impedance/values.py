"""Values that the parts of the impedance manager exchange, and the delay of its retries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoResult

FIRST_DELAY: Final = 0.02  # [s], doubled with every retry
LONGEST_DELAY: Final = 1.0  # [s]


def retry_delay(failures: int) -> float:
    """Return the time [s] to the next try after a failure that follows `failures` in a row."""
    return min(FIRST_DELAY * 2.0 ** min(failures, 10), LONGEST_DELAY)  # 2.0**1024 is no float


class ModeInForce(NamedTuple):
    """The mode whose gains the drives must have, and its switch number."""

    mode: Mode
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Objects to read, or to write and read back: in their order within a slave.

    Compared by identity, so that an answer is matched to its batch.
    """

    in_force: ModeInForce  # when it was sent
    write: bool
    objects: tuple[SdoObject, ...]
    sent: float  # [s], monotonic clock, which all processes of the machine share
    valid_until: float  # [s], the same clock: nothing is written later

    @property
    def slaves(self) -> frozenset[int]:
        """Return the ring positions of its drives."""
        return frozenset(item.slave for item in self.objects)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a batch: a result per object, or why there is none."""

    results: Sequence[SdoResult] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The state that the impedance manager publishes."""

    gate_open: bool
    armed: bool
    confirmed: bool
    in_force: ModeInForce | None
    registers: tuple[tuple[int, int, int], ...]  # position, velocity, integral; -1: unknown
    message: str  # problem or pending condition; empty if none
