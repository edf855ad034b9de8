"""Read the drives without a control process: open the ring here, in PREOP only."""

from collections.abc import Sequence

from humanoid_bringup.preflight.findings import Finding, broken, ok, warning
from humanoid_control_cli.sdo.client import Outcome, outcome_of
from humanoid_control_cli.sdo.values import Address
from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_erob.bring_up.bench import DriveErrors, bench_ring, read_errors
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
    return in_findings(errors, interface)


def in_findings(errors: Sequence[DriveErrors], interface: str) -> list[Finding]:
    """Return the number of drives, with the errors that they had before, and each present fault."""
    faults = [
        broken(
            f"drive {slave}",
            it.text,
            f"`hc decode 0x{it.code:04X}`"
            if it.code
            else f"`hc sdo read {slave} 0x603F --interface {interface}` asks it again",
        )
        for slave, it in enumerate(errors)
        if it.code or it.failure
    ]
    well = len(errors) - len(faults)
    found = f"{well} without error" if faults else "none has an error"
    return [ok("drives", f"{len(errors)}, {found}{_earlier(errors)}"), *faults]


def _earlier(errors: Sequence[DriveErrors]) -> str:
    """Return the latest error in the history of the drives that have none now; empty: none."""
    drives: dict[int, list[str]] = {}
    for slave, it in enumerate(errors):
        if it.history and not it.code:
            drives.setdefault(it.history[0] & 0xFFFF, []).append(str(slave))
    return "".join(
        f"; earlier 0x{code:04X} on drive {', '.join(slaves)} (`hc decode 0x{code:04X}`)"
        for code, slaves in sorted(drives.items())
    )
