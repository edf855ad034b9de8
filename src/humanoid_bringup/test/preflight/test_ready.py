"""The checks that prevent the start of a real bring-up."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.preflight import ready
from humanoid_bringup.preflight.findings import Finding, NotReadyError, missing, ok, warning
from humanoid_bringup.preflight.network import OTHER_MASTER
from humanoid_bringup.preflight.ready import require_buses
from humanoid_control_common.errors import ConfigError

RING = Options(backend=Backend.REAL, backends="ec", ethercat_interface="ecm0")
ALL = Options(
    backend=Backend.REAL,
    ethercat_interface="ecm0",
    can_interface="slcan",
    can_channel="/nowhere/ttyACM0",
)


@pytest.fixture
def hardware(tmp_path: Path) -> Path:
    path = tmp_path / "hardware.yaml"
    path.write_text(
        "buses: {ethercat: {interface: no_ec}, can: {interface: socketcan, channel: no_can}}\n"
    )
    return path


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the checks of the ring's interface find the given facts."""

    def set_findings(*findings: Finding) -> None:
        monkeypatch.setattr(ready, "interface", lambda _: findings)
        monkeypatch.setattr(ready, "raw_ethernet", lambda *_, **__: ok("raw Ethernet", ""))

    return set_findings


def test_preflight_warning_does_not_prevent_the_start(found, hardware: Path) -> None:
    found(ok("link", "up"), warning("addresses", "10.0.0.1", "remove it"))
    assert require_buses(replace(RING, hardware_config=hardware)) == [
        "addresses: 10.0.0.1: remove it"
    ]


def test_missing_requirements_are_in_one_error_with_their_remedies(found, hardware: Path) -> None:
    found(missing("link", "down", "plug it in"), missing("x", "y", "z"))
    message = "link: down: plug it in; and x: y: z .*hc doctor --interface ecm0`"
    with pytest.raises(NotReadyError, match=message):
        require_buses(replace(RING, hardware_config=hardware))


def test_missing_requirements_of_both_buses_are_in_one_error(found, hardware: Path) -> None:
    found(missing("link", "down", "plug it in"))
    message = "link: down: .*; and CAN slcan /nowhere/ttyACM0: no such serial port: .*hc up twin"
    with pytest.raises(NotReadyError, match=message):
        require_buses(replace(ALL, hardware_config=hardware))


def test_a_second_master_is_refused(found, hardware: Path) -> None:
    found(warning(OTHER_MASTER, "in use", "end it"))
    with pytest.raises(NotReadyError, match="other master: in use"):
        require_buses(replace(RING, hardware_config=hardware))


@pytest.mark.parametrize(
    ("backends", "named"),
    [("ec", "interface no_ec"), ("can", "CAN socketcan no_can")],
)
def test_a_bus_is_that_of_the_hardware_file_if_none_is_given(
    hardware: Path, backends: str, named: str
) -> None:
    with pytest.raises(NotReadyError, match=named):
        require_buses(Options(backend=Backend.REAL, backends=backends, hardware_config=hardware))


def test_a_hardware_file_without_buses_is_refused(hardware: Path) -> None:
    hardware.write_text("buses: [ethercat]\n")
    with pytest.raises(ConfigError, match=r"no buses\.ethercat\.interface: give it on the command"):
        require_buses(Options(backend=Backend.REAL, hardware_config=hardware))


@pytest.mark.parametrize("backend", [Backend.MUJOCO, Backend.MOCK])
def test_simulation_needs_no_bus(backend: Backend, hardware: Path) -> None:
    assert require_buses(Options(backend=backend, hardware_config=hardware)) == []
