"""Read the drives without a control process: open the ring here, in PREOP only."""

from collections.abc import Sequence

from humanoid_bringup.preflight.findings import Finding, broken, ok, warning
from humanoid_control_cli.sdo.client import Outcome, outcome_of
from humanoid_control_cli.sdo.values import Address
from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_erob.bring_up.bench import bench_ring, read_errors
from humanoid_devices_erob.errors import InterfaceError, RingError
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject
from humanoid_devices_erob.master.master import EthercatMaster


def read_objects(interface: str, positions: Sequence[int], address: Address) -> list[Outcome]:
    """Read an object of several slaves. Raises RingError."""
    wanted = tuple(SdoObject(slave, address.index, address.subindex) for slave in positions)
    with bench_ring(EthercatMaster(), interface, LINUX) as ring:
        return [outcome_of(result) for result in ring.complete(SdoBatch(wanted, write=False))]


def drives(interface: str) -> list[Finding]:
    """Return the faults that the drives on the interface report; none of a ring that is in use."""
    try:
        with bench_ring(EthercatMaster(), interface, LINUX) as ring:
            errors = read_errors(ring)
    except InterfaceError as error:
        return [warning("drives", f"not asked: {error}", "`hc status` reads a running robot")]
    except RingError as error:
        return [broken("drives", str(error), "check power and cables of the drives")]
    findings = [
        broken(f"drive {slave}", it.text, f"`hc sdo read {slave} 0x603F --interface {interface}`")
        if it.code or it.failure
        else ok(f"drive {slave}", it.text or "no error")
        for slave, it in enumerate(errors)
    ]
    if any(it.code or it.failure or it.text for it in errors):
        return findings
    return [ok("drives", f"{len(errors)}, none has an error")]
