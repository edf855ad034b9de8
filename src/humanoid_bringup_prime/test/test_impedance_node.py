"""The process `erob_impedance_manager` over real topics and services, against a fake component."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, ImpedanceState, SdoResult
from humanoid_control_msgs.srv import ReadSdoBatch, WriteSdoBatch
from sensor_msgs.msg import JointState
from test_support.programs.prepared_programs import PreparedPrograms

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan

STATE = "/erob_impedance_manager/state"
POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
FEED_FORWARD = (0x2382, 3)
JOINTS = 10


class FakeComponent:
    """The part of the control process that the manager uses: services, joint states, statements."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.node = client.node
        self.values: dict[int, dict[tuple[int, int], int]] = {
            slave: dict.fromkeys((POSITION, VELOCITY, INTEGRAL, FEED_FORWARD, GATE), 0)
            for slave in range(JOINTS)
        }
        self.mode, self.number = 0, 1
        self.flowing, self.stating = True, True
        self.writes: list[Any] = []  # requests
        self.arrivals: list[float] = []  # [s] of the writes
        self.reads = 0
        self.refused: list[tuple[int, int]] = []  # mode and number
        self.states: list[ImpedanceState] = []
        self.names: list[str] = []
        self.node.create_subscription(ImpedanceState, STATE, self.states.append, 10)
        self._joints = self.node.create_publisher(JointState, "/prime/joint_states", 10)
        self._modes = self.node.create_publisher(ControlMode, "/control_mode", 10)
        self.node.create_timer(0.02, self._tick)
        self._services: list[Any] = []
        self.offer()

    def offer(self) -> None:
        self._services = [
            self.node.create_service(ReadSdoBatch, "/erob/read_sdo_batch", self._read),
            self.node.create_service(WriteSdoBatch, "/erob/write_sdo_batch", self._write),
        ]

    def vanish(self) -> None:
        """End as a control process that died; the state of the drives' gates is lost."""
        for service in self._services:
            self.node.destroy_service(service)
        for values in self.values.values():
            values[GATE] = 0

    def state(self, mode: int, number: int, *, age: float = 0.0) -> None:
        message = ControlMode(mode=mode, controller_name="another_controller", switch_number=number)
        stamp = time.time() - age
        message.header.stamp.sec = int(stamp)
        message.header.stamp.nanosec = int(stamp % 1.0 * 1e9)
        self._modes.publish(message)

    def request(self, mode: int) -> None:
        self._modes.publish(ControlMode(mode=mode))

    def switch(self, mode: int) -> None:
        self.mode, self.number = mode, self.number + 1

    def _tick(self) -> None:
        if self.flowing:
            self._joints.publish(JointState(name=self.names, position=[0.0] * len(self.names)))
        if self.stating:
            self.state(self.mode, self.number)

    def _read(self, request: Any, response: Any) -> Any:
        self.reads += 1
        return self._answer(request, response)

    def _write(self, request: Any, response: Any) -> Any:
        self.writes.append(request)
        self.arrivals.append(time.monotonic())
        if (request.mode, request.switch_number) != (self.mode, self.number):
            self.refused.append((request.mode, request.switch_number))
            response.results = [
                SdoResult(object=item, status=SdoResult.REFUSED, message="not in force")
                for item in request.objects
            ]
            return response
        for item in request.objects:
            value = int.from_bytes(item.data.tobytes(), "little", signed=True)
            self.values[item.slave][item.index, item.subindex] = value
        return self._answer(request, response)

    def _answer(self, request: Any, response: Any) -> Any:
        for item in request.objects:
            value = self.values[item.slave][item.index, item.subindex]
            item.data = list(value.to_bytes(4, "little", signed=True))
            response.results.append(SdoResult(object=item))
        response.success = True
        return response

    def until(self, condition: Callable[[ImpedanceState], object], what: str) -> ImpedanceState:
        """Return the next state that meets `condition`."""
        self.states.clear()
        found: list[ImpedanceState] = []

        def met() -> bool:
            found.extend(filter(condition, self.states))
            self.states.clear()
            return bool(found)

        self.client.until(met, what)
        return found[0]

    def confirmed(self) -> ImpedanceState:
        """Return the first state that confirms the mode in force."""
        return self.until(
            lambda s: s.confirmed and (s.mode, s.switch_number) == (self.mode, self.number),
            f"mode {self.mode} under {self.number} to be confirmed",
        )


@pytest.fixture
def component(client: Any) -> FakeComponent:
    return FakeComponent(client)


StartManager = Callable[..., Any]


@pytest.fixture
def start_manager(
    component: FakeComponent,
    tmp_path: Path,
    running_type: Any,
    command_line: Any,
    prepared: PreparedPrograms,
) -> Iterator[StartManager]:
    """Starts the manager as a bring-up does; keywords change its parameters."""
    started: list[Any] = []

    def start(*, alone: bool = False, **changes: Any) -> Any:
        folder = tmp_path / f"manager_{len(started)}"
        folder.mkdir()
        processes = plan(Options(backend=Backend.REAL, backends="ec"), folder)
        (manager,) = (process for process in processes if process.label == "impedance")
        content = yaml.safe_load(manager.parameter_files[-1].read_text())
        own = content["erob_impedance_manager"]["ros__parameters"]
        component.names = list(own["joint_names"])
        own.update(changes)
        manager.parameter_files[-1].write_text(yaml.safe_dump(content))
        if alone:
            manager = replace(manager, parameter_files=())
        running = running_type(command_line(manager), folder / "output.txt", prepared)
        started.append(running)
        return running

    yield start
    for running in started:
        running.end()


def test_impedance_manager_arms_follows_modes_and_publishes_registers_and_gains(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager()
    state = component.confirmed()
    assert state.armed
    assert state.gate_open
    assert set(state.stiffness) == {0.0}
    component.switch(ControlMode.DAMPING)
    component.confirmed()
    component.writes.clear()
    component.arrivals.clear()
    component.switch(ControlMode.STANDBY)
    state = component.confirmed()
    assert list(state.joint_names) == component.names
    assert set(state.position_gain) == {515}
    assert set(state.velocity_gain) == {19}
    assert set(state.velocity_integral) == {0}
    # 0.1063 · 19 and 0.01943 · 515 times that
    assert list(state.damping) == pytest.approx([2.0197] * JOINTS, rel=1e-3)
    assert list(state.stiffness) == pytest.approx([20.21] * JOINTS, rel=1e-3)
    assert state.status_message == ""
    assert {tuple(v.values()) for v in component.values.values()} == {(515, 19, 0, 0, 1)}
    (batch,) = component.writes
    assert [(o.index, o.subindex) for o in batch.objects if o.slave == 4] == [VELOCITY, POSITION]
    (arrived,) = component.arrivals
    assert arrived - 10.0 < batch.valid_until <= arrived + 0.1  # five periods of 50 Hz


def test_a_manager_without_a_bring_up_has_the_parameters_of_the_installed_robot(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager(alone=True)
    component.confirmed()
    component.switch(ControlMode.STANDBY)
    state = component.confirmed()
    assert list(state.joint_names) == component.names
    assert {tuple(v.values()) for v in component.values.values()} == {(515, 19, 0, 0, 1)}


def test_the_manager_publishes_while_nothing_changes(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager()
    component.confirmed()
    component.states.clear()
    component.client.until(lambda: len(component.states) >= 5, "five more states")
    assert all(state.confirmed for state in component.states)


def test_no_batch_reaches_the_drives_before_joint_states_flow(
    component: FakeComponent, start_manager: StartManager
) -> None:
    component.flowing = False
    start_manager()
    state = component.until(lambda s: s.switch_number == 1, "the statement to be noticed")
    assert state.status_message == "waiting for /prime/joint_states"
    component.client.next_statements(50)
    assert (component.reads, component.writes) == (0, [])
    component.flowing = True
    component.confirmed()


def test_a_replayed_recording_moves_no_gain(
    component: FakeComponent, start_manager: StartManager
) -> None:
    running = start_manager()
    component.switch(ControlMode.DAMPING)
    component.confirmed()
    component.writes.clear()
    component.states.clear()
    for _ in range(20):
        component.state(ControlMode.STANDBY, component.number, age=60.0)
        component.client.next_statements(2)
    assert component.writes == []
    assert component.states
    assert all(s.confirmed and s.mode == ControlMode.DAMPING for s in component.states)
    assert running.text().count("a recording") == 1


def test_a_second_stack_moves_no_gain_and_the_robot_s_own_mode_comes_true_again(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager()
    component.switch(ControlMode.DAMPING)
    component.confirmed()
    component.client.until(
        lambda: component.state(ControlMode.STANDBY, 77) or component.refused,
        "writes for the other stack",
    )
    assert set(component.refused) == {(ControlMode.STANDBY, 77)}
    component.confirmed()
    assert {tuple(v.values()) for v in component.values.values()} == {(0, 56, 0, 0, 1)}


def test_of_two_managers_that_start_at_once_one_remains(
    component: FakeComponent, start_manager: StartManager
) -> None:
    """Each hears nothing of the other before both are active."""
    started = [start_manager(), start_manager()]
    component.confirmed()
    (ended,) = [it for it in started if it.process.poll() is not None]
    assert ended.wait() == 1
    assert "erob_impedance_manager process is already running" in ended.text()
    component.switch(ControlMode.DAMPING)
    component.confirmed()


def test_requests_are_followed_only_on_a_bench(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager()
    component.confirmed()
    component.writes.clear()
    component.request(ControlMode.STANDBY)
    component.client.next_statements(10)
    assert component.writes == []


def test_a_bench_without_mode_manager_can_be_driven_by_requests(
    component: FakeComponent, start_manager: StartManager
) -> None:
    component.stating = False
    component.mode, component.number = ControlMode.DAMPING, 0
    start_manager(follow_requests=True)
    component.client.until(
        lambda: component.request(ControlMode.DAMPING) or component.writes, "the gains"
    )
    component.confirmed()


def test_a_restarted_control_process_is_armed_again(
    component: FakeComponent, start_manager: StartManager
) -> None:
    start_manager()
    component.switch(ControlMode.DAMPING)
    component.switch(ControlMode.STANDBY)
    component.confirmed()
    component.flowing = component.stating = False
    component.vanish()
    component.until(lambda s: not s.confirmed, "the loss to be noticed")
    component.mode, component.number = ControlMode.ZERO_TORQUE, 1
    component.offer()
    component.flowing = component.stating = True
    component.confirmed()
    assert {tuple(v.values()) for v in component.values.values()} == {(0, 0, 0, 0, 1)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_impedance_manager_ends_on_a_signal_and_leaves_the_drives_to_the_component(
    component: FakeComponent, start_manager: StartManager, number: signal.Signals
) -> None:
    running = start_manager()
    component.switch(ControlMode.DAMPING)
    component.confirmed()
    running.process.send_signal(number)
    assert running.wait() == 0
    assert {values[GATE] for values in component.values.values()} == {1}
    assert "Traceback" not in running.text()


def test_wrong_parameters_end_in_a_sentence(
    component: FakeComponent, start_manager: StartManager
) -> None:
    running = start_manager(torque_efficiency=7.0)
    assert running.wait() == 1
    assert "erob_impedance_manager: " in running.text()
    assert "'torque_efficiency'" in running.text()
    assert "Traceback" not in running.text()
