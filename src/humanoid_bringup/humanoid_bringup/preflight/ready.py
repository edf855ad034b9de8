"""Check that this machine is ready for a bring-up, before any process starts."""

import os
from collections.abc import Sequence
from pathlib import Path

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.preflight.can_adapter import can_adapter
from humanoid_bringup.preflight.findings import Finding, Level, NotReadyError
from humanoid_bringup.preflight.gamepad import require_joystick
from humanoid_bringup.preflight.log_folder import log_folder
from humanoid_bringup.preflight.network import OTHER_MASTER, interface, raw_ethernet
from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.machine.rights import (
    VETH,
    Capability,
    held_capabilities,
    require_capabilities,
)


def require_machine(options: Options) -> list[str]:
    """Return warnings about this machine that don't prevent a bring-up.

    Raises ConfigError, with everything that is missing, if it can't work.
    """
    _refuse_missing_log_folder()
    if options.enable_gamepad:
        require_joystick(options.joystick)
    return require_buses(options)


def require_buses(options: Options) -> list[str]:
    """Return warnings about the buses of `options` that don't prevent a bring-up.

    Raises NotReadyError, with everything that is missing, if they can't work.
    """
    if options.backend is Backend.TWIN and options.robot.ring is not None:
        require_capabilities("the virtual robot's cable", (*VETH, Capability.NET_RAW))
    drive_files = options.robot.drive_files
    if options.backend is not Backend.REAL or drive_files is None:
        return []  # only its component can check a bus of another kind
    hardware_config = options.hardware_config or drive_files.hardware
    hardware = read_yaml(hardware_config).content
    findings: list[Finding] = []
    checks = []
    if options.has(options.robot.ring):
        name = options.ethercat_interface or _key(hardware_config, hardware, "ethercat.interface")
        findings += [raw_ethernet(held_capabilities(), needed=True), *interface(name)]
        checks.append(f"--interface {name}")
    for bus, chosen in options.can_channels.items():
        if options.has(bus):
            kind = options.can_interface or _key(hardware_config, hardware, f"{bus}.interface")
            channel = chosen or _key(hardware_config, hardware, f"{bus}.channel")
            findings += can_adapter(kind, channel)
            checks.append(f"--can {kind}:{channel}")
    _refuse_for("the robot's buses are not ready", findings, " ".join(checks))
    return [_sentence(finding) for finding in findings if finding.level is Level.WARNING]


def require_far_end(name: str) -> None:
    """Raise NotReadyError unless virtual drives may answer on the network interface `name`."""
    require_capabilities(f"a ring on {name}", (Capability.NET_RAW,))
    _refuse_for(f"no ring can run on {name}", interface(name), f"--interface {name}")


def _refuse_missing_log_folder() -> None:
    finding = log_folder(os.environ)
    if finding.level is Level.MISSING:
        raise NotReadyError(_sentence(finding))


def _refuse_for(what: str, findings: Sequence[Finding], checks: str) -> None:
    obstacles = [_sentence(finding) for finding in findings if _stops(finding)]
    if obstacles:
        raise NotReadyError(
            f"{what}: {'; and '.join(obstacles)} "
            f"(`hc doctor {checks}` checks more; see docs/connect_ethercat.md, docs/connect_can.md)"
        )


def _key(path: Path, hardware: object, key: str) -> str:
    """Return `buses.<key>` of the hardware file. Raises ConfigError if it hasn't any."""
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
