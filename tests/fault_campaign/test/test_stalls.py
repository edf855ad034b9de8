"""Gaps in the time of a watcher that excuse a fall of the robot."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable
from subprocess import PIPE, Popen

import pytest
from fault_campaign.disturbing.own_time import OwnTime
from fault_campaign.disturbing.stalls import PRIORITY, Gap, Mirror, datagrams, longest, serial_line

from humanoid_control_common.machine.realtime import LOOP_PRIORITY


@pytest.mark.parametrize(
    ("gaps", "counts"),
    [
        ([], 0.0),
        ([Gap(1.0, 0.004)], 0.0),
        ([Gap(1.0, 0.0079)], 0.0),
        ([Gap(1.0, 0.0081)], 0.0081),
        ([Gap(1.0, 0.004), Gap(1.0001, 0.005)], 0.0),  # one gap on two cores
        ([Gap(1.0, 0.004), Gap(1.02, 0.005)], 0.005),  # two frames in a row
        ([Gap(1.0, 0.004), Gap(1.1, 0.005)], 0.0),  # a frame between them was in time
        ([Gap(1.0, 0.06), Gap(5.0, 0.004)], 0.06),
        ([Gap(1.0, 0.06, 0.4)], 0.06),
        ([Gap(1.0, 0.06, 0.6)], 0.0),  # the campaign itself is the reason
        ([Gap(1.0, 0.004, 0.6), Gap(1.02, 0.005)], 0.0),
    ],
)
def test_a_long_gap_counts_and_short_ones_only_in_a_row(gaps: list[Gap], counts: float) -> None:
    assert longest(gaps) == counts


def test_no_thread_of_the_stack_can_hold_a_watcher_up() -> None:
    assert PRIORITY > LOOP_PRIORITY


def test_the_time_that_programs_of_ours_used_is_reported_also_of_those_that_have_ended() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    waits = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}]); input()"
    with Popen([sys.executable, "-c", waits], stdin=PIPE) as program:
        deadline = time.monotonic() + 30.0
        while OwnTime(program.pid).used() < 0.2 and time.monotonic() < deadline:
            time.sleep(0.01)
        used = OwnTime(program.pid).used()
        program.communicate(b"\n")
    assert 0.2 <= used < 5.0
    assert OwnTime(program.pid).used() == 0.0


@pytest.mark.parametrize("make", [datagrams, serial_line])
def test_a_mirror_waits_for_what_it_has_written_last(make: Callable[[], Mirror]) -> None:
    mirror = make()
    os.write(mirror.into, b"came late")
    for stamp in (1.0, 2.0):
        mirror.reflect(stamp)
        assert not select.select([mirror.out], [], [], 0.0)[0]
