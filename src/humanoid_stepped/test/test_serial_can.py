"""The serial CAN adapter in memory, and the robot on it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from test_support.controllers import write_controllers
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_can.bus.bus import Bus, BusSettings, DataFrame
from humanoid_devices_can.errors import AdapterLostError, InterfaceError
from humanoid_stepped.robot import CONTROL
from humanoid_stepped.scheduler import NEVER, Process, Scheduler
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_stepped.wires.serial_can import USB_FRAME, SerialAdapter
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import CanController
from humanoid_twin.can.frame import CanFrame

SETTINGS = BusSettings("slcan", "memory", 1_000_000)
FRAME = (1, b"\1\2")
COMMAND = 0x01  # communication type of a Robstride's command


@dataclass
class Line:
    """An adapter, a node of its bus, and processes on one clock."""

    adapter: SerialAdapter
    node: CanController
    received: list[CanFrame]  # by the node
    scheduler: Scheduler

    def process(self, name: str = "host") -> SteppedMachine:
        return SteppedMachine(self.scheduler, Process(name))

    def open(self, machine: SteppedMachine, *, shared: bool = False) -> Bus:
        """Return the bus that a process opens."""
        found: list[Bus] = []

        def run() -> None:
            found.append(self.adapter.open(SETTINGS, machine, shared=shared))

        machine.start("open", run)
        self.scheduler.run_for(0.2)
        if self.scheduler.failed:
            error = self.scheduler.failed.pop().error
            assert error is not None
            raise error
        return found[0]


class BusWorld:
    """A World with a CAN bus only; it stops when bytes reach a host that waits."""

    next_event = NEVER

    def __init__(self) -> None:
        self.bus = VirtualCanBus()
        self._halted = False

    def halt(self) -> None:
        self._halted = True

    def advance(self, end: int) -> int:
        self._halted = False
        while self.bus.next_event <= end and not self._halted:
            self.bus.run(self.bus.next_event)
        if not self._halted:
            self.bus.run(end)
        return self.bus.now


@pytest.fixture
def line() -> Line:
    world, received = BusWorld(), list[CanFrame]()
    node = world.bus.attach(lambda frame, _now: received.append(frame))
    adapter = SerialAdapter(world.bus, world.halt)
    return Line(adapter, node, received, Scheduler(Random(1), world))


def test_frames_pass_in_both_directions(line: Line) -> None:
    bus = line.open(line.process())
    bus.send(FRAME)
    line.scheduler.run_for(0.01)
    assert line.received == [CanFrame(*FRAME)]
    line.node.send(CanFrame(7, b"\3"), line.adapter.bus.now)
    line.scheduler.run_for(0.01)
    assert bus.receive(0.0) == DataFrame(7, b"\3")


def test_the_adapter_confirms_behind_its_frames(line: Line) -> None:
    bus = line.open(line.process())
    assert bus.set_confirming(True)
    assert bus.ask()
    line.node.send(CanFrame(7, b"\3"), line.adapter.bus.now)
    line.scheduler.run_for(0.01)
    assert bus.receive(0.0) is not None
    assert bus.receive(0.0) is None
    assert bus.confirmed > 0.0


def test_a_host_that_waits_gets_frames_with_the_next_usb_frame(line: Line) -> None:
    host = line.process()
    bus, arrivals = line.open(host), list[int]()
    line.scheduler.latency = 0

    def receive() -> None:
        while bus.receive(1.0) is not None:
            arrivals.append(line.scheduler.now)

    host.start("receive", receive)
    line.scheduler.run_for(0.01)
    for number in range(3):
        line.node.send(CanFrame(number), line.adapter.bus.now)
    line.scheduler.run_for(0.0101)
    assert len(arrivals) == 3
    assert len(set(arrivals)) == 1
    assert arrivals[0] % USB_FRAME == 0


def test_two_processes_take_each_others_frames(line: Line) -> None:
    one, two = line.open(line.process()), line.open(line.process("guard"), shared=True)
    line.node.send(CanFrame(7), line.adapter.bus.now)
    line.scheduler.run_for(0.01)
    assert one.receive(0.0) == DataFrame(7, b"")
    assert two.receive(0.0) is None


def test_an_answer_from_before_the_opening_does_not_count(line: Line) -> None:
    bus = line.open(line.process())
    assert bus.ask()
    line.scheduler.run_for(0.01)
    line.adapter.serial.faults.unanswered = b"FV"
    assert not line.open(line.process("guard"), shared=True).set_confirming(True)


def test_the_channel_stays_open_for_the_process_that_shares_it(line: Line) -> None:
    own, shared = line.open(line.process()), line.open(line.process("guard"), shared=True)
    shared.close()
    assert line.adapter.serial.is_open
    own.close()
    assert not line.adapter.serial.is_open


def test_the_bus_of_a_killed_process_leaves_the_channel_open(line: Line) -> None:
    host = line.process()
    bus = line.open(host)
    host.process.killed = True
    bus.close()
    assert line.adapter.serial.is_open


def test_a_slow_line_takes_whole_frames_in_the_end(line: Line) -> None:
    bus = line.open(line.process())
    line.adapter.rate, line.adapter.capacity = 1, 10
    assert bus.send_all([FRAME, FRAME, FRAME]) == 3
    assert bus.send_all([FRAME]) == 0  # the rest of the others waits for room
    line.scheduler.run_for(0.2)
    while not bus.send_all([FRAME]):
        line.scheduler.run_for(0.01)
    line.scheduler.run_for(0.1)
    while bus.send_all([]) or len(line.received) < 4:
        line.scheduler.run_for(0.01)
    assert line.received == [CanFrame(*FRAME)] * 4


def test_an_unplugged_adapter_is_lost_and_can_be_opened_when_it_is_back(line: Line) -> None:
    bus = line.open(line.process())
    line.adapter.unplug()
    with pytest.raises(AdapterLostError):
        bus.receive(0.0)
    with pytest.raises(AdapterLostError):
        bus.send(FRAME)
    with pytest.raises(InterfaceError, match="is the adapter plugged in"):
        line.open(line.process())
    line.adapter.plug_in()
    again = line.open(line.process())
    again.send(FRAME)
    line.scheduler.run_for(0.01)
    assert line.received == [CanFrame(*FRAME)]


def test_an_occupied_adapter_is_not_opened(line: Line) -> None:
    line.adapter.occupied = True
    with pytest.raises(InterfaceError, match="another program uses it"):
        line.open(line.process())


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime with a serial CAN adapter, up and in DAMPING."""
    folder = tmp_path_factory.mktemp("serial")
    prime = Prime(folder, controllers_file=write_controllers(folder, 1.0), can_interface="slcan")
    prime.up()
    prime.damped()
    return prime


def test_the_robot_stands_and_ends_in_order(serial: Prime) -> None:
    serial.client.enter(Mode.STANDBY)
    assert serial.faults() == []
    serial.client.enter(Mode.DAMPING)
    assert serial.ends() == 0
    assert serial.enabled() == []


def test_the_guard_disables_the_motors_of_a_killed_process(serial: Prime) -> None:
    serial.processes[CONTROL].kill()
    serial.pass_time(1.0)
    motors = serial.control.bus("can").can_drives().values()
    assert not any(motor["firmware"]["enabled"] for motor in motors)


def test_all_seven_motors_of_a_bus_get_nearly_every_command_at_200_hz(tmp_path: Path) -> None:
    """An adapter takes five frames without an answer: the rest of a tick must not wait for long."""
    lite = Stack(tmp_path, robot="lite", can_interface="slcan")
    lite.up()
    lite.damped()
    commands: Counter[tuple[str, int]] = Counter()

    def count(bus: str, frame: CanFrame, _now: int) -> None:
        if frame.identifier >> 24 == COMMAND:
            commands[bus, frame.identifier & 0xFF] += 1

    lite.robot.virtual.listen(count)
    lite.pass_time(1.0)
    assert len(commands) == 14
    assert min(commands.values()) >= 190
