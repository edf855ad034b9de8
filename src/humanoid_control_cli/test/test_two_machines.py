"""Robot and operator's machine in two networks with a switch between them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_support import browser as browser_testing
from test_support.browser import CHROMIUM, OperatorPage, chromium

from humanoid_control_common.rules.modes import Mode

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
ADDRESSES = {"robot": "10.77.0.1", "operator": "10.77.0.2"}
LISTENERS = 2  # on the operator's machine: data for them fills the queues of a dead cable


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], env=os.environ | {"PATH": PATH}, check=True, capture_output=True)


def refusal() -> str:
    """Return the reason that no network can be made here; empty: it can."""
    if os.geteuid() != 0 or not shutil.which("ip", path=PATH):
        return "needs root, and the program ip"
    name = f"hcn{os.getpid()}try"
    try:
        ip("netns", "add", name)
        ip("-n", name, "link", "add", "switch", "type", "bridge")
    except subprocess.CalledProcessError as error:
        return f"no network namespaces with bridges here: {error.stderr.decode().strip()}"
    finally:
        subprocess.run(["ip", "netns", "del", name], env={"PATH": PATH}, check=False)
    return ""


class Network:
    """The two machines and the switch; for a machine `cut` is a pulled cable."""

    def __init__(self) -> None:
        self._names = {name: f"hcn{os.getpid()}{name}" for name in (*ADDRESSES, "switch")}
        for name in self._names.values():
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        self._switch("link", "add", "switch", "type", "bridge", "mcast_snooping", "0")
        self._switch("link", "set", "switch", "up")
        for name, address in ADDRESSES.items():
            far = ("peer", "name", name, "netns", self._names["switch"])
            self._on(name, "link", "add", "eth0", "type", "veth", *far)
            self._on(name, "addr", "add", f"{address}/24", "dev", "eth0")
            self._on(name, "link", "set", "eth0", "up")
            self._switch("link", "set", name, "master", "switch", "up")

    def inside(self, machine: str) -> tuple[str, ...]:
        """Return the prefix of a command that runs on `machine`."""
        return ("ip", "netns", "exec", self._names[machine])

    def cut(self, machine: str) -> None:
        self._switch("link", "set", machine, "down")

    def restore(self, machine: str) -> None:
        self._switch("link", "set", machine, "up")

    def pass_multicast(self, passing: bool) -> None:
        for name in ADDRESSES:
            flood = ("mcast_flood", "on" if passing else "off")
            self._switch("link", "set", name, "type", "bridge_slave", *flood)

    def remove(self) -> None:
        for name in self._names.values():
            ip("netns", "del", name)

    def _on(self, machine: str, *words: str) -> None:
        ip("-n", self._names[machine], *words)

    def _switch(self, *words: str) -> None:
        self._on("switch", *words)


pytestmark = pytest.mark.skipif(bool(refusal()), reason=refusal() or "-")


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.remove()


class Machines:
    """Starts `hc` on either machine."""

    def __init__(self, start, network: Network) -> None:
        self._start = start
        self.network = network

    def start(self, machine: str, *arguments: str, **environment: str):
        command = (sys.executable, "-m", "humanoid_control_cli.main", *arguments)
        spread = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "PATH": PATH}
        return self._start(*self.network.inside(machine), *command, **(spread | environment))

    def ask(self, machine: str, *arguments: str, **environment: str) -> tuple[int, str]:
        run = self.start(machine, *arguments, **environment)
        return run.finish(), run.text


@pytest.fixture(scope="module")
def machines(start_once: Starter, network: Network, quick_controllers: Path) -> Machines:
    """Both machines, with the robot up."""
    machines = Machines(start_once, network)
    words = ("--no-black-box", "--initial-mode", "damping", "--controllers", str(quick_controllers))
    up = machines.start("robot", "up", "mock", "--no-viewer", *words)
    up.wait_for("Prime is up")
    return machines


@pytest.fixture
def standby(machines: Machines) -> str:
    """Return the statement of STANDBY after the operator's request."""
    code, text = machines.ask("operator", "mode", "load", "--wait", "--timeout", str(TIMEOUT))
    assert code == 0, text
    return text.splitlines()[0].removeprefix("already in ")


def test_the_operator_sees_and_commands_the_robot(machines: Machines, standby: str) -> None:
    assert standby.startswith("STANDBY (standby_controller")
    code, text = machines.ask("operator", "status", "--timeout", str(TIMEOUT))
    assert code == 0, text
    assert "left_shoulder_pitch" in text
    code, text = machines.ask("robot", "mode", "--timeout", str(TIMEOUT))
    assert (code, text) == (0, standby)


def test_robot_is_absent_from_another_ros_domain(machines: Machines, start) -> None:
    other = start.environment["ROS_DOMAIN_ID"]
    code, text = machines.ask("operator", "mode", "--timeout", "2", ROS_DOMAIN_ID=other)
    assert code == 1
    assert text.startswith(f"hc: no control process answers on ROS_DOMAIN_ID {other}")


@pytest.mark.parametrize("end", ["robot", "operator"])
def test_robot_keeps_its_mode_without_the_network_cable(
    machines: Machines, standby: str, tmp_path: Path, end: str
) -> None:
    bags = [tmp_path / str(number) for number in range(LISTENERS)]
    listeners = [machines.start("operator", "record", str(bag)) for bag in bags]
    for listener in listeners:
        listener.wait_for("recording /prime/joint_states")
    machines.network.cut(end)
    try:
        # On the machine of the robot all data still flows.
        for _ in range(2):
            code, text = machines.ask("robot", "status", "--timeout", str(TIMEOUT))
            assert code == 0, text
            assert re.search("safety PrimeMock +OK", text), text
        assert machines.ask("robot", "mode", "--timeout", str(TIMEOUT)) == (0, standby)
        code, text = machines.ask("operator", "status", "--timeout", "2")
        assert code == 1
        assert "no control process answers" in text
    finally:
        machines.network.restore(end)
    assert machines.ask("operator", "mode", "--timeout", str(TIMEOUT)) == (0, standby)
    for listener in listeners:
        listener.send(signal.SIGINT)
        # With a message from after the cut it knows that those of that time are missing.
        code = listener.finish()
        assert code == ("messages are missing" in listener.text), listener.text


@pytest.fixture
def page(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OperatorPage]:
    """The viewer's page on the operator's machine."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    view = machines.start("operator", "view", "--port", "0")
    view.wait_for("viewer: http")
    url = view.text.rsplit("viewer: ", 1)[1].split()[0]
    browser_inside = tmp_path / "browser"
    inside = " ".join(machines.network.inside("operator"))
    browser_inside.write_text(f'#!/bin/sh\nPATH={PATH} exec {inside} {CHROMIUM} "$@"\n')
    browser_inside.chmod(0o755)
    monkeypatch.setattr(browser_testing, "CHROMIUM", str(browser_inside))
    with chromium() as browser:
        yield OperatorPage(browser, url)
    view.send(signal.SIGINT)
    assert view.finish() == 0, view.text


def test_the_viewer_reports_that_the_robot_is_lost_and_finds_it_again(
    machines: Machines, standby: str, page: OperatorPage
) -> None:
    page.shows_mode(Mode.STANDBY)
    page.shows("Hz", ".hc-connection")
    machines.network.cut("operator")
    page.shows("connection lost", ".hc-connection")
    machines.network.restore("operator")
    page.shows("Hz", ".hc-connection")
    page.click_mode(Mode.DAMPING)
    page.shows_mode(Mode.DAMPING)


def test_a_click_that_a_cut_cable_held_back_has_no_effect_when_the_cable_is_back(
    machines: Machines, page: OperatorPage
) -> None:
    code, before = machines.ask("robot", "mode", "damp", "--timeout", str(TIMEOUT))
    assert code == 0, before
    page.shows_mode(Mode.DAMPING)
    machines.network.cut("operator")
    page.click_mode(Mode.STANDBY)
    page.shows("connection lost", ".hc-connection")
    machines.network.restore("operator")
    page.shows("Hz", ".hc-connection")
    # Sent by the same publisher: it comes after a click that is sent again.
    page.click_mode(Mode.ZERO_TORQUE)
    page.shows_mode(Mode.ZERO_TORQUE)
    _, after = machines.ask("robot", "mode", "--timeout", str(TIMEOUT))
    assert switch_number(after) == switch_number(before) + 1
    assert machines.ask("robot", "mode", "damp", "--timeout", str(TIMEOUT))[0] == 0


def switch_number(statement: str) -> int:
    return int(statement.partition("switch ")[2].partition(")")[0])


def test_without_multicast_the_robot_is_found_by_its_address(start, network: Network) -> None:
    machines = Machines(start, network)
    network.pass_multicast(False)
    try:
        up = machines.start("robot", "up", "mock", "--no-viewer", "--no-black-box")
        up.wait_for("Prime is up")
        assert machines.ask("operator", "mode", "--timeout", "2")[0] == 1
        peers = {"ROS_STATIC_PEERS": ADDRESSES["robot"]}
        asked = machines.ask("operator", "mode", "damp", "--timeout", str(TIMEOUT), **peers)
        assert asked == (0, "DAMPING (damping_controller, switch 2)")
    finally:
        network.pass_multicast(True)
