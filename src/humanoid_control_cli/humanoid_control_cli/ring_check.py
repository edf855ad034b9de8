"""Whether this machine can run an EtherCAT ring: asked before anything is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from humanoid_control_cli.doctor.findings import Finding, Level
from humanoid_control_cli.doctor.network import OTHER_MASTER, interface, raw_ethernet
from humanoid_control_cli.rights import Capability, held, require
from humanoid_control_common.config import read_yaml
from humanoid_control_common.errors import ConfigError

INTERFACE_KEY: Final = ("buses", "ethercat", "interface")


class NotReadyError(ConfigError):
    """The machine lacks something; the message says what, and how to get it."""


def require_ring(name: str) -> None:
    """Raises NotReadyError unless a master may run on the network interface `name`."""
    findings = [raw_ethernet(held(), needed=True), *interface(name)]
    _refuse_for("the EtherCAT ring cannot be brought up", findings, name)


def require_far_end(name: str) -> None:
    """Raises NotReadyError unless virtual drives may answer on the network interface `name`."""
    require(f"a ring on {name}", (Capability.NET_RAW,))
    _refuse_for(f"no ring can run on {name}", interface(name), name)


def _refuse_for(what: str, findings: Sequence[Finding], name: str) -> None:
    obstacles = [_sentence(finding) for finding in findings if _stops(finding)]
    if obstacles:
        raise NotReadyError(
            f"{what}: {'; and '.join(obstacles)} "
            f"(`hc doctor --interface {name}` checks more, docs/ethercat.md explains)"
        )


def interface_of(hardware_config: Path) -> str:
    """The ring's interface as the hardware file has it. Raises ConfigError if it hasn't any."""
    value = read_yaml(hardware_config).content
    for key in INTERFACE_KEY:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, str):
        raise ConfigError(f"{hardware_config}: no {'.'.join(INTERFACE_KEY)}: give --interface")
    return value


def _stops(finding: Finding) -> bool:
    in_use = finding.subject == OTHER_MASTER and finding.level is not Level.OK
    return in_use or finding.level is Level.MISSING


def _sentence(finding: Finding) -> str:
    return f"{finding.subject}: {finding.found}: {finding.remedy}"
