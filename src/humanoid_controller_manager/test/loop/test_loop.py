"""The tick: read, update, limit, write, reports, and the supervision of the ROS side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.loop.snapshot import Phase
from humanoid_controller_manager.reason_codes import PROCESS_HELD_UP
from humanoid_controller_manager.safety.limit_stage import Limited

HEARTBEAT_LIMIT = 0.2  # [s]


def test_snapshot_has_the_command_written_after_limits(rig: Any) -> None:
    robot = rig().start("damped")

    def far(state: Any, command: Any, now: float, period: float) -> None:
        command.position[:] = 5.0
        command.velocity[:] = -50.0
        command.effort[:] = -30.0
        command.stiffness[:] = 20.0

    robot.controllers["torque"].behave = far
    snapshot = robot.run("torque")

    assert np.array_equal(snapshot.command.array, robot.arm.written[-1])
    assert snapshot.command.position == pytest.approx(0.5 + 3.0 * 0.01, 1e-3)  # rad/s, s
    assert np.all(snapshot.command.velocity == -3.0)
    assert np.all(snapshot.command.effort == -10.0)
    assert robot.limits.counts[Limited.POSITION].tolist() == [1, 1, 1]
    assert robot.limits.counts[Limited.VELOCITY].tolist() == [1, 1, 1]


def _far(state: Any, command: Any, now: float, period: float) -> None:
    """2 rad, with the same stiffness in every mode."""
    command.position[:] = 2.0
    command.stiffness[:] = 20.0


def test_effort_limit_that_a_component_lowers_holds_from_the_next_tick_on(rig: Any) -> None:
    robot = rig().start("damped")

    def push(state: Any, command: Any, now: float, period: float) -> None:
        command.effort[:] = -30.0

    robot.controllers["torque"].behave = push
    assert np.all(robot.run("torque").command.effort == -10.0)
    lower = np.array([10.0, 4.0, 10.0])
    robot.arm.limit = lambda position: lower
    assert robot.tick(2).command.effort.tolist() == [-10.0, -4.0, -10.0]


def test_target_is_bounded_by_the_stiffness_that_acts_whatever_is_commanded(
    rig: Any, confirming_hardware: Any
) -> None:
    arm = confirming_hardware()
    robot = rig({"arm": (arm, ("a", "b", "c"))}).start("damped")
    robot.controllers["torque"].behave = _far
    arm.stiffness = np.full(3, 1000.0)
    away = robot.run("torque").command.position - 0.5
    assert away == pytest.approx(10.0 / 1000.0)  # Nm, Nm/rad


def test_tick_that_ends_after_the_loop_was_abandoned_writes_nothing(rig: Any) -> None:
    """Another thread has deactivated the hardware."""
    robot = rig().start("damped")
    robot.tick()
    robot.controllers["damped"].behave = lambda *_: robot.loop.abandon()
    written = len(robot.arm.written)
    robot.tick()
    assert "on_deactivate" in robot.arm.calls
    assert len(robot.arm.written) == written


def test_a_hold_up_is_made_up_for_by_two_periods_at_most(rig: Any) -> None:
    robot = rig().start("damped")
    robot.controllers["torque"].behave = _far
    before = robot.run("torque").command.position.copy()
    robot.time += 1.0
    robot.loop.tick(robot.time, 1.0, lambda: robot.time)
    moved = robot.loop.snapshot.command.position - before
    assert moved == pytest.approx(3.0 * 0.02, 1e-2)  # rad/s, s


def test_mode_begins_at_the_measured_pose_not_at_the_previous_command(rig: Any) -> None:
    robot = rig().start("damped")
    for name in ("torque", "remote"):
        robot.controllers[name].behave = _far
    robot.run("torque")
    assert robot.tick(9).command.position == pytest.approx(0.5 + 10 * 0.03, 1e-2)
    assert robot.run("remote").command.position == pytest.approx(0.5 + 0.03, 1e-2)


def test_a_later_tick_does_not_change_an_earlier_snapshot(rig: Any) -> None:
    robot = rig().start("damped")
    robot.arm.measured[:] = 0.1
    earlier = robot.tick()
    state, command = earlier.state.array.copy(), earlier.command.array.copy()
    summary = (earlier.tick, earlier.now, earlier.controller, earlier.reports)

    robot.arm.measured[:] = 0.9
    robot.arm.report = SafetyReport("arm", SafetyLevel.FAULT)
    robot.run("torque")

    assert np.array_equal(earlier.state.array, state)
    assert np.array_equal(earlier.command.array, command)
    assert (earlier.tick, earlier.now, earlier.controller, earlier.reports) == summary


def test_ticks_are_counted_and_stamped(rig: Any) -> None:
    robot = rig().start()
    first, second = robot.tick(), robot.tick()
    assert (second.tick - first.tick, second.now) == (1, robot.time)


def test_change_is_announced_exactly_when_something_changed(rig: Any) -> None:
    robot = rig().start("damped")
    robot.tick(5)
    assert robot.changes == 0

    robot.run("torque")
    assert robot.changes == 1
    robot.tick(5)
    assert robot.changes == 1

    robot.arm.report = SafetyReport("arm", SafetyLevel.WARNING, message="warm")
    robot.tick(5)
    assert robot.changes == 2

    robot.controllers["torque"].fail["update"] = RuntimeError("boom")
    robot.tick(5)
    assert robot.changes == 3

    robot.ask("absent")  # a refusal also is an event
    robot.tick(5)
    assert robot.changes == 4


def test_the_end_of_preparing_is_announced(rig: Any, confirming_hardware: Any) -> None:
    drives = confirming_hardware(confirmed=False)
    robot = rig({"drives": (drives, ("a",))}).start("damped")
    robot.run("standby")
    robot.tick(3)
    before = robot.changes
    drives.confirmed = True
    assert robot.tick().phase is Phase.RUNNING
    assert robot.changes == before + 1


def test_the_announced_snapshot_is_the_one_of_the_change(rig: Any) -> None:
    robot = rig().start("damped")
    seen: list[str] = []
    robot.loop.on_change = lambda: seen.append(robot.loop.snapshot.controller)
    robot.ask("torque")
    robot.tick()
    assert seen == ["torque"]


@pytest.mark.parametrize("name", ["standby", "torque"])
def test_a_silent_ros_side_ends_stiff_modes(rig: Any, name: str) -> None:
    robot = rig().start("damped")
    robot.loop.heartbeat()
    robot.run(name)
    robot.heart_time += HEARTBEAT_LIMIT
    assert robot.tick().controller == name

    robot.heart_time += 0.001
    snapshot = robot.tick()

    assert snapshot.controller == "damped"
    assert snapshot.fall.reason.text.startswith("ROS side silent for 0.20 s")


def test_a_loop_that_was_held_up_does_not_report_a_stall_of_the_ros_side(rig: Any) -> None:
    robot = rig().start("damped")
    robot.loop.heartbeat()
    robot.run("standby")
    robot.heart_time += 0.7
    snapshot = robot.tick()
    assert snapshot.controller == "damped"
    assert snapshot.fall.reason.text == "the control process was held up for 0.70 s"


@pytest.mark.parametrize(
    ("machine", "simulated", "fall"),
    [
        (0.7, 0.0, None),  # both are held up
        (0.7, 0.15, None),  # slower than real time
        (0.15, 0.7, None),  # faster
        (0.21, 0.21, PROCESS_HELD_UP),
    ],
)
def test_simulated_joints_fall_only_if_they_moved_while_the_ros_side_was_silent(
    rig: Any, scripted_hardware: Any, machine: float, simulated: float, fall: ReasonCode | None
) -> None:
    class Simulator(scripted_hardware):  # type: ignore[misc]
        time, real_time_factor = 0.0, 1.0

    simulator = Simulator()
    robot = rig({"sim": (simulator, ("a",))}).start("damped")
    robot.loop.heartbeat()
    robot.run("standby")
    robot.heart_time += machine
    simulator.time += simulated
    robot.group.read_time()
    found = robot.tick().fall
    assert (found and found.reason.codes) == (fall and (fall.name,))


@pytest.mark.parametrize("name", ["limp", "damped"])
def test_a_silent_ros_side_is_no_reason_to_leave_a_safe_mode(rig: Any, name: str) -> None:
    robot = rig().start(name)
    robot.loop.heartbeat()
    robot.heart_time += 100.0
    snapshot = robot.tick(3)
    assert (snapshot.controller, snapshot.fall) == (name, None)


def test_supervision_starts_with_the_first_heartbeat(rig: Any) -> None:
    robot = rig().start("damped")
    robot.heart_time = 100.0
    assert robot.run("standby").fall is None


def test_a_silent_ros_side_ends_the_preparing_too(rig: Any, confirming_hardware: Any) -> None:
    robot = rig({"drives": (confirming_hardware(confirmed=False), ("a",))}).start("damped")
    robot.loop.heartbeat()
    robot.run("standby")
    robot.heart_time += 0.3
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.phase) == ("damped", Phase.RUNNING)


def test_a_request_left_before_the_stall_does_not_lead_back_into_a_stiff_mode(rig: Any) -> None:
    robot = rig().start("damped")
    robot.loop.heartbeat()
    robot.run("standby")
    robot.ask("remote")
    robot.heart_time += 1.0
    robot.tick()
    robot.loop.heartbeat()
    assert robot.tick(3).controller == "damped"


def test_returned_heartbeat_does_not_leave_damping(rig: Any) -> None:
    robot = rig().start("damped")
    robot.loop.heartbeat()
    robot.run("standby")
    robot.heart_time += 1.0
    robot.tick()
    robot.loop.heartbeat()
    assert robot.tick(10).controller == "damped"


def test_a_fault_reset_reaches_each_capable_component_once(
    rig: Any, confirming_hardware: Any, scripted_hardware: Any
) -> None:
    ring, can = confirming_hardware(), confirming_hardware()
    robot = rig(
        {"ring": (ring, ("a",)), "plain": (scripted_hardware(), ("b",)), "can": (can, ("c",))}
    ).start()
    robot.loop.request_fault_reset()
    robot.loop.request_fault_reset()
    robot.tick(3)
    assert [it.calls.count("reset_faults") for it in (ring, can)] == [1, 1]


def test_stopping_deactivates_the_hardware(rig: Any) -> None:
    robot = rig().start("damped")
    robot.tick()
    robot.loop.stop()
    assert robot.arm.calls[-1] == "on_deactivate"


def test_stopping_reports_what_may_still_be_powered(rig: Any) -> None:
    robot = rig().start("damped")
    robot.arm.fail["on_deactivate"] = RuntimeError("bus gone")
    with pytest.raises(ExceptionGroup, match="may still be powered"):
        robot.loop.stop()


def test_a_snapshot_is_there_right_after_the_start(rig: Any) -> None:
    robot = rig()
    with pytest.raises(ControllerError):
        _ = robot.loop.snapshot
    snapshot = robot.start("damped").loop.snapshot
    assert (snapshot.controller, snapshot.switch_number, snapshot.tick) == ("damped", 1, 0)
    assert np.all(snapshot.state.position == 0.5)
    assert [report.source for report in snapshot.reports] == ["arm"]


def test_a_tick_is_stamped_when_it_was_measured_not_when_it_was_written(
    rig: Any, scripted_hardware: Any
) -> None:
    class Slow(scripted_hardware):  # type: ignore[misc]
        def read(self, state: Any, now: float, period: float) -> None:
            super().read(state, now, period)
            robot.system_time += 50_000_000
            robot.heart_time += 0.05

    robot = rig({"arm": (Slow(), ("a",))}).start()
    robot.heart_time, robot.system_time = 7.0, 9_000_000_000
    first = robot.tick()
    assert (first.measured, first.measured_at) == (7.0, 9_000_000_000)
    assert robot.tick().measured_at == 9_050_000_000
