"""Whether this machine has the buses of a bring-up: asked before anything is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from humanoid_bringup_prime.machine.can_adapter import can_adapter
from humanoid_bringup_prime.machine.findings import Finding, Level
from humanoid_bringup_prime.machine.network import OTHER_MASTER, interface, raw_ethernet
from humanoid_bringup_prime.machine.rights import VETH, Capability, held, require
from humanoid_bringup_prime.options import Backend, Backends, Options
from humanoid_control_common.config import read_yaml
from humanoid_control_common.errors import ConfigError


class NotReadyError(ConfigError):
    """The machine lacks something; the message says what, and how to get it."""


def require_buses(options: Options, hardware_config: Path) -> list[str]:
    """What isn't as it should be with the buses of `options`, though they will work.

    Raises NotReadyError, with all that is missing, if they won't.
    """
    if options.backend is Backend.TWIN:
        require("the virtual robot's cable", (*VETH, Capability.NET_RAW))
    if options.backend is not Backend.REAL:
        return []
    hardware = read_yaml(hardware_config).content
    findings: list[Finding] = []
    checks = []
    if options.backends is not Backends.CAN:
        name = options.ethercat_interface or _key(hardware_config, hardware, "ethercat.interface")
        findings += [raw_ethernet(held(), needed=True), *interface(name)]
        checks.append(f"--interface {name}")
    if options.backends is not Backends.EC:
        kind = options.can_interface or _key(hardware_config, hardware, "can.interface")
        channel = options.can_channel or _key(hardware_config, hardware, "can.channel")
        findings += can_adapter(kind, channel)
        checks.append(f"--can {kind}:{channel}")
    _refuse_for("the robot's buses are not ready", findings, " ".join(checks))
    return [_sentence(finding) for finding in findings if finding.level is Level.WARNING]


def require_far_end(name: str) -> None:
    """Raises NotReadyError unless virtual drives may answer on the network interface `name`."""
    require(f"a ring on {name}", (Capability.NET_RAW,))
    _refuse_for(f"no ring can run on {name}", interface(name), f"--interface {name}")


def _refuse_for(what: str, findings: Sequence[Finding], checks: str) -> None:
    obstacles = [_sentence(finding) for finding in findings if _stops(finding)]
    if obstacles:
        raise NotReadyError(
            f"{what}: {'; and '.join(obstacles)} "
            f"(`hc doctor {checks}` checks more, docs/ethercat.md and docs/can.md explain)"
        )


def _key(path: Path, hardware: object, key: str) -> str:
    """`buses.<key>` of the hardware file. Raises ConfigError if it hasn't any."""
    value = hardware
    for part in ("buses", *key.split(".")):
        value = value.get(part) if isinstance(value, dict) else None
    if not isinstance(value, str):
        raise ConfigError(f"{path}: no buses.{key}: give it on the command line")
    return value


def _stops(finding: Finding) -> bool:
    in_use = finding.subject == OTHER_MASTER and finding.level is not Level.OK
    return in_use or finding.level is Level.MISSING


def _sentence(finding: Finding) -> str:
    return f"{finding.subject}: {finding.found}: {finding.remedy}"
