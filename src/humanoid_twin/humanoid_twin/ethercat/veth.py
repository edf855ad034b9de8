"""Virtual Ethernet pairs: cables between a master and a ring on this machine."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from humanoid_twin.errors import VethError
from humanoid_twin.name_lock import NameInUseError, NameLock

LONGEST_NAME: Final = 15  # characters of an interface's name, in the kernel and in SOEM


# Alias of the pairs that a process makes for itself.
_OWNED: Final = "humanoid_twin"


def create_veth(first: str, second: str) -> None:
    """Make a pair, both ends up and without IPv6 addresses, which would send packets of their own.

    Raises VethError: an invalid name, an interface that exists, no right (CAP_NET_ADMIN), or
    no `ip` program.
    """
    for name in (first, second):
        if not name or len(name) > LONGEST_NAME or "/" in name or name.split() != [name]:
            raise VethError(f"'{name}' is no interface name: 1 to 15 characters, no space, no '/'")
    if first == second:
        raise VethError(f"the ends of a pair need two names, not '{first}' twice")
    _ip(f"can't make the pair {first}, {second}", "link", "add", first, "type", "veth",
        "peer", "name", second)  # fmt: skip
    try:
        for name in (first, second):
            _quieten(name)
            _ip(f"can't switch on '{name}'", "link", "set", "dev", name, "up")
    except VethError:
        remove_veth(first)
        raise


def remove_pair(first: str, second: str) -> None:
    """Remove the pair with these ends. Raises VethError if they are no pair, or no right."""
    peers = {link["ifname"]: link.get("link") for link in _links()}
    if not {first, second} <= peers.keys():
        raise VethError(f"can't remove the pair {first}, {second}: no such interface")
    if peers[first] != second:
        raise VethError(f"can't remove the pair {first}, {second}: they are no pair")
    remove_veth(first)  # removes the other end too


def remove_veth(name: str) -> None:
    """Remove the pair that `name` is an end of. Raises VethError if there is none, or no right."""
    _ip(f"can't remove '{name}'", "link", "delete", "dev", name, "type", "veth")


@contextmanager
def veth_pair(first: str, second: str) -> Iterator[None]:
    """Make a pair for the time of a context; remove those of processes that were killed before.

    Raises VethError as `create_veth` does.
    """
    remove_leftovers()
    with _locked(first):
        create_veth(first, second)
        try:
            _ip(f"can't mark '{first}'", "link", "set", "dev", first, "alias", _OWNED)
            yield
        finally:
            if first in {name for _, name in socket.if_nameindex()}:
                remove_veth(first)


def remove_leftovers() -> None:
    """Remove the pairs of `veth_pair` whose processes were killed."""
    for link in _links():
        if link.get("ifalias") == _OWNED:
            with suppress(VethError), _locked(link["ifname"]):
                remove_veth(link["ifname"])  # another process may do so at the same time


def _links() -> list[dict[str, str]]:
    """Return the interfaces of this process's namespace; /sys may be that of another one."""
    found: list[dict[str, str]] = json.loads(_ip("can't list the interfaces", "-json", "link"))
    return found


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Lock a pair by the name of its first end. Raises VethError if a process has it."""
    try:
        lock = NameLock("cable", name)
    except NameInUseError as error:
        raise VethError(f"another process uses the virtual cable '{name}'") from error
    try:
        yield
    finally:
        lock.close()


def _quieten(name: str) -> None:
    """Let the kernel give `name` no IPv6 address: without one it sends nothing by itself.

    The switch `disable_ipv6` cannot be written in a container, whose /proc/sys is read-only.
    """
    if Path("/proc/sys/net/ipv6").exists():  # else the kernel has no IPv6
        _ip(f"can't switch off IPv6 on '{name}'", "link", "set", "dev", name, "addrgenmode", "none")


def _ip(failure: str, *arguments: str) -> str:
    program = shutil.which("ip") or shutil.which("ip", path="/usr/sbin:/sbin")
    if program is None:
        raise VethError(f"{failure}: there is no `ip` program (Debian package iproute2)")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip() or f"`ip` ended with {done.returncode}"
        if "Operation not permitted" in reason:
            reason += " (needs root or the capability CAP_NET_ADMIN)"
        raise VethError(f"{failure}: {reason}")
    return done.stdout
