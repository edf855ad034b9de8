"""The commands about the CAN bus, and their effects at the host."""

import itertools
import json
import struct
from dataclasses import dataclass, field
from random import Random

import pytest

from humanoid_twin.can.adapters.lawicel import LawicelAdapter
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.controller import CanController
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import CanJoint, VirtualCan, build_can
from humanoid_twin.control.commands import CommandTable
from humanoid_twin.errors import CanError, TwinError
from humanoid_twin.physics.plant import Inertia, SingleInertias

MS = 1_000_000  # [ns]
IDS = (22, 23, 38, 39)


@dataclass
class Host:
    """An adapter with the test as its host."""

    can: VirtualCan
    plant: SingleInertias
    controller: CanController = field(init=False)
    got: list[CanFrame] = field(default_factory=list)
    plugged: bool = True
    serial: LawicelAdapter | None = None

    def __post_init__(self) -> None:
        self.controller = self.can.bus.attach(
            lambda frame, _now: self.got.append(frame), restarts=False
        )
        self.commands = CanCommands(self.can, self)

    def unplug(self) -> None:
        self.plugged = False

    def plug_in(self) -> None:
        self.plugged = True

    def run(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            self.can.run(self.can.bus.now + MS)
            self.can.step()
            self.plant.step(0.001)
            self.can.tick()

    def send(self, device: int, kind: int, data: bytes) -> bool:
        frame = CanFrame(0x05060000 | device << 8 | kind, data)
        return self.controller.send(frame, self.can.bus.now)

    def enable(self, *devices: int) -> None:
        for device in devices:
            self.send(device, 0x45, struct.pack(">ff", 20 / 688.58, 2 / 1.125))
            self.send(device, 0x01, bytes([9, 5, 5, 0, 0, 0, 0, 0]))
            self.run(3)

    def heard(self) -> set[int]:
        """Return the ids that send feedback."""
        self.got.clear()
        self.run(20)
        return {frame.identifier >> 8 & 0xFF for frame in self.got}

    def drive(self, device: int):
        return next(drive for drive in self.commands.drives() if drive["id"] == device)


@pytest.fixture
def host() -> Host:
    plant = SingleInertias([Inertia(inertia=0.05, gravity=0.5)] * 4)
    joints = {
        device: CanJoint(index=index, family="sito", model="TA40-50")
        for index, device in enumerate(IDS)
    }
    return Host(build_can(plant, joints), plant)


def test_all_motors_answer_when_enabled(host):
    host.enable(*IDS)
    assert host.heard() == set(IDS)


def test_motor_without_power_is_silent_and_limp_and_comes_back_disabled(host):
    host.enable(*IDS)
    host.commands.power_off(23)
    assert host.heard() == {22, 38, 39}
    assert host.drive(23)["torque"] == 0
    host.commands.power_on(23)
    assert host.heard() == {22, 38, 39}
    host.enable(23)
    assert host.heard() == set(IDS)


def test_without_any_power_no_frame_is_acknowledged(host):
    host.commands.power_off()
    host.send(22, 0, bytes(8))
    host.run(100)
    statistics = host.commands.statistics()
    assert statistics["adapter_state"] == "error passive"
    assert statistics["adapter_waiting"] == 1
    assert statistics["unacknowledged"] > 100
    assert statistics["frames"] == statistics["adapter_sent"] == 0
    host.commands.power_on()
    host.run(1)
    assert host.commands.statistics()["frames"] == 1
    assert host.commands.statistics()["adapter_sent"] == 1


def test_delayed_frozen_and_hot_motors_are_one_each(host):
    host.commands.delay_enable(22, 0.5)
    host.enable(*IDS)
    assert host.heard() == {23, 38, 39}
    host.commands.freeze(23)
    host.commands.overheat(38, 120)
    host.run(1)
    assert host.heard() == {39}
    host.run(500)
    assert host.heard() == {22, 39}
    host.commands.freeze(23, frozen=False)
    assert host.heard() == {22, 23, 39}
    host.commands.motor_fault(39, 4)
    assert host.drive(39)["firmware"]["faults"] == 4
    host.run(1)
    assert host.heard() == {22, 23}


def test_dropped_frames_repeat_with_the_seed(host):
    host.enable(22)

    def pattern() -> list[int]:
        host.commands.drop(0.5, seed=3)
        host.got.clear()
        host.run(100)
        return [frame.identifier for frame in host.got]

    first = pattern()
    assert 5 < len(first) < 35
    assert pattern() == first
    host.commands.drop(0.0)
    host.got.clear()
    host.run(100)
    assert len(host.got) == 40


def test_double_command_sends_every_frame_twice(host):
    host.enable(22)
    host.commands.double(1.0)
    host.got.clear()
    host.run(50)
    assert len(host.got) == 40
    host.commands.double(0.0)
    host.got.clear()
    host.run(50)
    assert len(host.got) == 20


def test_late_frames_come_later_and_in_their_order(host):
    host.enable(22)
    host.commands.late(1.0, 0.03)
    host.run(1)
    host.got.clear()
    host.run(28)
    assert host.got == []
    host.run(100)
    late = [frame.identifier for frame in host.got]
    assert 36 <= len(late) <= 40
    host.commands.late(0.0, 0.0)
    host.run(40)
    host.got.clear()
    host.run(50)
    assert [frame.identifier for frame in host.got[:4]] == late[:4]


def test_orders_are_late_too(host):
    host.commands.late(1.0, 0.05)
    host.send(22, 0x01, bytes([9, 5, 5, 0, 0, 0, 0, 0]))
    host.run(49)
    assert not host.drive(22)["firmware"]["enabled"]
    host.run(5)
    assert host.drive(22)["firmware"]["enabled"]


def test_frames_of_a_hold_up_come_at_once_and_in_their_order(host):
    host.enable(22)
    host.run(10)
    host.got.clear()
    host.commands.hold_up(0.05)
    host.send(22, 0x00, bytes(8))  # RESET, after all frames sent before
    host.run(49)
    assert host.got == []
    assert host.drive(22)["firmware"]["enabled"]
    host.run(2)
    assert 18 <= len(host.got) <= 20
    assert not host.drive(22)["firmware"]["enabled"]
    host.got.clear()
    host.run(50)
    assert host.got == []


def test_a_hold_up_that_is_prolonged_keeps_the_order(host):
    host.enable(22)
    host.run(10)
    host.commands.hold_up(0.05)
    host.run(30)
    host.got.clear()
    host.commands.hold_up(0.05)
    host.commands.hold_up(0.01)  # does not shorten it
    host.run(49)
    assert host.got == []
    host.run(2)
    kinds = [frame.identifier & 0xFF for frame in host.got]
    assert 30 <= len(kinds) <= 33
    assert all(a != b for a, b in itertools.pairwise(kinds))  # both kinds of feedback in turn


def test_motors_send_on_while_the_adapter_is_held_up(host):
    other = []
    host.can.bus.attach(lambda frame, _: other.append(frame)).set(listens_only=True)
    host.enable(22)
    host.run(10)
    host.got.clear()
    other.clear()
    host.commands.hold_up(0.05)
    host.run(40)
    assert host.got == []
    assert len(other) == 16


def test_a_motor_whose_cable_is_cut_keeps_its_torque_and_receives_nothing(host):
    host.enable(22)
    host.commands.cut(22)
    host.run(1)
    host.send(22, 0x00, bytes(8))
    host.got.clear()
    host.run(50)
    assert host.got == []
    assert host.drive(22)["powered"]
    assert host.drive(22)["firmware"]["enabled"]
    assert host.can.motor(22).spring()[0] > 0.0
    host.commands.mend(22)
    host.run(50)
    assert host.heard() == {22}


def test_a_cable_that_is_cut_while_the_power_is_off_stays_cut(host):
    host.enable(22)
    host.commands.power_off(22)
    host.commands.cut(22)
    host.commands.power_on(22)
    host.enable(22)
    assert not host.drive(22)["firmware"]["enabled"]


def test_a_delay_or_a_probability_that_cannot_be_is_refused(host):
    for ask in (
        lambda: host.commands.hold_up(-0.1),
        lambda: host.commands.late(1.5, 0.1),
        lambda: host.commands.late(0.5, -0.1),
        lambda: host.commands.double(-0.1),
    ):
        with pytest.raises(TwinError):
            ask()


def test_corrupted_frames_are_errors_and_still_get_through(host):
    host.enable(22)
    host.commands.corrupt_next(3)
    host.got.clear()
    host.run(50)
    assert len(host.got) == 20
    assert host.commands.statistics()["error_frames"] == 3


def test_bus_off_silences_the_host_only(host):
    host.enable(*IDS)
    host.commands.bus_off()
    assert host.heard() == set()
    assert host.commands.statistics()["adapter_state"] == "bus off"
    assert not host.send(22, 0, bytes(8))
    host.controller.restart()
    host.run(10)
    assert host.heard() == set(IDS)


def test_wrong_bit_rate_of_the_motors_leaves_only_error_frames(host):
    host.enable(22)
    host.commands.bitrate(500_000)
    assert host.heard() == set()
    assert host.controller.rec > 0
    host.commands.bitrate(1_000_000)
    host.run(50)
    assert host.heard() == {22}


def test_motor_with_another_id_answers_to_that_one(host):
    host.commands.change_id(22, 30)
    host.enable(22)
    assert host.heard() == set()
    host.enable(30)
    assert host.heard() == {30}
    with pytest.raises(CanError, match="no motor 22 on the bus, there are 30, 23, 38, 39"):
        host.commands.freeze(22)


def test_two_motors_with_one_id_disturb_each_other(host):
    host.commands.duplicate(22)
    host.enable(22)
    host.run(300)
    assert host.commands.statistics()["error_frames"] >= 16
    both = [drive for drive in host.commands.drives() if drive["id"] == 22]
    assert max(drive["tec"] for drive in both) >= 100
    assert len(both) == 2
    host.got.clear()
    host.run(100)
    positions = {
        struct.unpack(">xxxxi", frame.data)[0]
        for frame in host.got
        if frame.identifier == 0x050616B2
    }
    assert max(positions) - min(positions) > 9000  # the other joint is 1 rad away
    assert abs(host.drive(22)["joint_position"]) < 0.01


def test_motor_of_the_other_family_sends_frames_of_its_family(host):
    host.commands.foreign(5, "robstride", "rs-02")
    host.controller.send(CanFrame(0x0300FD05, bytes(8)), 0)
    host.run(3)
    assert host.got[-1].identifier >> 24 == 2


def test_stray_frame_comes_from_an_unknown_sender(host):
    host.commands.stray(0x0506FFB1, "0011")
    host.commands.stray(0x7FF, "", extended=False)
    host.run(1)
    assert host.got == [CanFrame(0x0506FFB1, b"\0\x11"), CanFrame(0x7FF, extended=False)]


def test_foreign_node_does_not_acknowledge(host):
    host.commands.power_off()
    host.commands.stray(1, "00")
    host.run(1)
    assert host.got == [CanFrame(1, b"\0")]
    host.send(22, 0, bytes(8))
    host.run(20)
    assert host.controller.waiting == 1


def test_adapter_is_unplugged_and_plugged_in(host):
    host.commands.unplug()
    assert not host.plugged
    host.commands.plug_in()
    assert host.plugged


def test_the_faults_of_a_serial_line_are_set(host):
    host.serial = LawicelAdapter(host.can.bus, lambda _: True)
    host.commands.lose_bytes(0.25, seed=3)
    host.commands.insert_bytes(0.5, seed=4)
    host.commands.cut_bytes(6, seed=4)
    host.commands.leave_unanswered("F", 0.75, seed=4)
    host.commands.flags(False)
    faults = host.serial.faults
    assert (faults.lost_probability, faults.inserted_probability) == (0.25, 0.5)
    assert faults.random.random() == Random(4).random()
    assert faults.unanswered_probability == 0.75
    assert (faults.cut, faults.unanswered, host.serial.offers_flags) == (6, b"F", False)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("flags", {"offered": False}, "no serial one"),
        ("cut_bytes", {"count": 1}, "no serial one"),
        ("freeze", {"id": 99}, "no motor 99"),
        ("delay_enable", {"id": 22, "seconds": -1}, "time to enable is -1 s"),
        ("overheat", {"id": 22, "celsius": float("nan")}, "temperature is nan"),
        ("motor_fault", {"id": 22, "bits": 0}, "fault bits is 0"),
        ("drop", {"probability": 1.5}, "probability 1.5"),
        ("corrupt_next", {"count": -1}, "number of frames is -1"),
        ("late", {"probability": 1.0, "seconds": float("nan")}, "lateness is nan s"),
        ("hold_up", {"seconds": float("inf")}, "hold-up is inf s"),
        ("change_id", {"id": 22, "new": 22.5}, "CAN id is 22.5"),
        ("bitrate", {"value": 5}, "bit rate is 5"),
        ("change_id", {"id": 22, "new": 0}, "CAN id is 0"),
        ("stray", {"identifier": 1 << 29, "data": ""}, "more than 29 bits"),
        ("foreign", {"id": 1, "family": "acme", "model": "x"}, "no motor family 'acme'"),
        ("foreign", {"id": 1, "family": "sito", "model": "x"}, "TA40-50, TA40-100"),
        ("foreign", {"id": 256, "family": "sito", "model": "TA40-50"}, "expected 1 to 255"),
    ],
    ids=str,
)
def test_command_that_can_not_be_is_refused_with_a_sentence(host, name, arguments, message):
    with pytest.raises(TwinError, match=message):
        getattr(host.commands, name)(**arguments)


def test_commands_and_reports_pass_the_control_channel(host):
    table = CommandTable()
    table.add(host.commands, "can_")
    host.enable(22)
    drives = json.loads(json.dumps(table.execute("can_drives", {})))
    assert [drive["id"] for drive in drives] == list(IDS)
    assert drives[0]["firmware"]["enabled"]
    assert drives[0]["firmware"]["stiffness"] == pytest.approx(20)
    assert json.loads(json.dumps(table.execute("can_statistics", {})))["frames"] > 0
    table.execute("can_power_off", {"id": 22})
    assert not table.execute("can_drives", {})[0]["powered"]


def test_load_at_fifty_hertz_is_a_tenth_of_the_bus(host):
    """Commands to four motors at 50 Hz, their feedback at 5 ms intervals twice each."""
    host.enable(*IDS)
    before = host.commands.statistics()
    for _ in range(25):
        for device in IDS:
            host.send(device, 0x09, struct.pack(">hhi", 0, 0, 0))
        host.run(20)
    after = host.commands.statistics()
    load = (after["busy"] - before["busy"]) / (after["time"] - before["time"])
    assert after["frames"] - before["frames"] == pytest.approx(25 * 4 + 500 / 5 * 8, abs=8)
    assert 0.2 < load < 0.3
