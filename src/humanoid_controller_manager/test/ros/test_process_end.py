"""The report at the end of the control process, on joints that may still have torque."""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_control_common.errors import ControllerError, HardwareError
from humanoid_control_common.machine.start_permission import VARIABLE, StartPermission
from humanoid_controller_manager.hardware.activation import NotDeactivatedError
from humanoid_controller_manager.ros.process import control_process
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.ros_session import RosSession
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport, stop_and_report
from humanoid_controller_manager.switching.registry import Configured, Record, Registry


def manager_that(stop: Any) -> Any:
    """A manager of two components, one of which has its own report of the exit."""
    members = [
        SimpleNamespace(info=SimpleNamespace(name=name), exit_check=lambda words=words: words)
        for name, words in (("Side", "gate read back as 0"), ("CAN", "deactivated"))
    ]
    return SimpleNamespace(
        stop=stop,
        loop=SimpleNamespace(hardware=SimpleNamespace(members=members)),
        loop_thread=SimpleNamespace(is_running=lambda: False),
        registry=Registry(()),
    )


def raising(error: Exception) -> Any:
    def stop() -> None:
        raise error

    return stop


FAILURES = [
    NotDeactivatedError("Side", HardwareError("elbow may be armed")),
    NotDeactivatedError("CAN", HardwareError("no adapter")),
]
BOTH = ExceptionGroup("joints may still be powered", FAILURES)


def test_an_ordered_end_reports_what_was_confirmed() -> None:
    assert stop_and_report(manager_that(lambda: None)) == ShutdownReport(
        "", ("Side (gate read back as 0)", "CAN (deactivated)")
    )


def test_shutdown_report_names_joints_that_may_still_be_powered() -> None:
    ending = stop_and_report(manager_that(raising(BOTH)))
    text = "joints may still be powered: Side: elbow may be armed; CAN: no adapter"
    assert ending == ShutdownReport(text, ())


def test_a_component_that_left_in_order_is_named_beside_one_that_did_not() -> None:
    one = ExceptionGroup("joints may still be powered", FAILURES[1:])
    assert stop_and_report(manager_that(raising(one))) == ShutdownReport(
        "joints may still be powered: CAN: no adapter", ("Side (gate read back as 0)",)
    )


def test_shutdown_report_after_a_hanging_loop_confirms_nothing() -> None:
    ending = stop_and_report(manager_that(raising(ControllerError("the control loop hangs"))))
    assert ending == ShutdownReport("the control loop hangs", ())


def test_failures_are_logged_and_reported_to_companions() -> None:
    logged: list[str] = []
    reports: list[ShutdownReport] = []
    manager = manager_that(raising(BOTH))
    manager.node = SimpleNamespace(get_logger=lambda: SimpleNamespace(fatal=logged.append))
    companions: Any = [SimpleNamespace(ended=reports.append)]
    ending = control_process._stop(manager, companions)
    assert reports == [ending]
    assert logged == [ending.failure]


@pytest.mark.parametrize("hangs", [False, True])
def test_controllers_clean_up_at_the_end_unless_the_loop_may_use_them(*, hangs: bool) -> None:
    calls: list[str] = []
    manager = manager_that(lambda: calls.append("stopped"))
    manager.loop_thread.is_running = lambda: hangs
    instance = SimpleNamespace(on_cleanup=lambda: calls.append("cleaned up"))
    slot: Any = SimpleNamespace(name="policy")
    side: Any = None
    entry: Any = None
    record = Record("policy", entry, None, Configured(instance, side, slot, None))
    manager.registry.put(record)
    control_process._stop(manager, [])
    assert calls == (["stopped"] if hangs else ["stopped", "cleaned up"])


def test_start_that_fails_half_way_also_shows_its_notes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def files(_: object) -> None:
        error = HardwareError("Side: no answer")
        error.add_note("joints may still be powered: CAN: stuck on")
        raise error

    monkeypatch.setattr(control_process, "parameter_files", files)
    assert control_process.run([], [], EndRequests(), StartPermission()) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Side: no answer",
        "joints may still be powered: CAN: stuck on",
    ]


def test_control_process_without_permission_reads_no_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(_: object) -> None:
        pytest.fail("it reads its configuration")

    monkeypatch.setattr(control_process, "parameter_files", read)
    assert control_process.run([], [], EndRequests(), refused(monkeypatch)) == 0


def test_without_permission_no_hardware_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> None:
        pytest.fail("it starts the hardware")

    monkeypatch.setattr(control_process, "ControllerManagerNode", lambda *_: None)
    monkeypatch.setattr(control_process, "ros_session", lambda _: nullcontext())
    monkeypatch.setattr(control_process, "take_domain_lock", lambda **_: nullcontext())
    monkeypatch.setattr(control_process, "_spin", start)
    assert control_process.run([], [], EndRequests(), refused(monkeypatch, b"c")) == 0


def refused(monkeypatch: pytest.MonkeyPatch, before: bytes = b"") -> StartPermission:
    """The permission of a parent that has ended after some steps."""
    reader, writer = os.pipe()
    os.write(writer, before)
    os.close(writer)
    monkeypatch.setenv(VARIABLE, str(reader))
    return StartPermission()


class QuietSession(RosSession):
    """A session that does not change Python's logging."""

    def forward_logging(self, node: object) -> None:
        pass


def test_failed_start_of_the_services_stops_manager_and_services_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []

    class Services:
        def __init__(self, *_: object) -> None:
            self.stop = lambda: calls.append("services stopped")

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(control_process, "ServiceThread", Services)
    manager = manager_that(lambda: calls.append("stopped"))
    manager.start = lambda: calls.append("started")
    manager.executor = None
    manager.loop_thread = SimpleNamespace(realtime=False, is_running=lambda: False)
    manager.node = SimpleNamespace(
        get_logger=lambda: None,
        create_guard_condition=lambda _: SimpleNamespace(trigger=None),
    )
    with pytest.raises(RuntimeError, match="new thread"):
        control_process._spin(manager, QuietSession(), [], EndRequests())
    assert calls == ["started", "stopped", "services stopped"]
