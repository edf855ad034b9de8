"""What keeps `hc up real` from starting anything."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from humanoid_control_cli import ring_check
from humanoid_control_cli.doctor.findings import Finding, missing, ok, warning
from humanoid_control_cli.doctor.network import OTHER_MASTER
from humanoid_control_cli.ring_check import NotReadyError, interface_of, require_ring
from humanoid_control_common.errors import ConfigError


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch):
    """Makes the checks of the interface find what is given."""

    def set_findings(*findings: Finding) -> None:
        monkeypatch.setattr(ring_check, "interface", lambda _: findings)
        monkeypatch.setattr(ring_check, "raw_ethernet", lambda *_, **__: ok("raw Ethernet", ""))

    return set_findings


def test_what_could_be_better_does_not_matter(found) -> None:
    found(ok("link", "up"), warning("addresses", "10.0.0.1", "remove it"))
    require_ring("ecm0")


def test_all_that_is_missing_is_told_at_once_with_its_remedy(found) -> None:
    found(missing("link", "down", "plug it in"), missing("x", "y", "z"))
    said = "link: down: plug it in; and x: y: z .*hc doctor --interface ecm0"
    with pytest.raises(NotReadyError, match=said):
        require_ring("ecm0")


def test_a_second_master_is_refused(found) -> None:
    found(warning(OTHER_MASTER, "in use", "end it"))
    with pytest.raises(NotReadyError, match="other master: in use"):
        require_ring("ecm0")


def test_the_interface_is_that_of_the_hardware_file(tmp_path: Path) -> None:
    path = tmp_path / "hardware.yaml"
    path.write_text("buses: {ethercat: {interface: enp3s0}}\n")
    assert interface_of(path) == "enp3s0"
    path.write_text("buses: [ethercat]\n")
    with pytest.raises(ConfigError, match=r"no buses\.ethercat\.interface: give --interface"):
        interface_of(path)


def test_bring_up_without_an_interface_starts_nothing(hc) -> None:
    up = hc("up", "real", "--backends", "ec", "--interface", "no_such_if")
    assert up.finish() == 1
    (line,) = up.lines
    assert line.startswith("hc: the EtherCAT ring cannot be brought up: interface no_such_if: ")
    assert "hc twin veth" in line
    assert not up.descendants()


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="drops rights: needs root and setpriv"
)
def test_bring_up_without_rights_says_how_to_get_them(start) -> None:
    words = ["up", "real", "--backends", "ec", "--interface", "lo"]
    code = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
    drop = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"]
    up = start(*drop, sys.executable, "-c", code, *words)
    assert up.finish() == 1
    assert "raw Ethernet: not permitted: CAP_NET_RAW missing" in up.text
