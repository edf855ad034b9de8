"""The whole robot on one clock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_support.client import Client

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_can.bus.bus import BusSettings
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import SteppedRobot, stepped_options
from humanoid_stepped.scheduler import Process

TESTS = Path(__file__).parents[3] / "tests"


def operator(robot: SteppedRobot) -> Client:
    """An operator of a robot that is up."""
    client = Client(Participant(robot, "operator"))
    client.connect()
    return client


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SteppedRobot:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    robot = SteppedRobot(1, tmp_path)
    robot.start()
    robot.scheduler.run_for(1.0)
    assert [task.error for task in robot.scheduler.failed] == []
    return robot


def test_the_whole_robot_comes_up_and_stands(started: SteppedRobot) -> None:
    client = operator(started)
    client.enter(Mode.DAMPING)
    client.enter(Mode.STANDBY)
    started.scheduler.run_for(4.0)
    assert client.now.mode == Mode.STANDBY
    assert 0.05 < np.abs(started.virtual.plant.velocity).max() < 0.5  # [rad/s] towards its pose
    assert {drive["gate"] for drive in started.virtual.control.drives()} == {1}


def test_a_seed_gives_one_run_bit_for_bit_on_any_machine(tmp_path: Path) -> None:
    """A machine with an older processor, and with another hash seed, time zone and language."""

    def run(name: str, *seeds: int, **environment: str) -> list[str]:
        (folder := tmp_path / name).mkdir()
        paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
        own = {"PYTHONPATH": os.pathsep.join(paths), "ROS_HOME": str(folder)}
        program = str(Path(__file__).with_name("run_once.py"))
        command = [sys.executable, program, str(folder), *map(str, seeds)]
        done = subprocess.run(
            command, env=os.environ | own | environment, check=True, capture_output=True, text=True
        )
        return done.stdout.split()

    older = {
        "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX2 FMA3",
        "OPENBLAS_CORETYPE": "Nehalem",
        "PYTHONHASHSEED": "7",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
    }
    first, other = run("first", 1, 2)
    assert first != other
    assert run("second", 1, **older) == [first]


@pytest.mark.parametrize("can_interface", ["socketcan", "slcan"])
def test_no_thread_is_started_and_no_clock_of_the_machine_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_interface: str
) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    robot = SteppedRobot(3, tmp_path, stepped_options(can_interface=can_interface))
    used: list[str] = []

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            caller = sys._getframe(1).f_globals["__name__"]
            if caller.partition(".")[0] != "logging":  # it stamps its records
                used.append(f"{caller}: {name}")
            return function(*arguments, **options)

        return call

    clocks = ("monotonic", "perf_counter", "time")
    for name in ("sleep", *clocks, *(f"{clock}_ns" for clock in clocks)):
        monkeypatch.setattr(time, name, noted(name, getattr(time, name)))
    monkeypatch.setattr(threading.Thread, "start", noted("start", threading.Thread.start))
    monkeypatch.setattr(threading.Condition, "wait", noted("wait", threading.Condition.wait))
    robot.start()
    robot.scheduler.run_for(1.0)
    client = operator(robot)
    client.reach(Mode.DAMPING)
    client.reach(Mode.STANDBY)
    robot.virtual.control.can_power_off(22)
    robot.scheduler.run_for(15.0)
    assert client.now.mode == Mode.DAMPING
    assert robot.black_box_files.kept, "no file of the fall"
    assert used == []


def enabled(robot: SteppedRobot) -> list[bool]:
    return [it["firmware"]["enabled"] for it in robot.virtual.control.can_drives().values()]


def test_the_guard_disables_the_wrists_of_a_control_process_that_is_killed(
    started: SteppedRobot,
) -> None:
    operator(started).reach(Mode.DAMPING)
    assert enabled(started) == [True] * 4
    started.processes["control"].kill()
    started.scheduler.run_for(1.0)
    assert enabled(started) == [False] * 4
    assert started.guards["can"].exit_code == 0


def test_a_process_that_was_killed_is_started_again(started: SteppedRobot) -> None:
    control = started.processes["control"]
    control.kill()
    assert (control.runs, control.code) == (False, -9)
    started.scheduler.run_for(1.0)  # the guard needs some time to release the bus
    control.start()
    started.scheduler.run_for(2.0)
    operator(started).reach(Mode.DAMPING)
    assert control.runs


def test_an_interrupt_leads_the_robot_down_in_order(started: SteppedRobot) -> None:
    client, control = operator(started), started.processes["control"]
    client.reach(Mode.DAMPING)
    started.scheduler.run_for(0.5)
    control.requests.in_order = True
    ended = started.scheduler.run_until(
        started.scheduler.now + 12_000_000_000, lambda: not control.runs
    )
    assert (ended, control.code) == (True, 0)
    assert client.now.mode == Mode.ZERO_TORQUE
    assert enabled(started) == [False] * 4
    assert {drive["gate"] for drive in started.virtual.control.drives()} == {0}


def test_a_frame_that_a_motor_sends_by_itself_is_received_when_it_arrives(
    started: SteppedRobot,
) -> None:
    arrivals: list[int] = []
    started.virtual.listen(lambda _bus, _frame, now: arrivals.append(now))
    session = started.session(Process("listener"))
    settings = BusSettings("slcan", "memory", 1_000_000)
    bus = started.virtual.adapters["can"].open(settings, session.machine)
    received: list[int] = []

    def receive() -> None:
        while True:
            if bus.receive(1.0) is not None:
                received.append(started.scheduler.now)

    session.machine.start("receive", receive)
    started.scheduler.run_for(0.1)
    assert len(received) > 10
    assert set(received) <= set(arrivals)
