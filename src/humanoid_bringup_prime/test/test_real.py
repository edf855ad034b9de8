"""Prime's EtherCAT side as it is brought up: control process, impedance manager, virtual ring."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from humanoid_control_msgs.msg import ControlMode
from humanoid_control_msgs.srv import ClearFault
from test_support.operator import be_on_a_free_domain

from humanoid_bringup.options import Backend, Backends, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.modes import Mode
from humanoid_twin.errors import VethError
from humanoid_twin.testing import ring

POSITION, VELOCITY, INTEGRAL, GATE = 0x238201, 0x238101, 0x238102, 0x238300
# By the documents: 51.47 kp/kd, 9.408 kd, 0; rounded. And the gate.
LIMP, SOFT, STIFF = (0, 0, 0, 1), (0, 56, 0, 1), (515, 19, 0, 1)
OPERATIONAL = 8  # AL state
SAFEOP = 4
QUEUED = 15  # statements: more than may wait to be taken from before
MAILBOX_DELAY_MS = 2.0
START_UPS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 200))]


class RealRobot:
    """The processes of a bring-up on a virtual ring, and a client of theirs."""

    def __init__(self, virtual: Any, client: Any, tools: Any, folder: Path) -> None:
        self.control = virtual.control
        self.client = client
        self._running_type, self._command_line = tools
        self._folder = folder
        options = Options(
            backend=Backend.REAL,
            backends=Backends.EC,
            ethercat_interface=virtual.interface,
            viewer=False,
        )
        self._plan = {process.label: process for process in plan(options, folder)}
        self.running: dict[str, Any] = {}
        self.started: list[Any] = []

    def start(self, label: str) -> Any:
        log = self._folder / f"output_{len(self.started)}.txt"
        running = self._running_type(self._command_line(self._plan[label]), log)
        self.running[label] = running
        self.started.append(running)
        return running

    def up(self) -> RealRobot:
        """Everything runs, and what is in force is confirmed."""
        self.start("control")
        self.start("impedance")
        self.client.connect()
        self.client.confirmed()
        return self

    def registers(self) -> set[tuple[int, ...]]:
        """What is on the drives; one entry if it is the same on all."""
        return {
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in self.control.drives()
        }

    def writes(self) -> list[tuple[int, int, int]]:
        """What has been written since the last look: slave, object, value."""
        return [
            (slave, detail["index"] << 8 | detail["subindex"], detail["value"])
            for _, slave, kind, detail in self.control.log()
            if kind == "write"
        ]


@contextmanager
def on_a_ring(client: Any, tools: Any, folder: Path) -> Iterator[RealRobot]:
    """Nothing runs yet but the ring."""
    try:
        virtual = ring(10, mailbox_delay_ms=MAILBOX_DELAY_MS, realtime=True)
        with virtual as answering:
            instance = RealRobot(answering, client, tools, folder)
            yield instance
            with ExitStack() as ends:  # all of them, the latest first
                for running in instance.started:
                    # Shown by pytest if the test has failed.
                    ends.callback(lambda ended=running: sys.stdout.write(ended.text()))
                    ends.callback(running.end)
    except VethError as error:
        pytest.skip(f"no pair of virtual network interfaces can be made: {error}")


@pytest.fixture
def robot(client: Any, running_type: Any, command_line: Any, tmp_path: Path) -> Iterator[RealRobot]:
    """A robot of the test's own, of which nothing runs yet but the ring."""
    with on_a_ring(client, (running_type, command_line), tmp_path) as instance:
        yield instance


def test_every_mode_reaches_the_drives_and_the_end_leaves_them_in_order(robot: RealRobot) -> None:
    robot.up()
    assert robot.registers() == {LIMP}
    for mode, registers in ((Mode.DAMPING, SOFT), (Mode.STANDBY, STIFF)):
        robot.client.enter(mode)
        assert robot.registers() == {registers}
    robot.client.finish_standby()
    robot.client.enter(Mode.REMOTE)
    assert robot.registers() == {STIFF}
    assert robot.client.now.status_message == ""
    robot.client.enter(Mode.DAMPING)
    assert robot.registers() == {SOFT}
    control = robot.running["control"]
    control.process.send_signal(signal.SIGINT)
    assert control.wait() == 0, control.text()
    assert {drive["gate"] for drive in robot.control.drives()} == {0}
    assert not any(drive["error"] for drive in robot.control.drives())


@pytest.mark.parametrize("seed", START_UPS)
def test_no_mail_reaches_a_drive_between_preop_and_the_operation_of_all(
    robot: RealRobot, seed: int
) -> None:
    """On the ring's own clock. /prime/joint_states flow only then, and mail only after them."""
    random = Random(seed)
    robot.control.mailbox_delay(random.uniform(0.0, 0.005))
    order = ["impedance", "control"]
    if seed:
        random.shuffle(order)
    robot.start(order[0])
    if order[0] == "impedance" and (seed == 0 or random.random() < 0.5):  # first, and eager
        robot.client.until(lambda: robot.client.impedance, "the manager")
    robot.start(order[1])
    robot.client.connect()
    robot.client.confirmed()
    lines = robot.control.log()

    def reached(state: int) -> dict[int, float]:
        """When each slave came to an AL state; last, if the bring-up was tried again."""
        return {
            slave: time
            for time, slave, kind, detail in lines
            if kind == "state" and detail["state"] == state
        }

    left_preop, operational = reached(SAFEOP), reached(OPERATIONAL)
    assert len(left_preop) == len(operational) == 10
    mail = [
        time for time, slave, kind, _ in lines if kind == "request" and time > left_preop[slave]
    ]
    assert min(mail) > max(operational.values())
    assert not any(kind == "fault" for _, _, kind, _ in lines)


def test_without_the_manager_the_robot_says_that_it_is_stiff_and_stays_in_its_safe_modes(
    robot: RealRobot,
) -> None:
    robot.start("control")
    robot.client.connect()
    robot.client.next_statements()
    assert robot.client.now.status_message == "stiff until armed"
    robot.client.reach(Mode.DAMPING)
    robot.client.request(Mode.STANDBY)
    robot.client.until(
        lambda: "Rejected LOAD: " in robot.client.now.status_message, "the end of the wait"
    )
    assert robot.client.now.mode == Mode.DAMPING
    assert {drive["gate"] for drive in robot.control.drives()} == {0}
    robot.start("impedance")
    robot.client.enter(Mode.STANDBY)
    assert robot.registers() == {STIFF}
    assert robot.client.now.status_message == ""


def test_after_a_control_process_was_killed_in_standby_the_next_one_starts_limp(
    robot: RealRobot,
) -> None:
    robot.up().client.enter(Mode.DAMPING)
    robot.client.enter(Mode.STANDBY)
    killed = robot.running["control"].process
    killed.kill()
    killed.wait()
    robot.client.until(lambda: not robot.client.impedance[-1].gate_open, "the gate to close")
    assert {drive["gate"] for drive in robot.control.drives()} == {1}  # what kill -9 leaves
    robot.control.log()
    robot.client.statements.clear()
    robot.start("control")
    robot.client.connect()
    assert robot.client.now.switch_number == 1
    robot.client.confirmed()
    assert robot.registers() == {LIMP}
    first = dict.fromkeys(range(10))
    for slave, register, value in robot.writes():
        if register in {POSITION, VELOCITY, GATE} and first[slave] is None:
            first[slave] = (register, value)
    assert set(first.values()) == {(GATE, 0)}  # in PREOP, before anything else
    assert not any(drive["error"] for drive in robot.control.drives())


# Last, so that it does not run beside the robots of the other tests.
@pytest.fixture(scope="module")
def shared_robot(
    client_type: Any,
    running_type: Any,
    command_line: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RealRobot]:
    """A robot that is up, for tests that leave it up."""
    with pytest.MonkeyPatch.context() as patch:
        be_on_a_free_domain(patch.setenv)
        folder, tools = tmp_path_factory.mktemp("shared"), (running_type, command_line)
        with client_type() as client, on_a_ring(client, tools, folder) as instance:
            yield instance.up()


@pytest.fixture
def damped(shared_robot: RealRobot) -> Iterator[RealRobot]:
    """The shared robot, in DAMPING and well before and after the test."""
    client = shared_robot.client
    client.next_statements(QUEUED)
    client.enter(Mode.DAMPING)
    assert shared_robot.registers() == {SOFT}
    yield shared_robot
    client.request(Mode.DAMPING)  # in place of one that may still wait to be granted
    client.next_statements(QUEUED)
    client.reach(Mode.DAMPING)
    client.clear_fault()


def test_a_change_writes_two_registers_a_drive_in_the_order_that_is_never_stiffer(
    damped: RealRobot,
) -> None:
    damped.writes()
    damped.client.enter(Mode.STANDBY)
    up = damped.writes()
    damped.client.enter(Mode.DAMPING)
    down = damped.writes()
    for slave in range(10):
        assert [w[1:] for w in up if w[0] == slave] == [(VELOCITY, 19), (POSITION, 515)]
        assert [w[1:] for w in down if w[0] == slave] == [(POSITION, 0), (VELOCITY, 56)]


def test_a_manager_killed_in_standby_means_damping_and_soft_drives_until_it_is_back(
    damped: RealRobot,
) -> None:
    damped.client.enter(Mode.STANDBY)
    killed = damped.running["impedance"].process
    killed.kill()
    killed.wait()
    damped.client.until(lambda: damped.client.now.mode == Mode.DAMPING, "the fall")
    assert "impedance manager silent" in damped.client.now.status_message
    damped.client.until(lambda: damped.registers() == {SOFT}, "the last-resort softening")
    damped.start("impedance")
    damped.client.confirmed()
    damped.client.request(Mode.STANDBY)
    assert damped.client.now.mode == Mode.DAMPING  # latched
    assert damped.client.call("/mode_manager/clear_fault", ClearFault).success
    damped.client.enter(Mode.STANDBY)
    assert damped.registers() == {STIFF}


def test_a_second_manager_gives_way_and_nothing_changes(damped: RealRobot) -> None:
    damped.writes()
    first = damped.running["impedance"]
    second = damped.start("impedance")
    damped.running["impedance"] = first
    assert second.wait() == 1
    assert "another erob_impedance_manager runs" in second.text()
    assert damped.writes() == []
    damped.client.enter(Mode.STANDBY)
    assert damped.registers() == {STIFF}


def test_a_replayed_recording_moves_no_gain(damped: RealRobot) -> None:
    recorded = ControlMode(
        mode=ControlMode.STANDBY,
        controller_name="standby_controller",
        switch_number=damped.client.now.switch_number + 1,
    )
    recorded.header.stamp = damped.client.now.header.stamp
    recorded.header.stamp.sec -= 60
    publisher = damped.client.node.create_publisher(ControlMode, "/control_mode", 10)
    damped.client.until(lambda: publisher.get_subscription_count() >= 3, "the listeners")
    damped.writes()
    count = len(damped.client.statements)
    for _ in range(25):
        publisher.publish(recorded)
        damped.client.next_statements(4)
    assert len(damped.client.statements) > count + 50
    assert damped.writes() == []
    assert damped.registers() == {SOFT}
    assert damped.client.confirmed().mode == ControlMode.DAMPING


def test_nine_drives_are_softened_while_the_tenth_does_not_answer(damped: RealRobot) -> None:
    damped.client.enter(Mode.STANDBY)
    damped.control.mailbox_delay(float("inf"), 9)
    damped.client.reach(Mode.DAMPING)
    soft = [SOFT] * 9 + [STIFF]

    def rows() -> list[tuple[int, ...]]:
        return [
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in damped.control.drives()
        ]

    damped.client.until(lambda: rows() == soft, f"nine soft drives, now {rows()}")
    damped.client.until(
        lambda: "right_wrist_yaw" in damped.client.impedance[-1].status_message,
        "the tenth to be named",
    )
    assert not damped.client.impedance[-1].confirmed
    damped.client.request(Mode.STANDBY)
    assert damped.client.now.mode == Mode.DAMPING
    damped.control.mailbox_delay(0.002, 9)
    damped.client.confirmed()
    assert damped.registers() == {SOFT}
