"""Check that the CAN adapter is present, up and permitted."""

import os
import socket
from pathlib import Path
from typing import Final

from humanoid_bringup.preflight.findings import Finding, missing, ok, warning
from humanoid_bringup.preflight.network import IFF_UP, SYS

ARPHRD_CAN: Final = "280"  # linux/if_arp.h
BITRATE: Final = 1_000_000  # [bit/s] of Sito and Robstride (actuator documents)
MIN_QUEUE: Final = 10  # frames; gains and commands of four motors come together
WITHOUT: Final = "without a robot: `hc up twin`"


def can_adapter(interface: str, channel: str, sys_folder: Path = SYS) -> list[Finding]:
    """Check that python-can's `interface` can be opened at `channel`; open nothing."""
    subject = f"CAN {interface} {channel}"
    if interface == "socketcan":
        return _socketcan(subject, channel, sys_folder)
    if interface == "slcan":
        return [_serial(subject, Path(channel.partition("@")[0]))]
    import can  # a third of a second, which most bring-ups need not spend here

    if interface not in can.VALID_INTERFACES:
        known = ", ".join(sorted(can.VALID_INTERFACES))
        return [missing(subject, "python-can has no such interface", f"use one of {known}")]
    return [ok(subject, "not checked: only its driver can")]


def _socketcan(subject: str, channel: str, sys_folder: Path) -> list[Finding]:
    if not _kernel_has_can():
        remedy = f"use a kernel with CONFIG_CAN, or an slcan adapter; {WITHOUT}"
        return [missing(subject, "this kernel has no SocketCAN", remedy)]
    folder = sys_folder / "class/net" / channel
    up = f"`sudo ip link set {channel} up type can bitrate {BITRATE} restart-ms 100`"
    if not folder.is_dir():
        there = [p.name for p in sorted((sys_folder / "class/net").iterdir()) if _is_can(p)]
        found = f"does not exist; CAN interfaces: {', '.join(there) or 'none'}"
        remedy = f"plug the adapter in and {up}, or name another channel; {WITHOUT}"
        return [missing(subject, found, remedy)]
    if not _is_can(folder):
        return [missing(subject, "is no CAN interface", "name the adapter's (`ip link`)")]
    if not int((folder / "flags").read_text(encoding="ascii"), 16) & IFF_UP:
        return [missing(subject, "is down", up)]
    queue = int((folder / "tx_queue_len").read_text(encoding="ascii"))
    if queue < MIN_QUEUE:
        return [
            warning(
                subject,
                f"up, but queues {queue} frames only",
                f"`sudo ip link set {channel} txqueuelen 100`",
            )
        ]
    return [ok(subject, "up")]


def _is_can(folder: Path) -> bool:
    return (folder / "type").read_text(encoding="ascii").strip() == ARPHRD_CAN


def _kernel_has_can() -> bool:
    try:
        socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW).close()
    except OSError:
        return False
    return True


def _serial(subject: str, path: Path) -> Finding:
    if not path.exists():
        remedy = f"plug the adapter in and name its port (`ls /dev/tty[AU]*`); {WITHOUT}"
        return missing(subject, "no such serial port", remedy)
    if not os.access(path, os.R_OK | os.W_OK):
        remedy = '`sudo usermod -aG dialout "$USER"` and log in again'
        return missing(subject, "not permitted", remedy)
    if path.is_dir():
        return missing(subject, "is a folder", "name the adapter's port (`ls /dev/tty[AU]*`)")
    return ok(subject, "the port is there")
