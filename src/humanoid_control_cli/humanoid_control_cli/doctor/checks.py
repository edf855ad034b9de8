"""All checks, in the order in which they are shown."""

from __future__ import annotations

from humanoid_bringup_prime.machine import network
from humanoid_bringup_prime.machine.can_adapter import can_adapter
from humanoid_bringup_prime.machine.findings import Finding
from humanoid_bringup_prime.machine.rights import held
from humanoid_control_cli.doctor.system import system
from humanoid_control_cli.doctor.workspace import workspace


def check(interface: str | None, can: tuple[str, str] | None) -> list[Finding]:
    """Check this machine, and the buses it has.

    `interface` is that of the EtherCAT ring, `can` python-can's interface and channel.
    """
    granted = held()
    findings = [*workspace(), *system(granted)]
    findings += network.python_file()
    findings.append(network.raw_ethernet(granted, needed=interface is not None))
    if interface is not None:
        findings += network.interface(interface)
    if can is not None:
        findings += can_adapter(*can)
    return findings
