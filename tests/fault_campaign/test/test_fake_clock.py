"""A clock that is set while a node waits, with the real middleware in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fault_campaign.disturbing.fake_clock import FakeClock

NODE = """
import struct, sys, threading, time
from rclpy.clock import Clock, ClockType as Kind
from humanoid_controller_manager.ros.process.ros_session import ros_session, spin_until

ticks = []

def step():
    "Every now and then, so that it happens in a wait."
    with open(sys.argv[1], "r+b", buffering=0) as offset:
        while len(ticks) < 20:
            time.sleep(0.003)
            off, = struct.unpack("=q", offset.read(8))
            offset.seek(0)
            offset.write(struct.pack("=q", off + int(sys.argv[2])))
            offset.seek(0)

with ros_session([]) as ros:
    node = ros.node("waits", services=False)
    steady = Clock(clock_type=Kind.STEADY_TIME)
    node.create_timer(0.02, lambda: ticks.append(None), clock=steady)
    threading.Thread(target=step).start()
    spin_until(ros, node, lambda: len(ticks) >= 20)
"""
WAIT = """
import ctypes, struct, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
semaphore = ctypes.create_string_buffer(64)
libc.sem_init(semaphore, 0, 0)

def step(seconds):
    with open(sys.argv[1], "r+b", buffering=0) as offset:
        offset.write(struct.pack("=q", seconds))

def wait(seconds):
    "Until that much later on the clock of now; whether the semaphore was posted."
    end = time.time_ns() + round(seconds * 1e9)
    return lambda: libc.sem_timedwait(semaphore, struct.pack("=qq", *divmod(end, 10**9))) == 0

"""
AFTER_A_STEP = """
step(int(sys.argv[2]))
begin = time.monotonic()
assert not wait(0.05)()
assert time.monotonic() - begin >= 0.05
"""
DURING_A_STEP = """
posted = []
waiting = wait(0.1)
thread = threading.Thread(target=lambda: posted.append(waiting()))
thread.start()
step(int(sys.argv[2]))
thread.join(0.5)
libc.sem_post(semaphore)
thread.join()
assert posted == [True]
"""


def preloaded(program: str, step: int, folder: Path) -> None:
    """Run a Python program; its arguments are the file of the clock and the step [s]."""
    clock = FakeClock(folder)
    command = [sys.executable, "-c", program, clock.environment["FAKE_CLOCK"], str(step)]
    subprocess.run(command, env={**os.environ, **clock.environment}, check=True, timeout=60.0)


@pytest.mark.parametrize("step", [3600, -3600])
def test_a_wait_that_begins_on_a_stepped_clock_takes_its_time(tmp_path: Path, step: int) -> None:
    preloaded(WAIT + AFTER_A_STEP, step, tmp_path)


def test_a_wait_during_which_the_clock_is_set_back_goes_on_as_in_the_kernel(tmp_path: Path) -> None:
    preloaded(WAIT + DURING_A_STEP, -3600, tmp_path)


@pytest.mark.parametrize("step", [3600, -3600])
def test_timers_go_on_when_the_systems_clock_is_set(tmp_path: Path, step: int) -> None:
    preloaded(NODE, step, tmp_path)
