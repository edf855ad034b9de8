"""A switch takes effect between two ticks, whole or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON
from humanoid_controller_manager.loop.control_loop import SwitchRequest


def test_a_request_takes_effect_in_the_next_tick_and_gets_the_next_number(rig: Any) -> None:
    robot = rig().start()
    robot.ask("damped")
    assert robot.loop.snapshot.controller == "limp"

    snapshot = robot.tick()

    assert (snapshot.controller, snapshot.mode, snapshot.switch_number) == (
        "damped",
        Mode.DAMPING,
        2,
    )
    assert np.all(robot.arm.written[-1][4] == 6.0)


def test_a_robot_for_calibration_refuses_every_stiff_mode(rig: Any) -> None:
    robot = rig()
    robot.loop.allow_soft_modes_only()
    robot.start()
    assert robot.run("damped").controller == "damped"
    robot.ask("torque")
    snapshot = robot.tick()
    assert snapshot.controller == "damped"
    assert snapshot.refusal is not None
    assert "the robot was started for `hc calibrate`" in snapshot.refusal.reason.text
    assert "calibrate" in robot.loop.refusal_of("torque").text


def test_a_controller_starts_from_the_measured_state_and_the_command_in_force(rig: Any) -> None:
    robot = rig().start("damped")
    robot.tick()
    robot.arm.measured[0] = [0.1, 0.2, 0.3]
    robot.run("torque")

    state, command, now = robot.controllers["torque"].activations[-1]

    assert state[0].tolist() == [0.1, 0.2, 0.3]
    assert np.array_equal(command, robot.arm.written[-2])
    assert now == robot.time


def test_controller_that_changes_the_command_in_on_activate_changes_no_written_command(
    rig: Any,
) -> None:
    robot = rig().start("damped")
    robot.tick()

    def spoil(state: Any, command: Any, now: float) -> None:
        command.array.fill(99.0)
        raise ControllerError("not today")

    robot.controllers["torque"].on_activate = spoil
    robot.ask("torque")
    robot.tick()

    assert np.array_equal(robot.arm.written[-1], robot.arm.written[-2])


def test_a_controller_that_refuses_to_start_leaves_everything_as_it_was(rig: Any) -> None:
    robot = rig().start("damped")
    before = robot.tick()
    robot.controllers["torque"].fail["on_activate"] = ControllerError("no sensor")
    ticket = robot.ask("torque")

    after = robot.tick()

    assert after.refusal is not None
    assert (after.refusal.ticket, after.refusal.reason.text) == (ticket, "torque: no sensor")
    assert (after.controller, after.switch_number) == (before.controller, before.switch_number)
    assert after.fall is None
    assert "on_deactivate" not in robot.controllers["damped"].calls
    assert np.array_equal(robot.arm.written[-1], robot.arm.written[-2])


def test_after_a_refused_switch_the_old_controller_still_finds_what_it_wrote_last(rig: Any) -> None:
    robot = rig().start("limp")
    seen: list[float] = []

    def write_once(state: Any, command: Any, now: float, period: float) -> None:
        seen.append(float(command.damping[0]))
        if len(seen) == 1:
            command.damping[:] = 4.0

    robot.controllers["torque"].behave = write_once
    robot.run("torque")
    robot.controllers["damped"].fail["on_activate"] = ControllerError("no")
    robot.ask("damped")
    robot.tick(2)

    assert seen == [0.0, 4.0, 4.0]
    assert np.all(robot.arm.written[-1][4] == 4.0)


def test_a_stiff_controller_that_refuses_to_start_leaves_the_stiff_one_in_charge(rig: Any) -> None:
    robot = rig().start("damped")
    before = robot.run("standby")
    robot.controllers["remote"].fail["on_activate"] = ControllerError("no source")
    robot.ask("remote")

    after = robot.tick()

    assert (after.controller, after.fall) == (before.controller, None)
    assert after.refusal is not None
    assert "no source" in after.refusal.reason.text


def test_controller_that_cannot_start_is_refused_before_its_gains_are_requested(
    rig: Any, confirming_hardware: Any
) -> None:
    hardware = confirming_hardware()
    robot = rig({"arm": (hardware, ("a", "b", "c"))}).start("damped")
    before = robot.run("standby")
    modes = list(hardware.modes)
    robot.controllers["remote"].fail["check_start"] = ControllerError("no source")
    robot.ask("remote")

    after = robot.tick(3)

    assert (after.controller, after.switch_number) == ("standby", before.switch_number)
    assert after.fall is None
    assert after.refusal is not None
    assert after.refusal.reason.text == "remote: no source"
    assert hardware.modes == modes
    assert "on_activate" not in robot.controllers["remote"].calls


def test_start_is_checked_once_in_a_tick(rig: Any) -> None:
    robot = rig().start("damped")
    robot.ask("remote")
    assert robot.tick().controller == "remote"
    assert robot.controllers["remote"].checks == 1
    assert robot.controllers["damped"].checks == 0


def test_start_is_checked_on_hardware_that_takes_gains_in_every_tick(rig: Any) -> None:
    robot = rig().start("damped")
    robot.controllers["remote"].fail["check_start"] = ControllerError("no source")
    robot.ask("remote")
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall) == ("damped", None)
    assert snapshot.refusal is not None
    assert snapshot.refusal.reason.text == "remote: no source"
    assert robot.controllers["remote"].calls == []


@pytest.mark.parametrize("confirms", [False, True])
@pytest.mark.parametrize(("beyond", "begins"), [(1.5, True), (1.6, False), (-1.6, False)])
def test_no_stiff_mode_begins_while_a_joint_is_measured_far_outside_its_limits(
    rig: Any, confirming_hardware: Any, scripted_hardware: Any, confirms: bool, beyond, begins
) -> None:
    hardware = (confirming_hardware if confirms else scripted_hardware)()
    robot = rig({"arm": (hardware, ("a", "b", "c"))}).start("damped")
    limits = robot.limits.joint_limits
    end = limits.upper[1] if beyond > 0.0 else limits.lower[1]
    hardware.measured[0, 1] = end + beyond
    robot.ask("standby")
    snapshot = robot.tick()
    assert (snapshot.controller == "standby") == begins
    assert (snapshot.refusal is None) == begins
    if snapshot.refusal is not None:
        assert "JOINT_BEYOND_STOP" in snapshot.refusal.reason.codes
        assert "b is measured at" in snapshot.refusal.reason.text
        assert robot.run("limp").fall is None
        assert robot.run("damped").fall is None


def test_the_start_of_a_safe_mode_is_never_refused(rig: Any) -> None:
    robot = rig().start("limp")
    robot.run("torque")
    robot.controllers["damped"].fail["check_start"] = ControllerError("no source")
    robot.ask_down("damped")
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall) == ("damped", None)


def test_a_switch_to_the_controller_in_charge_leaves_it_activated(rig: Any) -> None:
    robot = rig().start("damped")
    robot.tick()
    robot.ask_down("damped")
    robot.tick()

    lifecycle = [call for call in robot.controllers["damped"].calls if call != "update"]

    assert robot.loop.snapshot.controller == "damped"
    assert lifecycle[-1] == "on_activate"


def test_an_unknown_controller_is_refused_with_the_known_ones(rig: Any) -> None:
    robot = rig().start()
    robot.ask("jump")
    refusal = robot.tick().refusal
    assert refusal.reason.text == (
        "unknown controller 'jump'; known: limp, damped, standby, remote, torque"
    )


def test_missing_capabilities_are_refused_naming_joints_and_interface(rig: Any) -> None:
    robot = rig().start("damped")
    robot.group.capabilities[3, [0, 2]] = Capability.NEVER
    robot.ask("standby")

    snapshot = robot.tick()

    assert snapshot.controller == "damped"
    assert "standby" in snapshot.refusal.reason.text
    assert "stiffness" in snapshot.refusal.reason.text
    assert "a, c" in snapshot.refusal.reason.text


def test_a_level_above_the_one_needed_is_enough(rig: Any) -> None:
    robot = rig().start("damped")
    robot.group.capabilities[3] = Capability.PER_MODE
    assert robot.loop.refusal_of("standby") == NO_REASON
    robot.group.capabilities[0] = Capability.PER_MODE  # position is needed in every tick
    assert "position" in robot.loop.refusal_of("standby").text


def test_a_request_decided_on_an_outdated_number_is_dropped(rig: Any) -> None:
    robot = rig().start("damped")
    ticket = robot.ask("torque", expected=robot.loop.snapshot.switch_number - 1)

    snapshot = robot.tick()

    assert (snapshot.controller, snapshot.ticket) == ("damped", ticket)


def test_the_way_down_is_never_outdated(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.ask_down()
    assert robot.tick().controller == "damped"


def test_the_way_down_is_not_lost_to_a_request_that_follows_in_the_same_tick(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("standby")
    robot.ask_down()
    dropped = robot.ask("remote")

    robot.tick(2)

    assert robot.loop.snapshot.controller == "damped"
    assert robot.loop.snapshot.ticket == dropped  # answered, so that no caller waits without end


def test_a_request_left_before_a_way_down_that_was_served_is_dropped(rig: Any) -> None:
    """The requests use different mailboxes: the loop may read the older one a tick later."""
    robot = rig().start("damped")
    older = SwitchRequest("standby", robot.loop.snapshot.switch_number, 1)
    robot.loop.request(SwitchRequest("damped", None, 2))
    robot.tick()
    robot.loop.request(older)

    snapshot = robot.tick(2)

    assert snapshot.controller == "damped"
    assert snapshot.ticket == 2


def test_a_way_down_that_is_refused_ends_limp_in_the_same_tick(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("standby")
    robot.controllers["damped"].fail["on_activate"] = ControllerError("broken")
    robot.ask_down()

    snapshot = robot.tick()

    assert snapshot.mode is Mode.ZERO_TORQUE
    assert not robot.arm.written[-1][1:].any()


def test_a_controller_that_fails_to_deactivate_is_replaced_all_the_same(
    rig: Any, caplog: pytest.LogCaptureFixture
) -> None:
    robot = rig().start("damped")
    robot.controllers["damped"].fail["on_deactivate"] = RuntimeError("clinging")

    snapshot = robot.run("torque")

    assert (snapshot.controller, snapshot.fall) == ("torque", None)
    assert "damped failed to deactivate" in caplog.text


def test_only_the_controller_in_charge_is_updated(rig: Any) -> None:
    robot = rig().start("damped")
    for name in ("standby", "remote", "torque", "limp", "damped"):
        robot.run(name)
        for controller in robot.controllers.values():
            controller.calls.clear()
        robot.tick(2)
        updated = [n for n, c in robot.controllers.items() if "update" in c.calls]
        assert updated == [name]


def test_start_refuses_an_unknown_initial_controller_before_the_hardware_is_up(rig: Any) -> None:
    robot = rig()
    with pytest.raises(ConfigError, match=r"initial_controller: unknown controller 'x'; known:"):
        robot.start("x")
    assert "on_activate" not in robot.arm.calls


def test_start_refuses_an_initial_controller_outside_the_safe_modes(rig: Any) -> None:
    robot = rig()
    with pytest.raises(ConfigError, match=r"initial_controller.*standby"):
        robot.start("standby")
    assert "on_activate" not in robot.arm.calls


def test_start_deactivates_the_hardware_when_the_initial_controller_fails(rig: Any) -> None:
    robot = rig()
    robot.controllers["limp"].fail["on_activate"] = ControllerError("no")
    with pytest.raises(ControllerError, match="limp: no"):
        robot.start("limp")
    assert robot.arm.calls[-1] == "on_deactivate"


def test_start_deactivates_the_hardware_when_a_component_fails_on_the_first_mode(
    rig: Any, confirming_hardware: Any
) -> None:
    hardware = confirming_hardware()
    hardware.fail["mode_changed"] = RuntimeError("choked")
    robot = rig({"arm": (hardware, ("a", "b"))})
    with pytest.raises(Exception, match="choked"):
        robot.start("limp")
    assert hardware.calls[-1] == "on_deactivate"


def test_loop_has_no_snapshot_before_the_start(rig: Any) -> None:
    with pytest.raises(ControllerError, match="not been started"):
        _ = rig().loop.snapshot


def test_stopping_deactivates_controller_and_hardware(rig: Any) -> None:
    robot = rig().start("damped")
    robot.tick()
    robot.loop.stop()
    assert robot.controllers["damped"].calls[-1] == "on_deactivate"
    assert robot.arm.calls[-1] == "on_deactivate"
