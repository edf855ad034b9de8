"""The loop's thread ends in order and reports its own failure."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from humanoid_control_common.errors import ControllerError, HardwareError
from humanoid_controller_manager.loop.loop_thread import LoopThread

TIMEOUT = 60.0  # [s] limit of the wait for the other thread


class Simulator:
    """A component with simulated time that advances with every write."""

    real_time_factor = 0.0
    steps = 0

    @property
    def time(self) -> float:
        return self.steps * 0.01


@pytest.fixture
def simulated(rig: Any, scripted_hardware: Any) -> Any:
    """A rig whose component is a simulator that runs as fast as possible."""

    class SimulatedHardware(Simulator, scripted_hardware):  # type: ignore[misc]
        def write(self, command: Any, now: float, period: float) -> None:
            super().write(command, now, period)
            self.steps += 1

    return rig({"sim": (SimulatedHardware(), ("a", "b"))})


class Watcher:
    """Records the snapshots; `reached` is set after `count` of them."""

    def __init__(self, count: int) -> None:
        self.snapshots: list[Any] = []
        self.reached = threading.Event()
        self._count = count

    def __call__(self, snapshot: Any) -> None:
        self.snapshots.append(snapshot)
        if len(self.snapshots) >= self._count:
            self.reached.set()


@pytest.fixture
def running(simulated: Any) -> Iterator[tuple[Any, LoopThread, Watcher]]:
    watcher = Watcher(20)
    runner = LoopThread(simulated.loop, 100.0, watcher)
    runner.start("damped")
    assert watcher.reached.wait(TIMEOUT)
    yield simulated, runner, watcher
    if runner.is_running():
        runner.stop()


def test_a_simulators_time_is_the_loops_time(running: Any) -> None:
    _, runner, watcher = running
    runner.stop()
    times = [snapshot.now for snapshot in watcher.snapshots]
    assert times == pytest.approx([i * 0.01 for i in range(len(times))])
    assert [s.tick for s in watcher.snapshots] == list(range(1, len(times) + 1))
    assert not runner.paced


def test_stopping_ends_the_thread_and_deactivates_the_hardware(running: Any) -> None:
    robot, runner, watcher = running
    runner.stop()
    assert not runner.is_running()
    component = robot.group.members[0].component
    assert component.calls[-1] == "on_deactivate"
    ticks = len(watcher.snapshots)
    assert len(component.written) == ticks
    assert runner.statistics.summary().ticks == ticks
    assert runner.failure is None


def test_a_component_that_cannot_be_deactivated_is_reported(running: Any) -> None:
    robot, runner, _ = running
    robot.group.members[0].component.fail["on_deactivate"] = HardwareError("stuck")
    with pytest.raises(ExceptionGroup, match="may still be powered"):
        runner.stop()


def test_the_joints_can_be_disabled_while_a_controller_does_not_return(
    rig: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = rig()
    inside, release = threading.Event(), threading.Event()

    def hang(*_: Any) -> None:
        inside.set()
        assert release.wait(TIMEOUT)

    robot.controllers["damped"].behave = hang
    runner = LoopThread(robot.loop, 100.0, lambda snapshot: None)
    runner.start("damped")
    assert inside.wait(TIMEOUT)
    monkeypatch.setattr("humanoid_controller_manager.loop.loop_thread.JOIN_TIMEOUT", 0.01)
    written = len(robot.arm.written)
    with pytest.raises(ControllerError, match="hangs \\('damped' was in charge\\)"):
        runner.stop()
    assert robot.arm.calls[-1] == "on_deactivate"
    release.set()
    assert runner._thread is not None
    runner._thread.join(TIMEOUT)
    assert not runner.is_running()
    assert len(robot.arm.written) == written


def test_hardware_that_does_not_come_up_starts_no_thread(rig: Any) -> None:
    robot = rig()
    robot.arm.fail["on_activate"] = HardwareError("no answer")
    runner = LoopThread(robot.loop, 100.0, Watcher(1))
    with pytest.raises(HardwareError, match="no answer"):
        runner.start("damped")
    assert not runner.is_running()


@pytest.mark.parametrize("stuck", [False, True], ids=["in order", "stuck"])
def test_a_thread_that_does_not_start_leaves_the_hardware_deactivated(
    rig: Any, monkeypatch: pytest.MonkeyPatch, stuck: bool
) -> None:
    robot = rig()
    if stuck:
        robot.arm.fail["on_deactivate"] = HardwareError("no answer")
    runner = LoopThread(robot.loop, 100.0, Watcher(1))

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="new thread") as caught:
        runner.start("damped")
    assert robot.arm.calls[-1] == "on_deactivate"
    notes = ["joints may still be powered: arm: no answer"] if stuck else []
    assert getattr(caught.value, "__notes__", []) == notes


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_loop_that_dies_is_detected_and_the_hardware_can_still_be_stopped(simulated: Any) -> None:
    error = RuntimeError("publisher broke")

    def publish(snapshot: Any) -> None:
        raise error

    runner = LoopThread(simulated.loop, 100.0, publish)
    runner.start("damped")
    assert runner._thread is not None
    runner._thread.join(TIMEOUT)
    assert not runner.is_running()
    assert runner.failure is error
    runner.stop()
    assert simulated.group.members[0].component.calls[-1] == "on_deactivate"


def test_a_simulators_clock_that_raises_does_not_end_the_loops_thread(running: Any) -> None:
    robot, runner, watcher = running
    component = robot.group.members[0].component
    asked, often = [0], threading.Event()

    def fail(component: Any) -> float:
        asked[0] += 1
        if asked[0] > 10:
            often.set()
        raise ZeroDivisionError

    component.__class__ = type("Raising", (type(component),), {"time": property(fail)})
    assert often.wait(TIMEOUT)
    assert runner.is_running()
    runner.stop()
    assert watcher.snapshots[-1].reports[0].message.startswith("time failed: ZeroDivisionError")
