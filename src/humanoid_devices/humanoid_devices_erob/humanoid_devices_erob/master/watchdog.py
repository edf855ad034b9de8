"""The slaves' process data watchdog, which ends operation when this computer sends no frames.

Registers and units: ETG.1000.4. The values survive the process that has written them, until the
slave loses power.
"""

import logging
import struct
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_devices_erob.errors import BringUpError, joined_by_text
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxPort

logger = logging.getLogger(__name__)

_DIVIDER: Final = 0x0400  # (value + 2) * 40 ns
_PROCESS_DATA: Final = 0x0420  # in units of the divider, 0: never
_OUTPUTS: Final = 0x0814  # control byte of sync manager 2
_TRIGGERS_WATCHDOG: Final = 0x40  # in it
_UNIT: Final = 0x09C2  # of the divider: 100 µs, its value at power-up
_UNITS_PER_SECOND: Final = 10_000.0
_ATTEMPTS: Final = 6  # per slave: a frame may be lost


def set_watchdogs(port: MailboxPort, seconds: float, joint_at: Sequence[str]) -> None:
    """Let every slave leave OP after `seconds` without process data; at least 0.1 ms.

    Raises BringUpError naming the drives that don't accept it.
    """
    unit, time = struct.pack("<H", _UNIT), struct.pack("<H", round(seconds * _UNITS_PER_SECOND))
    settings = ((_DIVIDER, unit), (_PROCESS_DATA, time))
    problems = []
    for slave, joint in enumerate(joint_at):
        accesses = [Access(slave, address, data=data) for address, data in settings]
        accesses += [Access(slave, address, len(data)) for address, data in settings]
        problem = _difference(_exchanged(port, accesses)[len(settings) :], settings)
        if problem:
            problems.append((joint, problem))
    if problems:
        raise BringUpError(f"no watchdog of {seconds:g} s: {joined_by_text(problems)}")


def watched(port: MailboxPort, joint_at: Sequence[str]) -> NDArray[np.bool_]:
    """Return the drives (n,) whose watchdog monitors the outputs, once process data is mapped.

    The device's description (SII) decides; a drive without it is logged.
    """
    answers = [_exchanged(port, [Access(slave, _OUTPUTS, 1)])[0] for slave in range(len(joint_at))]
    found = np.array([bool(it and it[0] & _TRIGGERS_WATCHDOG) for it in answers], dtype=bool)
    if not found.all():
        names = ", ".join(joint_at[slave] for slave in np.flatnonzero(~found).tolist())
        logger.warning(
            "%s: sync manager 2 does not feed the watchdog: these drives continue with their last "
            "target if this computer fails",
            names,
        )
    return found


def _exchanged(port: MailboxPort, accesses: Sequence[Access]) -> list[bytes | None]:
    for _ in range(_ATTEMPTS):
        answers = port.access(accesses)
        if None not in answers:
            break
    return answers


def _difference(found: Sequence[bytes | None], settings: Sequence[tuple[int, bytes]]) -> str:
    for (address, wanted), data in zip(settings, found, strict=True):
        if data is None:
            return "does not answer"
        if data != wanted:
            return (
                f"register 0x{address:04X} reads back {int.from_bytes(data, 'little')}, written "
                f"was {int.from_bytes(wanted, 'little')}"
            )
    return ""
