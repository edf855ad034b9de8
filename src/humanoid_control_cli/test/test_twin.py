"""The virtual robot for a new user: `hc up twin` and `hc twin can`."""

import os
import shutil
import signal
import socket
from pathlib import Path

import pytest

from humanoid_control_common.machine.rights import RAW_ETHERNET, held_capabilities
from humanoid_twin.ethercat.veth import remove_veth

UP = "Prime is up"
needs_rights = pytest.mark.skipif(
    not held_capabilities() >= set(RAW_ETHERNET)
    or not shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"),
    reason="needs CAP_NET_RAW and CAP_NET_ADMIN (root), and the program ip",
)


def cables() -> set[str]:
    return {name for _, name in socket.if_nameindex() if name.startswith(("hcm", "hcs"))}


@needs_rights
def test_the_virtual_robot_comes_up_with_the_real_stack_and_one_interrupt_ends_all(
    start, tmp_path: Path
) -> None:
    before = cables()
    up = start.hc_anew("up", "twin", "--no-viewer")
    up.wait_for(UP)
    ready = next(i for i, line in enumerate(up.lines) if "robot: 10 drives on hcs" in line)
    assert "4 motors at" in up.lines[ready]
    assert any("14 joints at 50 Hz" in line for line in up.lines[ready:]), "after the robot"
    assert len(cables() - before) == 2
    status = start.hc("status", "--timeout", "30")
    assert status.finish() == 0, status.text
    assert "safety PrimeEtherCATSide" in status.text
    assert "safety PrimeSitoCAN" in status.text
    up.send(signal.SIGINT)
    assert up.finish() == 0, up.text
    assert "stopped: all joints are without torque" in up.text
    assert "Traceback" not in up.text
    assert not up.descendants()
    assert cables() == before
    assert not list(tmp_path.glob("humanoid_control_*/"))


@needs_rights
def test_a_virtual_robot_that_dies_is_named_and_ends_the_rest(hc) -> None:
    before = cables()
    up = hc("up", "twin", "--no-viewer")
    try:
        up.wait_for("robot: 10 drives on hcs")
        os.kill(up.descendant("/humanoid_twin/robot"), signal.SIGKILL)
        assert up.finish() == 137, up.text
        assert "hc        | robot ended: SIGKILL; stopping the others" in up.lines
        assert not up.descendants()
    finally:
        for end in sorted(cables() - before)[:1]:
            remove_veth(end)  # the robot that left it has ended


def test_a_bus_alone_is_a_serial_port_until_the_interrupt(hc_anew, tmp_path: Path) -> None:
    port = tmp_path / "bus"
    bus = hc_anew("twin", "can", str(port), "--family", "robstride", "--ids", "1,0x2")
    bus.wait_for(f"can: 2 motors at {port}")
    assert port.is_char_device()
    bus.send(signal.SIGINT)
    assert bus.finish() == 0, bus.text
    assert not os.path.lexists(port)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--ids", "22,22"), "names a motor twice"),
        (("--model", "TA40-99"), "no model 'TA40-99', there are TA40-50, TA40-100"),
    ],
)
def test_a_bus_that_cannot_be_is_refused(
    hc, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    bus = hc("twin", "can", str(tmp_path / "bus"), *words)
    assert bus.finish() != 0
    assert message in bus.text
