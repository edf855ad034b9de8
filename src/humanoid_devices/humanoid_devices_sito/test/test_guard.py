"""Sito motors have no watchdog: the guard disables them after any end of the control process.

The tests judge by the virtual motors; pytest's time-out is the limit of every wait.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.guard import claim
from humanoid_devices_can.guard.channel import GuardMemory, Stage
from humanoid_devices_can.guard.guard_process import GuardProcess
from humanoid_devices_can.host import CanHost
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import MakeBench, MakeInfo

IDS = [22, 23, 38, 39]
NAMES = "j0 (id 22), j1 (id 23), j2 (id 38), j3 (id 39)"
HOST = Path(__file__).with_name("guarded_host.py")


class Host:
    """A minimal control process with stiff motors."""

    def __init__(self, info: Path) -> None:
        command = [sys.executable, str(HOST), str(info)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, text=True, **pipes)
        self.guard = int(self.status("guard")["guard"])
        self.page = page_of(self.guard)

    def tell(self, order: str) -> None:
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def status(self, key: str) -> dict[str, Any]:
        """Return the next line with this key."""
        for line in self.process.stdout:
            if key in (status := json.loads(line)):
                return status
        raise AssertionError(self.process.stderr.read())

    def until(self, stage: Stage) -> None:
        """Wait for a stage of the guard, or a later one: a busy machine may miss a short stage."""
        while self.page.stage < stage:
            time.sleep(0.005)

    def report(self, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        while not holds(status := self.status("message")):
            pass
        return status

    def last_output(self) -> str:
        """Return the output of the process and its guard; it ends when both have ended."""
        return self.process.communicate()[1]

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.communicate()


def page_of(guard: int) -> GuardMemory:
    """The memory that a guard shares with its control process."""
    for link in Path(f"/proc/{guard}/fd").iterdir():
        if "can guard" in os.readlink(link):
            descriptor = os.open(link, os.O_RDWR)
            try:
                return GuardMemory(mmap.mmap(descriptor, mmap.PAGESIZE))
            finally:
                os.close(descriptor)
    raise AssertionError(f"{guard} shares nothing")


class Wrists:
    """Virtual motors behind a serial line, and the hosts that command them."""

    def __init__(self, bench: Any, info: Any, folder: Path) -> None:
        self.bench, self._folder = bench, folder
        self.hosts: list[Host] = []
        (folder / "info").write_bytes(pickle.dumps(info))
        self.info = info

    def start(self) -> Host:
        self.hosts.append(Host(self._folder / "info"))
        self.until(lambda drive: drive["enabled"] and drive["stiffness"] > 19.0)
        return self.hosts[-1]

    def start_and_hold_up(self) -> Host:
        """Start a host that continues while its guard cannot open the adapter."""
        held_up = self.start()
        line = os.readlink(self.bench.address)
        os.unlink(self.bench.address)
        held_up.process.send_signal(signal.SIGSTOP)
        held_up.until(Stage.ACTS)
        held_up.process.send_signal(signal.SIGCONT)
        report = held_up.report(lambda status: "guard" in status["message"])
        assert report["level"] == SafetyLevel.FAULT
        assert report["flags"] & SafetyFlag.MOTOR_FAULT
        assert f"the guard is disabling {NAMES}: the control loop stood" in report["message"]
        held_up.report(lambda status: f"the guard could not disable {NAMES}:" in status["message"])
        os.symlink(line, self.bench.address)
        return held_up

    def until(self, holds: Callable[[dict[str, Any]], Any]) -> None:
        while not all(holds(self.bench.drive(id_)["firmware"]) for id_ in IDS):
            time.sleep(0.005)

    def until_disabled(self) -> None:
        self.until(lambda drive: not drive["enabled"])


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, tmp_path: Path) -> Iterator[Wrists]:
    bench = can_bench("sito", "TA40-50", IDS, "slcan")
    info = can_info(IDS, "TA40-50", interface="slcan", channel=bench.address)
    wrists = Wrists(bench, info, tmp_path)
    yield wrists
    for each in wrists.hosts:
        each.end()


def wait_for_the_end_of(pid: int) -> None:
    """Wait until the process is gone; a zombie counts as gone."""
    stat = Path(f"/proc/{pid}/stat")
    with suppress(FileNotFoundError):
        while stat.read_text().rpartition(") ")[2][0] != "Z":
            time.sleep(0.005)


def test_control_process_that_is_killed_leaves_no_motor_enabled(wrists) -> None:
    killed = wrists.start()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # Ctrl-C, and requests to end
        os.kill(killed.guard, number)
    assert os.getsid(killed.guard) != os.getsid(killed.process.pid)
    if os.geteuid() == 0:  # otherwise the guard may not have this scheduling
        assert os.sched_getscheduler(killed.guard) == os.SCHED_FIFO
    killed.process.kill()
    wrists.until_disabled()
    assert "control process is gone: disabled j0 (id 22), j1 (id 23)" in killed.last_output()
    wait_for_the_end_of(killed.guard)
    wrists.start()  # and the next process can open the bus


def test_control_process_that_is_stopped_finds_its_motors_disabled_and_reports_why(wrists) -> None:
    stopped = wrists.start()
    stopped.process.send_signal(signal.SIGSTOP)
    wrists.until_disabled()
    stopped.process.send_signal(signal.SIGCONT)
    report = stopped.report(lambda status: f"{NAMES}: disabled by the guard" in status["message"])
    assert report["level"] == SafetyLevel.FAULT
    assert report["flags"] & SafetyFlag.MOTOR_FAULT
    assert "stood still for more than 0.2 s; then clear the fault" in report["message"]
    wrists.until_disabled()
    stopped.tell("clear")
    stopped.report(lambda status: status["level"] == SafetyLevel.OK)
    wrists.until(lambda drive: drive["enabled"] and drive["stiffness"] > 19.0)
    stopped.process.kill()  # the new guard works like the first
    wrists.until_disabled()


def test_control_process_that_is_back_while_its_guard_acts_does_not_undo_what_it_does(
    wrists,
) -> None:
    held_up = wrists.start()
    held_up.process.send_signal(signal.SIGSTOP)
    held_up.until(Stage.ACTS)
    held_up.process.send_signal(signal.SIGCONT)
    held_up.report(lambda status: "disabled by the guard" in status["message"])
    wrists.until_disabled()


def test_control_process_that_ends_while_its_guard_acts_leaves_no_motor_enabled(wrists) -> None:
    ending = wrists.start()
    ending.process.send_signal(signal.SIGSTOP)
    ending.tell("end\nnow")
    ending.until(Stage.ACTS)
    ending.process.send_signal(signal.SIGCONT)
    assert ending.process.wait() == 0, ending.last_output()
    assert not any(wrists.bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)


def test_motors_that_the_guard_could_not_disable_go_on_obeying_their_control_process(
    wrists,
) -> None:
    held_up = wrists.start_and_hold_up()
    held_up.tell("end")  # as DAMPING, it makes them soft
    wrists.until(lambda drive: drive["enabled"] and drive["stiffness"] == 0.0)
    held_up.tell("now")
    assert held_up.process.wait() == 0
    wrists.until_disabled()


def test_guard_that_failed_leaves_the_adapter_as_its_control_process_needs_it(wrists) -> None:
    held_up = wrists.start()
    held_up.process.send_signal(signal.SIGSTOP)
    while (stage := held_up.page.stage) is not Stage.FAILED:
        assert stage is not Stage.DONE, "this test was held up for longer than motors are silent"
        wrists.bench.call("stray", 0x050616B1, "00" * 8)  # as a motor that does not obey
        time.sleep(0.005)
    held_up.process.send_signal(signal.SIGCONT)
    held_up.report(lambda status: "the guard could not disable" in status["message"])
    with wrists.bench.lock:
        assert wrists.bench._port.controller.powered


def test_guard_that_failed_still_disables_what_its_control_process_leaves(wrists) -> None:
    held_up = wrists.start_and_hold_up()
    wrists.until(lambda drive: drive["enabled"] and drive["stiffness"] > 19.0)  # it is not softened
    held_up.process.kill()
    wrists.until_disabled()
    words = held_up.last_output()
    assert f"stands still, or has lost the adapter, and not disabled: {NAMES}: slcan" in words
    assert f"the control process is gone: disabled {NAMES}" in words


def test_after_a_failure_clearing_the_fault_starts_a_guard_anew(wrists) -> None:
    held_up = wrists.start_and_hold_up()
    held_up.tell("clear")
    held_up.report(lambda status: status["level"] == SafetyLevel.OK)
    wait_for_the_end_of(held_up.guard)
    wrists.until(lambda drive: drive["enabled"] and drive["stiffness"] > 19.0)
    held_up.process.kill()
    wrists.until_disabled()


def test_loop_that_hangs_is_as_bad_as_a_process_that_stands_still(wrists) -> None:
    hanging = wrists.start()
    hanging.tell("hang")
    wrists.until_disabled()
    hanging.tell("go on")
    hanging.report(lambda status: "disabled by the guard" in status["message"])
    hanging.tell("end")
    hanging.tell("now")
    assert hanging.process.wait() == 0, hanging.last_output()
    wrists.until_disabled()


def test_between_the_loops_end_and_the_motors_the_guard_does_not_act(wrists) -> None:
    ending = wrists.start()
    ending.tell("end")
    wrists.until(lambda drive: drive["stiffness"] == 0.0)  # limp during the exit of the ring
    start = wrists.bench.call("drives")
    assert all(drive["firmware"]["enabled"] for drive in start)
    time.sleep(0.5)  # longer than a loop may stand still
    assert all(drive["firmware"]["enabled"] for drive in wrists.bench.call("drives"))
    ending.tell("now")
    assert ending.process.wait() == 0
    wrists.until_disabled()
    assert ending.last_output() == ""
    wait_for_the_end_of(ending.guard)


def test_bus_that_is_taken_is_refused_and_a_guard_that_is_killed_is_missed_by_name(
    wrists, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = wrists.start()
    monkeypatch.setattr(claim, "TIMEOUT", 0.05)
    second = SitoSystem()
    second.on_configure(wrists.info)
    with pytest.raises(HardwareError, match="another process drives its motors already"):
        second.on_activate(JointState(4))
    os.kill(first.guard, signal.SIGKILL)
    report = first.report(lambda status: status["level"] == SafetyLevel.WARNING)
    assert "no guard on slcan" in report["message"]
    assert f"{NAMES} continue with" in report["message"]
    wrists.until(
        lambda drive: drive["enabled"] and drive["stiffness"] > 19.0
    )  # the report is the only reaction


def test_motors_are_enabled_with_a_warning_if_the_guard_cannot_start(wrists, can_rig) -> None:
    start_guard = partial(GuardProcess, command=("/nowhere/python",))
    rig = can_rig(SitoSystem(host=CanHost(start_guard=start_guard)), wrists.info)
    rig.activate()
    report = rig.until(lambda report: report.level is SafetyLevel.WARNING)
    assert "it can't be started" in report.message


def test_guard_gets_the_feedback_identifiers_of_its_motors(wrists) -> None:
    system = SitoSystem()
    system.on_configure(wrists.info)
    for motor, id_ in enumerate(IDS):
        expected = {0x05060000 | id_ << 8 | kind for kind in (0xB0, 0xB1, 0xB2, 0xB3)}
        assert set(system._family.disabled_proof(motor).feedback) == expected
