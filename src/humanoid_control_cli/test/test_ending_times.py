"""A supervisor kills a robot only after the full time of every step of its end."""

from __future__ import annotations

import pytest

from humanoid_bringup.supervision.processes import OrphanReaper
from humanoid_bringup.supervision.supervisor import StopTimeouts
from humanoid_control_cli.robot import operator_requests
from humanoid_control_common import ending_times as times
from humanoid_controller_manager.loop import loop_thread
from humanoid_controller_manager.ros.execution import callbacks
from humanoid_controller_manager.ros.topics import snapshot_publisher
from humanoid_controllers.mode_manager.loop_liveness import LONGEST_TICK
from humanoid_controllers.mode_manager.power_down import SETTLE_LIMIT, ZERO_LIMIT
from humanoid_controllers.mode_manager.power_down_service import ANSWER_TIME
from humanoid_devices_can.bus import sending
from humanoid_devices_can.guard import claim, disabling, guard_process
from humanoid_devices_can.timing import Timing
from humanoid_devices_erob.operation import ordered_exit

BETWEEN = 0.25  # [s] for checks and switches between two steps


def test_ending_times_cover_the_timeouts_of_all_steps() -> None:
    assert SETTLE_LIMIT + ZERO_LIMIT + LONGEST_TICK + BETWEEN <= times.WAY_DOWN
    assert callbacks.WAY_DOWN_LIMIT <= times.WAY_DOWN
    assert loop_thread.JOIN_TIMEOUT <= times.HANGING_LOOP
    assert ordered_exit.LONGEST + BETWEEN <= times.RING_EXIT
    timing = Timing()
    can = claim.TIMEOUT + disabling.LONGEST + 2 * guard_process.PARTING
    can += 2 * (timing.silence + sending.UNCONFIRMED) + timing.disable_timeout
    assert can + BETWEEN <= times.CAN_EXIT
    assert snapshot_publisher.JOIN_TIMEOUT + ANSWER_TIME + 4 * BETWEEN <= times.PROCESS_END


def test_the_exit_of_drives_that_answer_nothing_takes_twelve_seconds() -> None:
    assert pytest.approx(12.02) == ordered_exit.LONGEST


def test_hc_up_and_its_guard_kill_later() -> None:
    timeouts = StopTimeouts()
    assert timeouts.after_interrupt > times.WAY_DOWN, "SIGTERM takes the torque at once"
    assert timeouts.after_interrupt + timeouts.after_terminate >= times.END_IN_ORDER
    assert timeouts.after_terminate >= times.END_AT_ONCE
    assert OrphanReaper.__init__.__defaults__ == (times.SIGTERM_TO_SIGKILL,)


def test_a_launch_ends_needed_processes_only_after_the_control_process() -> None:
    killed = times.SIGINT_TO_SIGTERM + times.SIGTERM_TO_SIGKILL
    assert killed >= times.END_IN_ORDER
    assert killed < times.LAST_TO_SIGTERM


def test_hc_down_waits_for_the_answer() -> None:
    assert operator_requests.POWER_DOWN_TIMEOUT > times.ANSWER
    assert times.EVERYTHING > times.LAST_TO_SIGTERM
