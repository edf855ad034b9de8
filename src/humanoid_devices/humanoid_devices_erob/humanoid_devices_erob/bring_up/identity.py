"""Compare the slaves found on the ring with those of the configuration."""

from collections.abc import Sequence

from humanoid_devices_erob.errors import EEPROM_REMEDY, IdentityError, joined_by_text
from humanoid_devices_erob.settings import Identity


def check_identities(
    found: Sequence[Identity], expected: Identity, joint_at: Sequence[str], interface: str
) -> None:
    """Compare all slaves, in ring order, with the drives that should be there.

    Raises IdentityError that names every slave that differs, or where the ring ends.
    """
    differing = joined_by_text(
        (f"slave {position} ({joint})", f"found {slave}{eeprom_remark(slave)}")
        for position, (slave, joint) in enumerate(zip(found, joint_at, strict=False))
        if slave != expected
    )
    if differing:
        raise IdentityError(
            f"ring on '{interface}': expected {expected} everywhere; {differing}. "
            "Compare the wiring with the hardware file"
        )
    if len(found) != len(joint_at):
        raise IdentityError(
            f"ring on '{interface}': found {len(found)} slaves, expected {len(joint_at)}; "
            f"{_where_it_ends(len(found), joint_at)}"
        )


def eeprom_remark(found: Identity) -> str:
    """Return what an identity says that no drive has; empty for a usual one."""
    # An erased memory reads as ones; one that cannot be read, as zeros.
    empty = {found.vendor, found.product} <= {0, 0xFFFFFFFF}
    return f": {EEPROM_REMEDY}" if empty else ""


def _where_it_ends(count: int, joint_at: Sequence[str]) -> str:
    if count > len(joint_at):
        return f"{count - len(joint_at)} more behind {joint_at[-1]}, the last of the hardware file"
    if count == 0:
        return f"check power and the cable to slave 0 ({joint_at[0]})"
    return (
        f"the last that answers is slave {count - 1} ({joint_at[count - 1]}): check power and the "
        f"cable to slave {count} ({joint_at[count]})"
    )


def check_serial_numbers(
    found: Sequence[int], expected: Sequence[int | None], joint_at: Sequence[str]
) -> None:
    """Compare serial numbers, in ring order, where one is expected (None: any).

    Raises IdentityError that names each differing slave, and the joint to which its drive belongs.
    """
    owner = {serial: joint_at[i] for i, serial in enumerate(expected) if serial is not None}
    differing = [
        f"slave {i} ({joint_at[i]}): found serial number {serial}"
        + (f", the drive of {owner[serial]}" if serial in owner else "")
        + f", expected {wanted}"
        for i, (serial, wanted) in enumerate(zip(found, expected, strict=True))
        if wanted is not None and serial != wanted
    ]
    if differing:
        raise IdentityError(
            f"drives are not where the hardware file has them: {'; '.join(differing)}"
        )
