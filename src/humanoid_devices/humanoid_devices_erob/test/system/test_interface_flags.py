"""The flags of the network interface are restored."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from humanoid_devices_erob.errors import IdentityError, InterfaceError
from humanoid_devices_erob.master.interface import PromiscuousMode

PROMISCUOUS = 0x100


def is_promiscuous(interface: str) -> bool:
    flags = int(Path(f"/sys/class/net/{interface}/flags").read_text(), 16)
    return bool(flags & PROMISCUOUS)


def set_promiscuous(interface: str, value: str) -> None:
    subprocess.run(["ip", "link", "set", interface, "promisc", value], check=True)


@pytest.mark.parametrize("before", [True, False])
def test_promiscuous_mode_is_restored_after_operation(make_wire_bench, before: bool) -> None:
    bench = make_wire_bench(1)
    set_promiscuous(bench.interface, "on" if before else "off")
    bench.activate()
    assert is_promiscuous(bench.interface)
    bench.system.on_deactivate()
    assert is_promiscuous(bench.interface) is before


def test_promiscuous_mode_is_restored_after_a_bring_up_that_failed(make_wire_bench) -> None:
    bench = make_wire_bench(1)
    bench.new_system(2)
    with pytest.raises(IdentityError):
        bench.system.on_activate(bench.state)
    assert not is_promiscuous(bench.interface)


def test_interface_that_is_gone_needs_no_restoring(caplog) -> None:
    kept = PromiscuousMode("lo")
    kept._interface = "gone0"
    kept.restore()
    assert "'gone0'" in caplog.text


def test_interface_that_goes_down_is_reported_with_the_command_and_comes_back(
    make_wire_bench,
) -> None:
    bench = make_wire_bench(2)
    bench.activate()
    bench.tick(3)
    subprocess.run(["ip", "link", "set", bench.interface, "down"], check=True)
    with pytest.raises(InterfaceError, match=r"'sudo ip link set \S+ up', then 'hc clear-fault'"):
        bench.tick(3)
    subprocess.run(["ip", "link", "set", bench.interface, "up"], check=True)
    bench.control.advance(0.2)
    bench.tick(5)
    bench.system.reset_faults()
    bench.tick(30)
    assert bench.of_drives("statusword") == [5687] * 2
