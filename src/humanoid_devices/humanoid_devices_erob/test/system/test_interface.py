"""Errors of the network interface name the remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from humanoid_control_common.machine.rights import Capability
from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.master.interface import (
    check_interface,
    check_rights,
    claim_interface,
)


def test_error_names_the_missing_right_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = frozenset({Capability.NET_ADMIN})
    monkeypatch.setattr("humanoid_control_common.machine.rights.held_capabilities", lambda: granted)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InterfaceError, match=r"CAP_NET_RAW.*setpriv.*net_raw.*ipc_lock") as raised:
        check_rights()
    assert "CAP_NET_ADMIN" not in str(raised.value)


def interface(folder: Path, flags: int, carrier: str) -> None:
    (folder / "eth7").mkdir()
    (folder / "eth7" / "flags").write_text(f"{flags:#x}\n")
    (folder / "eth7" / "carrier").write_text(carrier)


def test_missing_interface_is_reported_with_those_that_exist(tmp_path: Path) -> None:
    interface(tmp_path, 1, "1")
    with pytest.raises(InterfaceError, match=r"'eth0' does not exist; there is: eth7"):
        check_interface("eth0", tmp_path)
    with pytest.raises(InterfaceError, match=r"'' does not exist; there is: eth7"):
        check_interface("", tmp_path)


def test_interface_that_is_down_is_reported_with_the_command(tmp_path: Path) -> None:
    interface(tmp_path, 0, "0")
    with pytest.raises(InterfaceError, match=r"'eth7' is down: 'sudo ip link set eth7 up'"):
        check_interface("eth7", tmp_path)


def test_interface_without_a_link_is_reported(tmp_path: Path) -> None:
    interface(tmp_path, 1, "0\n")
    with pytest.raises(InterfaceError, match=r"'eth7' has no link"):
        check_interface("eth7", tmp_path)


def test_interface_that_is_up_is_accepted(tmp_path: Path) -> None:
    interface(tmp_path, 1, "1\n")
    check_interface("eth7", tmp_path)


def test_second_master_on_an_interface_is_refused_until_the_first_ends() -> None:
    name = f"c2t{os.getpid()}"
    first = claim_interface(name)
    with pytest.raises(InterfaceError, match=rf"another process drives the ring on '{name}'"):
        claim_interface(name)
    first.close()
    claim_interface(name).close()
