"""Errors of the network interface name the remedy."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator

import pytest

from humanoid_control_common.machine.rights import Capability
from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.master.interface import (
    check_interface,
    check_rights,
    claim_interface,
)
from humanoid_twin.errors import VethError
from humanoid_twin.ethercat.veth import remove_pair, veth_pair

CLONE_NEWNET = 0x40000000  # <linux/sched.h>


def test_error_names_the_missing_right_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = frozenset({Capability.NET_ADMIN})
    monkeypatch.setattr("humanoid_control_common.machine.rights.held_capabilities", lambda: granted)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InterfaceError, match=r"CAP_NET_RAW.*setpriv.*net_raw.*ipc_lock") as raised:
        check_rights()
    assert "CAP_NET_ADMIN" not in str(raised.value)


@pytest.fixture
def namespace() -> Iterator[None]:
    """A network namespace of this thread, as of `unshare -n`: /sys stays that of all others."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    kernel = ctypes.CDLL(None, use_errno=True)
    try:
        if kernel.unshare(CLONE_NEWNET):
            pytest.skip("needs CAP_SYS_ADMIN (root)")
        yield
    finally:
        kernel.setns(before, CLONE_NEWNET)
        os.close(before)


@pytest.mark.usefixtures("namespace")
def test_the_interface_is_one_of_the_own_namespace_up_and_with_a_link() -> None:
    assert len(os.listdir("/sys/class/net")) > 1
    for missing in ("eth0", ""):
        with pytest.raises(InterfaceError, match=rf"'{missing}' does not exist; there is: lo\."):
            check_interface(missing)
    with veth_pair("near", "far"):
        check_interface("near")
        subprocess.run(["ip", "link", "set", "far", "down"], check=True)
        with pytest.raises(InterfaceError, match=r"'near' has no link"):
            check_interface("near")
        with pytest.raises(InterfaceError, match=r"'far' is down: 'sudo ip link set far up'"):
            check_interface("far")
        with pytest.raises(VethError, match="no pair"):
            remove_pair("near", "lo")
        remove_pair("near", "far")
    with pytest.raises(VethError, match="no such interface"):
        remove_pair("near", "far")


def test_second_master_on_an_interface_is_refused_until_the_first_ends() -> None:
    name = f"c2t{os.getpid()}"
    first = claim_interface(name)
    with pytest.raises(InterfaceError, match=rf"another process drives the ring on '{name}'"):
        claim_interface(name)
    first.close()
    claim_interface(name).close()
