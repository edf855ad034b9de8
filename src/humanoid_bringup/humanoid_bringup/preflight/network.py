"""The network interface of the EtherCAT ring, and the rights to use it."""

import fcntl
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Final

from humanoid_bringup.preflight.findings import Finding, missing, ok, warning
from humanoid_control_common.machine.rights import RAW_ETHERNET, Capability, remedy

SYS: Final = Path("/sys")
PROC: Final = Path("/proc")
IFF_UP: Final = 0x1  # linux/if.h
SIOCGIFADDR: Final = 0x8915  # linux/sockios.h
ETHERCAT_TYPE: Final = "88a4"
SPEED: Final = 100  # [Mbit/s] of EtherCAT
UNKNOWN_SPEED: Final = -1  # value of many virtual adapters
OTHER_MASTER: Final = "other master"


def raw_ethernet(held: frozenset[Capability], *, needed: bool) -> Finding:
    """Check the right to open a raw socket; without it there's no EtherCAT, but all the rest."""
    absent = [str(one) for one in RAW_ETHERNET if one not in held]
    if not absent:
        return ok("raw Ethernet", "CAP_NET_RAW and CAP_NET_ADMIN are granted")
    judge = missing if needed else warning
    return judge("raw Ethernet", f"not permitted: {', '.join(absent)} missing", remedy())


def python_file() -> list[Finding]:
    """Check the file of Python itself: with capabilities it does not find ROS."""
    program = os.path.realpath(sys.executable)
    try:
        os.getxattr(program, "security.capability")
    except OSError:  # no such attribute, or a file system without any
        return []
    return [
        missing(
            "Python",
            f"{program} has file capabilities: the loader ignores LD_LIBRARY_PATH, "
            "ROS 2 is not found",
            f"`sudo setcap -r {program}`, and give the rights to a shell instead",
        )
    ]


def interface(name: str, sys_folder: Path = SYS, proc: Path = PROC) -> list[Finding]:
    """Check that a ring can run on interface `name`."""
    folder = sys_folder / "class/net" / name
    if not name or not folder.is_dir():
        there = ", ".join(sorted(p.name for p in (sys_folder / "class/net").iterdir()))
        return [
            missing(
                f"interface {name}",
                f"does not exist; there are {there}",
                "name one of these, or make a virtual one: `hc twin veth ecm0 ecs0`",
            )
        ]
    return [
        _kind(name, folder),
        _link(name, folder),
        _addresses(name, proc),
        _users(name, folder, proc),
    ]


def _kind(name: str, folder: Path) -> Finding:
    subject = f"interface {name}"
    if (folder / "wireless").exists():
        return missing(subject, "is wireless", "EtherCAT needs a cable: use a wired interface")
    if not (folder / "device").exists():
        return ok(subject, "virtual: for a virtual ring")
    driver = (folder / "device/driver").resolve().name
    return ok(subject, f"driver {driver}")


def _link(name: str, folder: Path) -> Finding:
    flags = int((folder / "flags").read_text(encoding="ascii"), 16)
    if not flags & IFF_UP:
        return missing("link", f"{name} is down", f"`sudo ip link set {name} up`")
    virtual = not (folder / "device").exists()
    if _number(folder / "carrier") != 1:
        return missing(
            "link",
            f"nothing answers at the other end of {name}",
            "bring the other end up too: `sudo ip link set OTHER up`"
            if virtual
            else "check the cable and the power of the first drive",
        )
    speed = _number(folder / "speed")
    if virtual or speed is None or speed in (SPEED, UNKNOWN_SPEED):
        return ok("link", f"up, {speed} Mbit/s" if speed == SPEED else "up")
    return warning(
        "link",
        f"up, {speed} Mbit/s, expected {SPEED}",
        "connect the first drive directly: what answers now may be a switch",
    )


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except OSError:  # the driver doesn't know
        return None


def _addresses(name: str, proc: Path) -> Finding:
    addresses = _ipv4(name) + _ipv6(name, proc)
    if not addresses:
        return ok("addresses", "none: nothing else uses the link")
    return warning(
        "addresses",
        f"{', '.join(addresses)}: other traffic delays the ring's frames",
        "if it leads to the drives and nowhere else (flushed, it carries no network any more): "
        f"`sudo ip addr flush dev {name}; sudo sysctl net.ipv6.conf.{name}.disable_ipv6=1`, and "
        f"with NetworkManager `sudo nmcli device set {name} managed no`",
    )


def _ipv4(name: str) -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe, SIOCGIFADDR, struct.pack("256s", name.encode()))
        except OSError:  # it has none
            return []
    return [socket.inet_ntoa(answer[20:24])]


def _ipv6(name: str, proc: Path) -> list[str]:
    table = proc / "net/if_inet6"
    if not table.exists():
        return []
    rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()]
    return [socket.inet_ntop(socket.AF_INET6, bytes.fromhex(r[0])) for r in rows if r[5] == name]


def _users(name: str, folder: Path, proc: Path) -> Finding:
    """Find other EtherCAT sockets on the interface: two masters, or two rings, interfere."""
    index = (folder / "ifindex").read_text(encoding="ascii").strip()
    lines = (proc / "net/packet").read_text(encoding="ascii").splitlines()[1:]
    rows = [line.split() for line in lines]
    if any(row[3] == ETHERCAT_TYPE and row[4] == index for row in rows):
        return warning(
            OTHER_MASTER,
            f"{name} is in use for EtherCAT already",
            "end the other master (or virtual ring) on it: `hc down`, or see "
            "`sudo ss --packet --processes`",
        )
    return ok(OTHER_MASTER, "none")
