"""The checks that prevent the start of `hc up real`."""

import os
import shutil
import sys

import pytest


def test_bring_up_without_an_interface_starts_nothing(hc) -> None:
    up = hc("up", "real", "--backends", "ec", "--interface", "no_such_if")
    assert up.finish() == 1
    (line,) = up.lines
    assert line.startswith("hc: the robot's buses are not ready: interface no_such_if: ")
    assert "hc twin veth" in line
    assert not up.descendants()


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="drops rights: needs root and setpriv"
)
def test_bring_up_without_rights_is_refused_with_the_remedy(start) -> None:
    words = ["up", "real", "--backends", "ec", "--interface", "lo"]
    code = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
    drop = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"]
    up = start(*drop, sys.executable, "-c", code, *words)
    assert up.finish() == 1
    assert "raw Ethernet: not permitted: CAP_NET_RAW missing" in up.text


@pytest.mark.parametrize("text", ["can2", ":can2", "socketcan:"])
def test_the_doctor_requires_kind_and_channel(hc_here, text: str) -> None:
    code, lines = hc_here("doctor", "--can", text)
    assert code == 2
    assert "no KIND:CHANNEL" in "\n".join(lines)
