"""Switches by `ros2 control`, in a loop that only the test ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from humanoid_control_common.errors import ControllerError, SwitchRefusedError
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_controller_manager.controller import ModeGains
from humanoid_controller_manager.loop.mode_controllers import ClaimedJoints, ControllerSlot
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.services.switch_plan import Selection
from humanoid_controller_manager.services.switcher import Switcher
from humanoid_controller_manager.switching.registry import Configured, Record, Registry, State
from humanoid_controller_manager.switching.switch_requests import LoopAuthority


class TickingChange:
    """The loop continues during a wait, `ticks` at most."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot
        self.ticks = 10
        self.timeouts: list[float] = []

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        self.timeouts.append(timeout)
        for _ in range(self.ticks):
            if condition():
                return True
            self.robot.tick()
        return condition()


class PlainBroadcaster:
    """A broadcaster."""


class Bench:
    """A rig with the registry and the switcher of a control process without mode manager."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot
        self.registry = Registry(("damped", "limp"))
        for name, controller in robot.controllers.items():
            slot = ControllerSlot(name, controller)
            self.registry.put(self._record(name, controller, slot))
        self.registry.put(self._record("speaker", PlainBroadcaster(), None))
        self.registry.connect(lambda: robot.loop.snapshot.controllers, self._exchange)
        self.change = TickingChange(robot)
        authority = LoopAuthority(robot.loop)
        self.switcher = Switcher(
            self.registry, robot.loop, authority, lambda function: function(), self.change
        )  # type: ignore[arg-type]

    def _record(self, name: str, instance: Any, slot: ControllerSlot | None) -> Record:
        configured = Configured(instance, None, slot, None)  # type: ignore[arg-type]
        return Record(name, ControllerEntry(type="x/X"), instance, configured)

    def _exchange(self, slots: Any, listeners: Any) -> None:
        self.robot.loop.exchange_slots(slots)

    def switch(
        self,
        activate: list[str] | None = None,
        deactivate: list[str] | None = None,
        *,
        strict: bool = True,
        timeout: float = 0.0,
    ) -> str:
        return self.switcher.switch(Selection(activate or [], deactivate or [], strict), timeout)

    def refusal(self, **request: Any) -> str:
        with pytest.raises(SwitchRefusedError) as caught:
            self.switch(**request)
        return str(caught.value)

    @property
    def in_charge(self) -> str:
        return str(self.robot.loop.snapshot.controller)

    def active(self, name: str) -> bool:
        return self.registry.state(self.registry.records[name]) is State.ACTIVE


@pytest.fixture
def bench(rig: Any) -> Bench:
    return Bench(rig().start("damped"))


def test_a_switch_is_answered_when_the_other_commands(bench: Bench) -> None:
    assert bench.switch(["torque"], ["damped"]) == "Successfully switched controllers!"
    assert bench.in_charge == "torque"


def test_best_effort_reports_what_was_done(bench: Bench) -> None:
    message = bench.switch(["torque", "speaker"], ["damped", "limp"], strict=False)
    assert message.splitlines() == [
        "Successfully switched controllers!",
        "Deactivated controllers: [ damped ]",
        "Activated controllers: [ torque speaker ]",
    ]


def test_deactivated_controller_is_replaced_along_the_safe_chain(bench: Bench) -> None:
    bench.switch(["torque"], ["damped"])
    assert "'damped' is in charge now" in bench.switch(deactivate=["torque"])
    assert bench.in_charge == "damped"
    assert "'limp' is in charge now" in bench.switch(deactivate=["damped"])
    assert "last of the safe controllers" in bench.refusal(deactivate=["limp"])
    assert bench.in_charge == "limp"


def test_a_stiff_controller_is_active_once_the_impedance_is_confirmed(
    rig: Any, confirming_hardware: Any
) -> None:
    drive = confirming_hardware(confirmed=False)
    bench = Bench(rig({"arm": (drive, ("a", "b"))}).start("damped"))
    bench.change.ticks = 5
    assert "timed out after 1 seconds" in bench.refusal(activate=["standby"], deactivate=["damped"])
    drive.confirmed = True
    bench.robot.tick(2)
    assert bench.in_charge == "standby"
    bench.switch(["remote"], ["standby"])
    assert bench.in_charge == "remote"


def test_an_impedance_that_is_never_confirmed_is_reported(
    rig: Any, confirming_hardware: Any
) -> None:
    drive = confirming_hardware(confirmed=False)
    bench = Bench(rig({"arm": (drive, ("a", "b"))}).start("damped"))
    bench.change.ticks = 100
    message = bench.refusal(activate=["standby"], deactivate=["damped"])
    assert "Unable to activate controllers: [ standby ]" in message
    assert "'damped' is in charge" in message
    assert "impedance of STANDBY not confirmed" in message


def test_the_reason_of_a_controller_that_refuses_to_start_is_passed_on(bench: Bench) -> None:
    bench.robot.controllers["torque"].fail["on_activate"] = ControllerError("no sensor")
    message = bench.refusal(activate=["torque", "speaker"], deactivate=["damped"])
    assert message == (
        "Failed switching controllers....\n"
        "Unable to activate controllers: [ torque ]: torque: no sensor"
    )
    assert (bench.in_charge, bench.active("speaker")) == ("damped", False)


def test_a_refused_switch_leaves_the_broadcasters_as_they_are(bench: Bench) -> None:
    bench.switch(["speaker"])
    assert bench.active("speaker")
    bench.refusal(activate=["torque"], deactivate=["speaker"])
    assert bench.active("speaker")


def test_a_broadcaster_comes_and_goes_without_the_loop(bench: Bench) -> None:
    number = bench.robot.loop.snapshot.switch_number
    bench.switch(["speaker"])
    bench.switch(deactivate=["speaker"])
    assert not bench.active("speaker")
    assert bench.robot.loop.snapshot.switch_number == number
    assert bench.change.timeouts == []


def test_no_broadcaster_falls_silent_in_a_stiff_mode(bench: Bench) -> None:
    """The impedance of the drives is set only while joint states flow."""
    bench.switch(["torque", "speaker"], ["damped"])
    assert bench.robot.loop.snapshot.mode not in SAFE_MODES
    message = bench.refusal(deactivate=["speaker"])
    assert "'speaker' can not be deactivated in" in message
    assert bench.active("speaker")


def test_no_broadcaster_falls_silent_in_the_switch_to_a_stiff_mode(bench: Bench) -> None:
    bench.switch(["speaker"])
    message = bench.refusal(activate=["torque"], deactivate=["damped", "speaker"])
    assert "'speaker' can not be deactivated in" in message
    assert (bench.in_charge, bench.active("speaker")) == ("damped", True)


def test_no_broadcaster_stops_while_another_client_requests_a_stiff_mode(
    bench: Bench,
) -> None:
    """Switch as an operator on /control_mode between two calls, or just before."""
    bench.switch(["speaker"])
    carry_out, executed = bench.switcher.in_executor, []

    def asked_between(function: Callable[[], Any]) -> Any:
        result = carry_out(function)
        if not executed:
            number = bench.robot.loop.snapshot.switch_number
            bench.switcher.authority.request_switch("torque", Mode.REMOTE, number)
        executed.append(function)
        return result

    interrupted = replace(bench.switcher, in_executor=asked_between)  # type: ignore[arg-type]
    for _ in range(2):  # first requested, then in force
        with pytest.raises(SwitchRefusedError, match="'speaker' can not be deactivated in"):
            interrupted.switch(Selection([], ["speaker"], True), 0.0)
        assert bench.active("speaker")
        bench.robot.tick()
    assert bench.in_charge == "torque"


def test_a_broadcaster_in_both_lists_stays_active(bench: Bench) -> None:
    bench.switch(["speaker"])
    bench.switch(["speaker"], ["speaker"])
    assert bench.active("speaker")


def test_a_fall_between_the_decision_and_the_loop_wins(bench: Bench) -> None:
    bench.switch(["torque"], ["damped"])
    request_switch = bench.switcher.authority.request_switch

    def fall_first(*arguments: Any) -> Any:
        bench.robot.controllers["torque"].fail["update"] = ControllerError("broke")
        bench.robot.tick()
        return request_switch(*arguments)

    bench.switcher.authority.request_switch = fall_first  # type: ignore[method-assign]
    message = bench.refusal(activate=["remote"], deactivate=["torque"])
    assert "'damped' is in charge; the latest fall: torque failed: broke" in message
    assert bench.in_charge == "damped"


def test_a_time_out_that_is_none_is_the_default_one(bench: Bench) -> None:
    bench.switch(["torque"], ["damped"])
    bench.switch(["damped"], ["torque"], timeout=4.0)
    bench.switch(["torque"], ["damped"], timeout=-4.0)
    assert bench.change.timeouts == [1.0, 4.0, 1.0]


def test_a_loop_that_stands_still_is_reported(bench: Bench) -> None:
    bench.change.ticks = 0
    assert bench.refusal(activate=["torque"], deactivate=["damped"], timeout=2.0) == (
        "Switch controller timed out after 2 seconds! 'torque' may take over yet."
    )
    bench.robot.tick()
    assert bench.in_charge == "torque"


def test_member_of_a_group_is_replaced_and_the_other_member_goes_on(bench: Bench) -> None:
    group = bench.robot.group
    group.hold_gains = ModeGains(15.0, 1.5)
    kind = type(bench.robot.controllers["damped"])
    for name, joint in (("left", "a"), ("right", "b"), ("spare", "b")):
        controller = kind(Mode.LOCOMOTION, {}, 1.0, 0.1)
        bench.robot.controllers[name] = controller
        slot = ControllerSlot(
            name, controller, claimed=ClaimedJoints(group.joints.indices([joint]))
        )
        bench.registry.put(bench._record(name, controller, slot))
    bench.switch(["right", "left"], ["damped"])
    assert (bench.in_charge, bench.active("left"), bench.active("right")) == (
        "left+right", True, True,
    )  # fmt: skip
    assert "'b/position' is currently claimed by another controller: 'right'" in bench.refusal(
        activate=["spare"]
    )
    bench.switch(["spare"], ["right"])
    assert bench.in_charge == "left+spare"
    assert bench.robot.controllers["left"].calls.count("on_activate") == 1
    bench.switch(deactivate=["spare"])
    assert (bench.in_charge, bench.active("spare")) == ("left", False)
    assert "'damped' is in charge now" in bench.switch(deactivate=["left"])


def test_empty_switch_request_is_reported(bench: Bench) -> None:
    assert bench.switch().startswith("After checking the controllers, no controllers need")
