"""A callback that raises: the robot is damped and the callback is not executed again."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.loop.snapshot import Phase
from humanoid_controller_manager.reason_codes import ROS_CALLBACK_RAISED
from humanoid_controller_manager.ros.execution.callbacks import (
    CallbackFailure,
    FailedCallbacks,
    FailureGuard,
    described,
)
from humanoid_controller_manager.ros.process.end_requests import EndRequests


def _failure(node: str = "gripper", error: BaseException | None = None) -> CallbackFailure:
    named = type("Node", (), {"get_name": lambda self: node})
    return CallbackFailure(named(), "'receive' (topic /x)", error or KeyError("q"))


class Guarded:
    """A guard; `ours`: its plug-ins are those of the stack."""

    def __init__(self, *, ours: bool, lead_down: bool = True) -> None:
        self.end = EndRequests()
        self.reasons: list[Reason] = []
        self.ours = ours
        self.guard = FailureGuard(self.close, self.reasons.append, self.end, lead_down=lead_down)

    def close(self, failure: CallbackFailure) -> bool:
        return not self.ours


@pytest.mark.parametrize("error", [KeyError("q"), SystemExit(2)])
def test_a_controllers_callback_leads_to_damping_and_the_process_goes_on(
    error: BaseException, caplog: Any
) -> None:
    guarded = Guarded(ours=False)
    guarded.guard.handle(_failure(error=error), 0.0)
    guarded.guard.enforce_time_limit(100.0)
    message = f"ROS callback 'receive' (topic /x) of node 'gripper' raised {error!r}"
    assert guarded.reasons == [Reason.of(ROS_CALLBACK_RAISED, message)]
    assert guarded.end == EndRequests()
    assert not guarded.guard.failed
    assert message in caplog.text


def test_the_processs_own_callback_leads_down_in_order_and_at_last_at_once() -> None:
    guarded = Guarded(ours=True)
    guarded.guard.handle(_failure(), 1.0)
    guarded.guard.handle(_failure(), 5.0)  # raises again: no further request
    assert len(guarded.reasons) == 1
    guarded.guard.enforce_time_limit(11.0)
    assert guarded.end == EndRequests(in_order=True)
    guarded.guard.enforce_time_limit(11.1)
    assert guarded.end.at_once
    assert guarded.guard.failed


def test_without_a_way_down_the_joints_are_damped_before_the_end() -> None:
    guarded = Guarded(ours=True, lead_down=False)
    guarded.guard.handle(_failure(), 1.0)
    guarded.guard.enforce_time_limit(10.9)
    assert guarded.end == EndRequests()
    guarded.guard.enforce_time_limit(11.1)
    assert guarded.end == EndRequests(at_once=True)


def test_a_plugin_that_cannot_be_closed_counts_as_our_own() -> None:
    guarded = Guarded(ours=False)
    guarded.close = lambda failure: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    guard = FailureGuard(guarded.close, guarded.reasons.append, guarded.end, lead_down=True)
    guard.handle(_failure(), 0.0)
    assert guarded.end.in_order


def test_a_closed_plugin_is_a_fault_until_it_is_acknowledged_or_configured_anew() -> None:
    plugins, failure = FailedCallbacks(), _failure()
    assert plugins.report(lambda node: True).level is SafetyLevel.OK
    plugins.close(failure)
    report = plugins.report(lambda node: node is failure.node)
    assert (report.source, report.level) == ("ros_callbacks", SafetyLevel.FAULT)
    assert report.message.startswith("ROS callback 'receive' (topic /x) of node 'gripper' raised")
    plugins.acknowledge()
    assert plugins.report(lambda node: True).level is SafetyLevel.WARNING
    plugins.close(_failure("other"))
    assert plugins.report(lambda node: True).level is SafetyLevel.FAULT
    assert plugins.report(lambda node: False).level is SafetyLevel.OK


def test_a_callback_that_no_motion_depends_on_is_a_warning_until_it_is_acknowledged() -> None:
    callbacks = FailedCallbacks()
    callbacks.note(_failure("services"))
    report = callbacks.report(lambda node: True)
    assert report.level is SafetyLevel.WARNING
    assert report.message.endswith("of node 'services' raised KeyError('q')")
    callbacks.close(_failure("gripper"))
    report = callbacks.report(lambda node: True)
    assert report.level is SafetyLevel.FAULT
    assert "'services'" in report.message
    assert report.message.endswith(
        "'gripper' raised KeyError('q'); its topics and services are closed"
    )
    callbacks.acknowledge()
    report = callbacks.report(lambda node: True)
    assert report.level is SafetyLevel.WARNING
    assert "'services'" not in report.message


def test_a_callback_is_named_by_its_function_and_what_it_serves() -> None:
    topic = SimpleNamespace(callback=partial(_failure, "a"), topic_name="/x")
    assert described(topic) == "'_failure' (topic /x)"
    service = SimpleNamespace(callback=_failure, srv_name="/s")
    assert described(service) == "'_failure' (service /s)"
    timer = type("Timer", (), {"callback": staticmethod(_failure)})()
    assert described(timer) == "'_failure' (timer)"
    assert described(None) == "'NoneType' (nonetype)"


def test_the_loop_leaves_with_the_given_reason(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.ask("standby")  # older than the reason: the tick must leave the mode
    robot.loop.request_fall(Reason.of(ROS_CALLBACK_RAISED, "a callback raised"))
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.phase) == ("damped", Phase.RUNNING)
    assert (snapshot.fall.number, snapshot.fall.reason.text) == (1, "a callback raised")
    assert robot.tick(5).controller == "damped"


def test_in_damping_a_reason_to_leave_is_noted_and_the_controller_stays(rig: Any) -> None:
    robot = rig().start("damped")
    number = robot.tick().switch_number
    robot.loop.request_fall(Reason.of(ROS_CALLBACK_RAISED, "a callback raised"))
    snapshot = robot.tick()
    assert (snapshot.switch_number, snapshot.fall.reason.text) == (number, "a callback raised")
