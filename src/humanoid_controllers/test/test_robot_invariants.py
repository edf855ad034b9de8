"""Invariants under any order of requests, faults and failing controllers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import MODE_OF_INTENT, SAFE_MODES, Intent, Mode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controllers.remote import RemoteCommand

FAILING_MODES = st.sampled_from([Mode.STANDBY, Mode.REMOTE])
VELOCITY_LIMIT, EFFORT_LIMIT = 3.0, 10.0


class RobotMachine(RuleBasedStateMachine):
    """Requests, faults and failures in any order, with any number of ticks between them.

    The oracle has a few facts: a fall of the robot, and the bad reports.
    """

    robot_type: Any

    def __init__(self) -> None:
        super().__init__()
        self.bad: dict[str, bool] = {"battery": False, "arm": False}
        self.latched = False
        self.going_down = False
        self.number = 0

    @initialize(
        silent_limit=st.sampled_from([None, 0.5]), heartbeat=st.sampled_from([None, None, 0.2])
    )
    def power_on(self, silent_limit: float | None, heartbeat: float | None) -> None:
        deadlines = {} if silent_limit is None else {"watch": silent_limit}
        self.robot = self.robot_type(deadlines, {} if heartbeat is None else {"desk": heartbeat})
        self.deadline = silent_limit
        self.heartbeat = heartbeat
        self.beat_at: float | None = None
        self.beating = False
        self.stopped = False  # by the operator, not cleared since
        self.heard = 0.0
        self.robot.observe()

    # Events.

    @rule(intent=st.sampled_from(list(Intent)))
    def ask(self, intent: Intent) -> None:
        mode = self.robot.mode
        answer = self.robot.ask(intent)
        self._notice()
        if self.latched and intent is not Intent.QUIT and mode in SAFE_MODES:
            assert not answer.accepted or MODE_OF_INTENT.get(intent) is mode  # it is in force
        if intent is Intent.QUIT:
            assert answer.shut_down == (mode in SAFE_MODES)
        if intent is Intent.DAMP and not self.latched:
            assert answer.accepted
            self.going_down |= mode not in SAFE_MODES

    @rule(remote=st.booleans())
    def climb(self, remote: bool) -> None:
        """Random single intents seldom reach this state."""
        self.clear()
        for intent, ticks in ((Intent.DAMP, 2), (Intent.LOAD, 60)):
            self.ask(intent)
            self.pass_time(ticks)
        if remote:
            self.ask(Intent.START_REMOTE)
            self.pass_time(3)

    @rule(first=st.booleans(), intents=st.lists(st.sampled_from(list(Intent)), min_size=2))
    def ask_several_within_a_tick(self, first: bool, intents: list[Intent]) -> None:
        if first:
            self.climb(False)
        for intent in intents:
            self.ask(intent)
        self.pass_time(1)

    @rule(ticks=st.integers(1, 70))
    def pass_time(self, ticks: int) -> None:
        for _ in range(ticks):
            self._tick()

    @rule(pose=st.floats(-5.0, 5.0), gain=st.floats(0.0, 200.0))
    def send_command(self, pose: float, gain: float) -> None:
        command = JointCommand(3)
        command.position[:], command.stiffness[:] = pose, gain
        command.velocity[:], command.effort[:] = 10.0 * pose, 10.0 * pose
        remote = self.robot.controllers[Mode.REMOTE].inner
        remote.receive(RemoteCommand(command.array, self.robot.time))

    @rule(level=st.sampled_from(list(SafetyLevel)))
    def report(self, level: SafetyLevel) -> None:
        self.robot.safety.report(SafetyReport("battery", level, message="low"), self.robot.time)
        self.bad["battery"] = level >= SafetyLevel.FAULT
        self.robot.observe()  # as the node does for every report
        self._notice()

    @rule(door=st.sampled_from(["topic", "gamepad"]))
    def press_stop(self, door: str) -> None:
        self.robot.stop.press(door)
        self.stopped = True
        self.robot.observe()  # as the node does for every stop
        self._notice()

    @rule(beating=st.booleans())
    def beat(self, beating: bool) -> None:
        self.beating = beating

    @rule()
    def watch_reports(self) -> None:
        self.robot.safety.report(SafetyReport("watch"), self.robot.time)
        self.heard = self.robot.time

    @rule(level=st.sampled_from(list(SafetyLevel)))
    def hardware_reports(self, level: SafetyLevel) -> None:
        self.robot.hardware.fault = SafetyReport("arm", level, message="low")

    @rule(methods=st.sets(st.sampled_from(["read", "write"])))
    def hardware_breaks(self, methods: set[str]) -> None:
        self.robot.hardware.fail = methods

    @rule(confirmed=st.booleans())
    def drives_confirm(self, confirmed: bool) -> None:
        self.robot.hardware.confirmed = confirmed

    @rule(mode=FAILING_MODES, how=st.sampled_from(["", "on_activate", "update", "nan"]))
    def controller_breaks(self, mode: Mode, how: str) -> None:
        self.robot.controllers[mode].fail = how

    @rule()
    def clear(self) -> None:
        mode = self.robot.mode
        answer = self.robot.modes.clear_fault(self.robot.time)
        if mode in SAFE_MODES:
            self.stopped = self._silent_desk()
        if answer.accepted:
            assert mode in SAFE_MODES
            assert not self._problem()
            self.latched = False
        elif self._problem():
            self.latched = True

    # Invariants.

    def _tick(self) -> None:
        problem_before = self._problem()
        falls_before = self._falls()
        if self.beating and self.heartbeat is not None:
            self.stopped |= self._silent_desk()
            self.robot.stop.beat("desk", self.robot.time)
            self.beat_at = self.robot.time
        self.robot.tick()
        self.stopped |= self._silent_desk()
        hardware = self.robot.hardware
        level = hardware.fault.level if hardware.fault else SafetyLevel.OK
        self.bad["arm"] = bool(hardware.fail) or level >= SafetyLevel.FAULT
        self._notice()
        self.latched |= self._falls() > falls_before
        if problem_before and self._problem():
            # The mode manager has handled it before this tick, so the loop has acted on it.
            assert self.robot.mode in SAFE_MODES
        if self.going_down:
            assert self.robot.mode in SAFE_MODES
        self.going_down = False
        self._check_command()

    def _notice(self) -> None:
        self.latched |= self._problem()

    def _falls(self) -> int:
        fall = self.robot.loop.snapshot.fall
        return 0 if fall is None else fall.number

    def _problem(self) -> bool:
        silent = self.deadline is not None and self.robot.time - self.heard > self.deadline
        return silent or self.stopped or any(self.bad.values())

    def _silent_desk(self) -> bool:
        if self.heartbeat is None or self.beat_at is None:
            return False
        return bool(self.robot.time - self.beat_at > self.heartbeat)

    def _check_command(self) -> None:
        written = self.robot.hardware.written[-1]
        measured = self.robot.hardware.measured_at_write[-1]
        assert np.isfinite(written).all()
        assert np.all(written[3:] >= 0.0)
        assert np.all(np.abs(written[1]) <= VELOCITY_LIMIT)
        assert np.all(np.abs(written[2]) <= EFFORT_LIMIT)
        assert np.all(np.abs(written[0]) <= 2.0)
        assert np.all(np.abs(written[0] - measured) * written[3] <= EFFORT_LIMIT + 1e-9)
        if self.robot.mode in SAFE_MODES:
            assert not written[1:4].any()

    @invariant()
    def numbers_only_grow(self) -> None:
        number = self.robot.loop.snapshot.switch_number
        assert number >= self.number
        self.number = number

    @invariant()
    def exactly_one_controller_is_active(self) -> None:
        snapshot = self.robot.loop.snapshot
        running = [c.mode for c in self.robot.controllers.values() if c.active]
        if snapshot.phase.value == "running":
            assert running == [snapshot.mode]
        else:
            assert running == []

    @invariant()
    def no_stiff_mode_begins_before_the_first_beat(self) -> None:
        if self.heartbeat is not None and self.beat_at is None:
            assert self.robot.modes.statement.mode in SAFE_MODES

    @invariant()
    def a_latched_robot_is_soft_after_the_next_tick(self) -> None:
        if self.latched and self.robot.modes.statement.mode not in SAFE_MODES:
            self._tick()
            assert self.robot.mode in SAFE_MODES


def test_no_order_of_events_leads_to_a_stiff_robot_that_should_not_be(robot_type: Any) -> None:
    class Machine(RobotMachine):
        pass

    Machine.robot_type = robot_type
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=100,
            stateful_step_count=30,
            phases=[Phase.generate],  # add Phase.shrink to study a failure: it takes minutes
        ),
    )


@pytest.mark.parametrize("seconds_between", [0.01, 1.0])
def test_a_repeated_load_never_reenters_standby_after_any_kind_of_fall(
    robot_type: Any, seconds_between: float
) -> None:
    def by_report(robot: Any) -> None:
        robot.safety.report(SafetyReport("x", SafetyLevel.CRITICAL), robot.time)
        robot.tick(2)
        robot.safety.report(SafetyReport("x"), robot.time)

    def by_hardware(robot: Any) -> None:
        robot.hardware.fail = {"read"}
        robot.tick(2)
        robot.hardware.fail = set()

    def by_controller(robot: Any) -> None:
        robot.controllers[Mode.STANDBY].fail = "update"
        robot.tick(2)
        robot.controllers[Mode.STANDBY].fail = ""

    def by_stall(robot: Any) -> None:
        robot.loop.heartbeat()
        robot.time += 0.5
        robot.tick(2)
        robot.loop.heartbeat()

    for fall in (by_report, by_hardware, by_controller, by_stall):
        robot = robot_type().enter(Mode.STANDBY)
        fall(robot)
        assert robot.mode is Mode.DAMPING
        for _ in range(10):
            robot.ask(Intent.LOAD)
            assert robot.tick(round(seconds_between * 100)).mode is Mode.DAMPING
