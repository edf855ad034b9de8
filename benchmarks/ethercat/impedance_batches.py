"""The registers of two modes, and the batches that change from one to the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from benchmarks.ethercat.erob_rig import GEAR, TORQUE_CONSTANT, InterruptedSessionError, RunningRing
from humanoid_devices_erob.drive.gains import (
    JointRegisters,
    encode_register,
    gains_to_registers,
    write_order,
)
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.protocol.objects import FEED_FORWARD

BATCH_TIMEOUT = 5.0  # [s] timeout of a batch


def _registers(stiffness: float, damping: float) -> JointRegisters:
    registers = gains_to_registers(stiffness, damping, torque_constant=TORQUE_CONSTANT, gear=GEAR)
    return JointRegisters(
        int(registers.position_gain), int(registers.velocity_gain), int(registers.velocity_integral)
    )


DAMPING = _registers(0.0, 6.0)  # per-mode values of Prime (hybrid actuation page)
STANDBY = _registers(20.0, 2.0)


def objects(
    new: JointRegisters, old: JointRegisters, slaves: int, *, only_changed: bool = True
) -> tuple[SdoObject, ...]:
    """Return the writes to the three documented gains of each slave, in the safe order."""
    writes = [
        write
        for write in write_order(old, new, only_changed=only_changed)
        if write.key != FEED_FORWARD
    ]
    return tuple(
        SdoObject(slave, *write.key, encode_register(write.value, 4))
        for slave in range(slaves)
        for write in writes
    )


def switching(
    rig: RunningRing,
    new: JointRegisters,
    slaves: int,
    *,
    only_changed: bool = True,
    parallel: bool = True,
) -> float:
    """Write the registers `new` to all slaves and read them back. Return the time [s]."""
    old = DAMPING if new is STANDBY else STANDBY
    snapshot = rig.loop.snapshot
    wanted = objects(new, old, slaves, only_changed=only_changed)
    # A permission ends after 0.1 s at 50 Hz: in ring order each slave has a batch of its own.
    parts = (
        [wanted] if parallel else [[it for it in wanted if it.slave == s] for s in range(slaves)]
    )
    return sum(
        run(
            rig,
            SdoBatch(
                tuple(part), write=True, mode=int(snapshot.mode), number=snapshot.switch_number
            ),
        )
        for part in parts
    )


def run(rig: RunningRing, batch: SdoBatch) -> float:
    """Return the time from the hand-over of `batch` to its end in the loop's thread [s]."""
    ended = threading.Event()
    moment = 0.0

    def note_end(_: object) -> None:
        nonlocal moment
        moment = time.perf_counter()
        ended.set()

    begun = time.perf_counter()
    future = rig.system.submit(batch)
    future.add_done_callback(note_end)
    if not ended.wait(BATCH_TIMEOUT):
        raise InterruptedSessionError("the batch did not end")
    check(future.result())
    return moment - begun


def check(results: Sequence[object]) -> None:
    """Raise InterruptedSessionError if any object was not written."""
    for result in results:
        if getattr(result, "status", None) is not SdoStatus.DONE:
            raise InterruptedSessionError(str(result))
