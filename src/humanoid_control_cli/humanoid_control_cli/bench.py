"""Drives asked without a robot: this process opens the ring itself, in PREOP only."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_bringup_prime.machine.findings import Finding, broken, ok, warning
from humanoid_control_cli.sdo_client import Outcome, outcome_of
from humanoid_control_cli.sdo_values import Address
from humanoid_devices_erob.bench import bench_ring, read_errors
from humanoid_devices_erob.master import EthercatMaster
from humanoid_devices_erob.ring_errors import InterfaceError, RingError
from humanoid_devices_erob.sdo import SdoBatch, SdoObject
from humanoid_devices_erob.timebase import Timebase


def read_objects(interface: str, positions: Sequence[int], address: Address) -> list[Outcome]:
    """An object of several slaves. Raises RingError."""
    wanted = tuple(SdoObject(slave, address.index, address.subindex) for slave in positions)
    with bench_ring(EthercatMaster(), interface, Timebase()) as ring:
        return [outcome_of(result) for result in ring.complete(SdoBatch(wanted, write=False))]


def drives(interface: str) -> list[Finding]:
    """What every drive on the interface says is wrong; nothing of a ring that is in use."""
    try:
        with bench_ring(EthercatMaster(), interface, Timebase()) as ring:
            errors = read_errors(ring)
    except InterfaceError as error:
        return [warning("drives", f"not asked: {error}", "`hc status` asks a robot that is up")]
    except RingError as error:
        return [broken("drives", str(error), "check power and cables of the drives")]
    said = [
        broken(f"drive {slave}", it.text, f"`hc sdo read {slave} 0x603F --interface {interface}`")
        if it.code or it.failure
        else ok(f"drive {slave}", it.text or "no error")
        for slave, it in enumerate(errors)
    ]
    if any(it.code or it.failure or it.text for it in errors):
        return said
    return [ok("drives", f"{len(errors)}, none has an error")]
