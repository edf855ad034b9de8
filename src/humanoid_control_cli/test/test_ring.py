"""The EtherCAT side for a user: cable, ring, robot, modes, objects, and the end."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from humanoid_control_common.machine.rights import RAW_ETHERNET, held_capabilities

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

MASTER, FAR = f"hc{os.getpid()}m", f"hc{os.getpid()}r"
TIMEOUT = ("--timeout", "60")

pytestmark = [
    pytest.mark.skipif(
        not held_capabilities() >= set(RAW_ETHERNET),
        reason="needs CAP_NET_RAW and CAP_NET_ADMIN (root)",
    ),
    pytest.mark.skipif(
        not shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"),
        reason="needs the program ip (Debian package iproute2)",
    ),
]


@pytest.fixture
def cable(start: Starter) -> Iterator[Starter]:
    """A virtual cable between MASTER and FAR."""
    made = start.hc_anew("twin", "veth", MASTER, FAR)
    assert made.finish() == 0, made.text
    assert made.text == f"{MASTER} and {FAR} are up; next: hc twin ring {FAR}"
    yield start
    removed = start.hc("twin", "veth", MASTER, FAR, "--delete")
    assert removed.finish() == 0, removed.text


def ask(robot, up, *arguments: str) -> list[str]:
    run = robot.hc(*arguments, *TIMEOUT)
    assert run.finish() == 0, f"{run.text}\n{up.text}"
    return run.lines


def ring(start, *options: str):
    run = start.hc_anew("twin", "ring", FAR, *options)
    run.wait_for("ring: ")
    return run


def go_through_the_modes(robot, controllers: Path) -> None:
    words = ("--backends", "ec", "--interface", MASTER, "--controllers", str(controllers))
    up = robot.hc("up", "real", *words, "--no-viewer")
    up.wait_for("Prime is up: ")
    assert "four wrists on the CAN bus are mocked" in up.text
    ask(robot, up, "mode", "damp")
    errors = [f"slave {i} 0x603F:00 = 0 (0x0000): no error" for i in range(10)]
    assert ask(robot, up, "sdo", "read", "0-9", "0x603F") == errors
    (statusword,) = ask(robot, up, "sdo", "read", "3", "0x6041")
    assert statusword.endswith(": operation enabled")
    assert ask(robot, up, "mode", "load", "--wait")[-1] == "STANDBY is finished"
    gains = [f"slave {i} 0x2381:01 = 19 (0x00000013)" for i in range(10)]
    assert ask(robot, up, "sdo", "read", "0-9", "0x2381:1") == gains
    ask(robot, up, "mode", "damp")
    up.send(signal.SIGINT)
    assert up.finish() == 0, up.text
    assert "stopped: all joints are without torque" in up.text
    assert "Traceback" not in up.text


def test_the_way_through_the_ring(cable, quick_controllers: Path) -> None:
    drives = ring(cable, "--mailbox-delay-ms", "1")
    assert drives.lines == [f"ring: 10 slaves on {FAR}"]
    go_through_the_modes(cable, quick_controllers)
    drives.send(signal.SIGINT)
    assert drives.finish() == 0, drives.text
    assert drives.lines == [f"ring: 10 slaves on {FAR}"]


def test_two_rings_on_one_interface_are_refused(cable) -> None:
    first = ring(cable, "--slaves", "1")
    second = cable.hc("twin", "ring", FAR)
    assert second.finish() == 1
    assert second.text.startswith(f"hc: no ring can run on {FAR}: other master: {FAR} is in use")
    first.send(signal.SIGTERM)
    assert first.finish() == 0


def test_a_cable_is_ready_for_a_master_and_not_made_again(cable) -> None:
    doctor = cable.hc("doctor", "--interface", MASTER)
    assert doctor.finish() == 1  # no ring runs on it yet
    assert "virtual: for a virtual ring" in doctor.text
    assert "1 broken" in doctor.text
    assert "no slave answers" in doctor.text
    again = cable.hc("twin", "veth", MASTER, FAR)
    assert again.finish() == 1
    assert again.text.startswith(f"hc: can't make the pair {MASTER}, {FAR}: ")


def test_a_ring_without_an_interface_names_the_command_that_makes_one(hc) -> None:
    run = hc("twin", "ring", "no_such_if")
    assert run.finish() == 1
    assert "hc twin veth" in run.text
    assert len(run.lines) == 1
