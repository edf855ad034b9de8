"""A controller that needs stiffness waits until the hardware has confirmed the mode's impedance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.loop.snapshot import Phase


@pytest.fixture
def drives(confirming_hardware: Any) -> Any:
    """Drives that confirm only on request."""
    return confirming_hardware(confirmed=False)


@pytest.fixture
def robot(rig: Any, drives: Any) -> Any:
    robot = rig({"drives": (drives, ("a", "b"))}).start("damped")
    robot.tick()
    return robot


def test_hardware_without_gains_per_mode_is_never_waited_for(rig: Any) -> None:
    robot = rig().start("damped")
    snapshot = robot.run("standby")
    assert snapshot.phase is Phase.RUNNING
    assert np.all(robot.arm.written[-1][3] == 20.0)


def test_meanwhile_the_pose_of_the_switch_is_held_with_the_gains_in_force(
    robot: Any, drives: Any
) -> None:
    drives.measured[0] = [0.1, 0.2]
    snapshot = robot.run("standby")
    drives.measured[0] = [0.3, 0.4]
    robot.tick(3)

    assert snapshot.phase is Phase.PREPARING
    assert snapshot.unconfirmed == "drives"
    for written in drives.written[-4:]:
        assert written[0].tolist() == [0.1, 0.2]
        assert not written[1:4].any()
        assert np.all(written[4] == 6.0)
    assert robot.controllers["standby"].calls == []


def test_from_a_stiff_mode_the_stiffness_in_force_holds_the_pose(robot: Any, drives: Any) -> None:
    drives.confirmed = True
    robot.run("standby")
    drives.confirmed = False
    robot.run("remote")

    assert robot.loop.snapshot.phase is Phase.PREPARING
    assert np.all(drives.written[-1][3] == 20.0)
    assert np.all(drives.written[-1][4] == 2.0)
    assert not drives.written[-1][1:3].any()


def test_velocity_and_effort_of_the_previous_controller_stop_during_preparing(
    robot: Any, drives: Any
) -> None:
    def push(state: Any, command: Any, now: float, period: float) -> None:
        command.position[:] = state.position
        command.velocity[:], command.effort[:] = 0.5, 2.0
        command.damping[:] = 1.0

    robot.controllers["torque"].behave = push
    robot.run("torque")
    robot.tick()
    assert np.all(drives.written[-1][2] == 2.0)
    assert robot.run("standby").phase is Phase.PREPARING
    assert not drives.written[-1][1:3].any()


def test_the_controllers_clock_starts_at_the_confirmation(robot: Any, drives: Any) -> None:
    robot.run("standby")
    robot.tick(10)
    drives.measured[0] = [0.7, 0.8]
    drives.confirmed = True
    snapshot = robot.tick()

    state, command, now = robot.controllers["standby"].activations[-1]
    assert snapshot.phase is Phase.RUNNING
    assert now == robot.time
    assert state[0].tolist() == [0.7, 0.8]
    assert np.all(command[4] == 6.0)  # damping in force: the ramp starts from it
    assert np.all(drives.written[-1][3] == 20.0)


def test_targets_begin_at_the_measured_pose_when_the_impedance_is_confirmed(
    robot: Any, drives: Any
) -> None:
    """Drives may be stiff before: a joint that has sagged meanwhile is not pulled back."""
    drives.stiffness = np.full(2, 20.0)
    robot.run("standby")
    robot.tick(5)
    drives.measured[0] = [0.1, 0.2]
    drives.confirmed = True
    robot.tick()
    assert drives.written[-1][0].tolist() == [0.1, 0.2]


def test_no_progress_is_reported_before_the_controller_runs(robot: Any, drives: Any) -> None:
    robot.controllers["standby"].fraction = 1.0  # from the former activation
    assert robot.run("standby").progress is None
    drives.confirmed = True
    assert robot.tick().progress.finished


def test_loop_falls_to_damping_after_half_a_second_without_confirmation(
    robot: Any,
) -> None:
    robot.run("standby")
    snapshot = robot.tick(49)
    assert snapshot.controller == "standby"  # after 0.49 s

    snapshot = robot.tick(2)

    assert (snapshot.controller, snapshot.phase) == ("damped", Phase.RUNNING)
    assert snapshot.fall.reason.text == "impedance of STANDBY not confirmed within 0.5 s by drives"
    assert robot.controllers["standby"].calls == []


def test_snapshot_names_only_the_components_that_have_not_confirmed(
    rig: Any, confirming_hardware: Any, scripted_hardware: Any
) -> None:
    components = {
        "slow": (confirming_hardware(confirmed=False), ("a",)),
        "fast": (confirming_hardware(), ("b",)),
        "none": (scripted_hardware(), ("c",)),
    }
    robot = rig(components).start("damped")
    assert robot.run("standby").unconfirmed == "slow"
    assert "by slow" in robot.tick(52).fall.reason.text


def test_the_way_down_is_open_while_preparing(robot: Any) -> None:
    robot.run("standby")
    robot.ask_down()
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.phase, snapshot.fall) == ("damped", Phase.RUNNING, None)
    assert "on_deactivate" not in robot.controllers["standby"].calls


def test_a_controller_that_refuses_after_the_confirmation_falls_back(
    robot: Any, drives: Any
) -> None:
    robot.run("standby")
    robot.controllers["standby"].fail["on_activate"] = RuntimeError("no")
    drives.confirmed = True
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall.reason.text) == (
        "damped",
        "standby: RuntimeError: no",
    )
    assert np.all(drives.written[-1][4] == 6.0)


def test_start_is_checked_again_right_before_the_activation(robot: Any, drives: Any) -> None:
    standby = robot.controllers["standby"]
    robot.run("standby")
    robot.tick(3)
    assert standby.checks == 1
    standby.fail["check_start"] = RuntimeError("no")
    drives.confirmed = True
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall.reason.text) == (
        "damped",
        "standby: RuntimeError: no",
    )
    assert (standby.checks, standby.calls) == (2, [])


def test_loop_without_a_working_fallback_leaves_the_phase_preparing(robot: Any) -> None:
    robot.run("standby")
    for controller in robot.controllers.values():
        controller.fail["on_activate"] = RuntimeError("no")
    snapshot = robot.tick(52)
    assert (snapshot.controller, snapshot.phase) == ("none", Phase.RUNNING)


def test_components_receive_every_mode_with_its_number(robot: Any, drives: Any) -> None:
    robot.run("standby")
    robot.tick(52)
    assert drives.modes == [(Mode.DAMPING, 1), (Mode.STANDBY, 2), (Mode.DAMPING, 3)]
    assert robot.loop.snapshot.switch_number == 3


def test_a_dropped_or_refused_request_does_not_reach_the_components(
    robot: Any, drives: Any
) -> None:
    robot.ask("standby", expected=77)
    robot.tick()
    robot.ask("absent")
    robot.tick()
    assert drives.modes == [(Mode.DAMPING, 1)]


@pytest.mark.parametrize("method", ["impedance_confirmed", "mode_changed", "reset_faults"])
def test_a_component_that_raises_in_a_notification_does_not_end_the_loop(
    robot: Any, drives: Any, method: str
) -> None:
    drives.fail[method] = RuntimeError("choked")
    written = len(drives.written)
    robot.loop.request_fault_reset()
    robot.ask("standby")

    robot.tick(60)

    assert len(drives.written) == written + 60
    if method != "reset_faults":
        assert robot.loop.snapshot.mode is Mode.DAMPING


def test_a_component_that_missed_the_last_mode_can_be_reset(robot: Any, drives: Any) -> None:
    """Otherwise its FAULT would refuse every switch, and only a switch could end the FAULT."""
    drives.confirmed = True
    robot.run("standby")
    drives.fail["mode_changed"] = RuntimeError("choked")
    robot.ask_down()
    assert robot.tick(2).reports[0].level is SafetyLevel.FAULT
    drives.fail.clear()

    robot.loop.request_fault_reset()
    snapshot = robot.tick(3)

    assert snapshot.reports[0].level is SafetyLevel.OK
    assert drives.modes[-1] == (Mode.DAMPING, snapshot.switch_number)


def test_no_controller_is_updated_twice_in_a_tick(rig: Any) -> None:
    robot = rig().start("limp")
    robot.run("standby")
    robot.controllers["damped"].fail["on_activate"] = RuntimeError("broken")
    robot.controllers["limp"].calls.clear()
    robot.ask_down()
    assert robot.tick().controller == "limp"
    assert robot.controllers["limp"].calls.count("update") == 1


def test_progress_and_remark_are_read_only_of_a_controller_that_was_activated(
    robot: Any, drives: Any
) -> None:
    standby = robot.controllers["standby"]
    standby.fraction = standby.fail["remark"] = KeyError("not activated yet")
    snapshot = robot.run("standby")
    assert (snapshot.phase, snapshot.progress, snapshot.remark) == (Phase.PREPARING, None, "")
    standby.fraction = 0.5
    del standby.fail["remark"]
    drives.confirmed = True
    snapshot = robot.tick()
    assert (snapshot.phase, snapshot.progress.fraction) == (Phase.RUNNING, 0.5)
