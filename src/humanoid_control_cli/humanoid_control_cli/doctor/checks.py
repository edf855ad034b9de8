"""All checks, in the order in which they are shown."""

from humanoid_bringup.preflight import network
from humanoid_bringup.preflight.can_adapter import can_adapter
from humanoid_bringup.preflight.findings import Finding, Level
from humanoid_control_cli.doctor.system import system
from humanoid_control_cli.doctor.workspace import workspace
from humanoid_control_common.machine.rights import held_capabilities


def check(interface: str | None, can: tuple[str, str] | None) -> list[Finding]:
    """Check this machine, and the buses it has.

    `interface` is that of the EtherCAT ring, `can` python-can's interface and channel.
    """
    granted = held_capabilities()
    findings = [*workspace(), *system(granted)]
    findings += network.python_file()
    findings.append(network.raw_ethernet(granted, needed=interface is not None))
    if interface is not None:
        findings += on_the_interface(interface)
    if can is not None:
        findings += can_adapter(*can)
    return findings


def on_the_interface(name: str) -> list[Finding]:
    """Check the ring's interface, and the drives behind it, which stay without torque."""
    findings = network.interface(name)
    if any(finding.level is Level.MISSING for finding in findings):
        return findings
    from humanoid_control_cli.sdo.bench import drives

    return [*findings, *drives(name)]
