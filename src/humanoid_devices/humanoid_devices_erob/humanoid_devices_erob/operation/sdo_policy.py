"""Objects that other processes must never write while the robot runs.

Bring-up, ordered exit and softening are not subject to this policy.
"""

from concurrent.futures import Future
from typing import Final

from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_devices_erob.drive.drive_registers import BUS_WRITTEN
from humanoid_devices_erob.mailbox.sdo import LONGEST, SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.mailbox.sdo_batch import Results, refused
from humanoid_devices_erob.protocol import objects

# As in ReadSdoBatch and WriteSdoBatch: beginning and ending a batch takes time between two ticks.
MOST_OBJECTS: Final = 256

# Objects that are never written while the robot runs, and why.
_NEVER: Final = (
    (
        (
            objects.CONTROLWORD,
            objects.MODE,
            objects.TARGET_TORQUE,
            objects.TARGET_POSITION,
            objects.POSITION_OFFSET,
            objects.VELOCITY_OFFSET,
            objects.TORQUE_OFFSET,
            objects.TARGET_VELOCITY,
            objects.INTERPOLATION,
        ),
        "belongs to the control loop, which alone sets state, mode, targets and their rate of a "
        "running drive",
    ),
    (
        range(objects.RX_PDO, objects.SYNC_PARAMETERS[1] + 1),
        "is part of the process data's set-up (0x1600 to 0x1C33), which must not change while the "
        "ring runs",
    ),
    (
        (
            objects.POSITION_RANGE,
            objects.HOME_OFFSET,
            objects.SOFTWARE_LIMITS,
            objects.POLARITY,
            *objects.FACTORS,
            objects.ENCODER_OFFSET,
        ),
        "is part of the drive's position reference: a stiff joint would jump by the difference; "
        "change it with the vendor's tool, on a drive without a robot",
    ),
    (
        (objects.STORE, objects.RESTORE),
        "stores or restores all of the drive's parameters, the gains of a mode among them; use the "
        "vendor's tool, on a drive without a robot",
    ),
)


def not_admitted(batch: SdoBatch) -> Future[Results] | None:
    """Return the refusal of a batch that contains a forbidden object; None if it may begin.

    Such a batch is refused as a whole: its order may be what makes the rest of it safe.
    """
    if len(batch.objects) > MOST_OBJECTS:
        return refused(
            batch, f"{len(batch.objects)} objects in one batch, expected at most {MOST_OBJECTS}"
        )
    if not batch.write:
        has_data = any(target.data for target in batch.objects)
        return refused(batch, "a read request has no data: is it to write?") if has_data else None
    reasons = [_forbidden(target, batch.mode) for target in batch.objects]
    if not any(reasons):
        return None
    first = next(target for target, why in zip(batch.objects, reasons, strict=True) if why)
    others = f"not sent: {first} of the same batch is refused"
    future: Future[Results] = Future()
    future.set_result(
        tuple(
            SdoResult(target, SdoStatus.REFUSED, message=why or others)
            for target, why in zip(batch.objects, reasons, strict=True)
        )
    )
    return future


def stiffens(target: SdoObject) -> bool:
    """Return whether writing the object may make a limp drive stiff."""
    value = int.from_bytes(target.data, "little")
    if target.index == objects.GATE:
        return value != BUS_WRITTEN  # any other value may restore the factory gains
    return (target.index, target.subindex) == objects.POSITION_GAIN and value != 0


def _forbidden(target: SdoObject, mode: int) -> str:
    """Return why the object must not be written in a mode; empty if it may.

    A batch is sent only while its mode is in force.
    """
    if len(target.data) > LONGEST:
        return f"{len(target.data)} bytes for one object, expected at most {LONGEST}"
    for indices, why in _NEVER:
        if target.index in indices:
            return f"0x{target.index:04X} {why}"
    opens = int.from_bytes(target.data, "little") == BUS_WRITTEN
    if target.index == objects.GATE and not opens and mode not in SAFE_MODES:
        return (
            "closing the gate 0x2383 gives the drive its stiff factory gains: only in ZERO_TORQUE "
            "and DAMPING, where the target follows the joint ('hc mode damp')"
        )
    return ""
