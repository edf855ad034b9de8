"""The check of CAN adapters, on simulated machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from humanoid_bringup.preflight import can_adapter as module
from humanoid_bringup.preflight.can_adapter import can_adapter
from humanoid_bringup.preflight.findings import Level


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A machine with a kernel that has CAN, and the given network interfaces."""
    monkeypatch.setattr(module, "_kernel_has_can", lambda: True)
    (tmp_path / "class/net").mkdir(parents=True)

    def add(name: str, kind: int = 280, flags: int = 0x41, queue: int = 10) -> Path:
        folder = tmp_path / "class/net" / name
        folder.mkdir()
        for file, value in (("type", kind), ("flags", hex(flags)), ("tx_queue_len", queue)):
            (folder / file).write_text(f"{value}\n")
        return tmp_path

    return add


def test_an_interface_that_is_up_is_fine(machine) -> None:
    (finding,) = can_adapter("socketcan", "can2", machine("can2"))
    assert finding.level is Level.OK


@pytest.mark.parametrize(
    ("settings", "found", "remedy"),
    [
        ({"flags": 0x40}, "is down", "ip link set can2 up type can bitrate 1000000"),
        ({"kind": 1}, "is no CAN interface", "ip link"),
        ({"queue": 1}, "queues 1 frames only", "txqueuelen"),
    ],
)
def test_an_interface_that_is_not_right_comes_with_its_remedy(
    machine, settings: dict[str, int], found: str, remedy: str
) -> None:
    (finding,) = can_adapter("socketcan", "can2", machine("can2", **settings))
    assert found in finding.found
    assert remedy in finding.remedy


def test_an_absent_interface_names_those_that_are_there(machine) -> None:
    machine("eth0", kind=1)
    (finding,) = can_adapter("socketcan", "can2", machine("can0"))
    assert finding.level is Level.MISSING
    assert finding.found == "does not exist; CAN interfaces: can0"


def test_a_kernel_without_can_is_reported_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_kernel_has_can", lambda: False)
    (finding,) = can_adapter("socketcan", "can2", tmp_path)
    assert "no SocketCAN" in finding.found


def test_a_serial_adapter_is_looked_for_at_its_port(tmp_path: Path) -> None:
    port = tmp_path / "ttyACM0"
    (absent,) = can_adapter("slcan", f"{port}@115200")
    assert (absent.level, absent.found) == (Level.MISSING, "no such serial port")
    port.touch()
    (there,) = can_adapter("slcan", f"{port}@115200")
    assert there.level is Level.OK


def test_a_serial_adapter_that_is_not_ours_is_reported_with_its_group(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    (finding,) = can_adapter("slcan", str(tmp_path))
    assert "dialout" in finding.remedy


def test_an_unknown_kind_names_those_of_python_can() -> None:
    (finding,) = can_adapter("canbus", "x")
    assert "socketcan" in finding.remedy


def test_a_vendors_adapter_is_left_to_its_driver() -> None:
    (finding,) = can_adapter("pcan", "PCAN_USBBUS1")
    assert finding.level is Level.OK


def test_a_folder_is_no_serial_port(tmp_path: Path) -> None:
    (finding,) = can_adapter("slcan", str(tmp_path))
    assert (finding.level, finding.found) == (Level.MISSING, "is a folder")
